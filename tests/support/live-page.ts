import { expect, type Page, type Request } from '@playwright/test';
import { visit } from './e2e-test.ts';
import { skipFeatureDelay } from './offline-page.ts';

export const EVENTS = /\/api\/events\?/;

/** Locates the button that shows new comments or launches. */
export const newItemsButton = (page: Page) => page.locator('.live-updates').getByRole('button');

/** Opens a page with products and waits for its event stream, which opens without the usual delay. */
export async function visitWithLiveUpdates(page: Page, path: string): Promise<void> {
  await skipFeatureDelay(page);
  const stream = page.waitForResponse(EVENTS);
  await visit(page, path);
  expect((await stream).status()).toBe(200);
}

/** Simulates that the visitor hides or shows the tab. */
export async function setTabVisibility(page: Page, visibility: 'hidden' | 'visible'): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, visibility);
}

/** Returns the set of open streams of these pages, which is updated as streams open and close. */
export function openStreams(pages: readonly Page[]): Set<Request> {
  const open = new Set<Request>();
  for (const page of pages) {
    page.on('request', (request) => EVENTS.test(request.url()) && open.add(request));
    page.on('requestfailed', (request) => open.delete(request));
    page.on('requestfinished', (request) => open.delete(request));
  }
  return open;
}
