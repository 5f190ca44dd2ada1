import type { Page } from '@playwright/test';

/** One state of one screen, as a visitor gets there. */
export interface ScreenState {
  name: string;
  open(page: Page): Promise<void>;
}
