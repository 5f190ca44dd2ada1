import { expect, type Page } from '@playwright/test';

export const EVENTS = /\/api\/events\?/;

/** Locates the button that shows new comments or launches. */
export const news = (page: Page) => page.locator('.live-updates').getByRole('button');

/** Opens a page and waits for its event stream. */
export async function watch(page: Page, path: string): Promise<void> {
  const stream = page.waitForResponse(EVENTS);
  await page.goto(path);
  expect((await stream).status()).toBe(200);
}

/** Hides or shows the tab. */
export async function look(page: Page, visibility: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, visibility);
}
