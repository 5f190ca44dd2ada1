import type { Page } from '@playwright/test';
import { test as base, expect, visit } from './e2e-test.ts';

/** Each test has its own browser context, because resetting the shared one does not clear service worker caches. */
export const offlineTest = base.extend({
  page: async ({ newVisitor }, use) => use(await newVisitor({ serviceWorkers: 'allow' })),
});

export const OFFLINE = 'You are offline: this is the page as you last saw it.';

export const networkNotice = (page: Page) => page.getByRole('region', { name: 'Network' });

/**
 * Stores an empty offline queue, which makes pages load their deferred features, such as the offline cache and live
 * updates, without the usual delay.
 */
export const skipFeatureDelay = (page: Page) =>
  page.addInitScript(() => {
    if (localStorage.getItem('outbox') === null) localStorage.setItem('outbox', '[]');
  });

/** Opens a page with products and waits until its deferred features have loaded, without the usual delay. */
export async function visitFully(page: Page, path: string): Promise<void> {
  await skipFeatureDelay(page);
  await visit(page, path);
  await expect(networkNotice(page), 'the deferred features have loaded').toBeAttached();
}

/** Opens a page and waits until it is in the offline cache and has no pending requests. */
export async function visitAndCache(page: Page, path: string): Promise<void> {
  await visit(page, path);
  await expectCached(page, path);
  // The page requests the names of its neighbours after hydration.
  const neighbours = page.getByRole('navigation', { name: 'Products beside this one' }).getByRole('button');
  const areNamed = () =>
    neighbours.evaluateAll((buttons) =>
      buttons.every((button) => button.hasAttribute('disabled') || button.hasAttribute('title')),
    );
  await expect.poll(areNamed).toBe(true);
  await page.waitForLoadState('networkidle');
}

export async function expectCached(page: Page, path: string): Promise<void> {
  const isCached = (wanted: string) =>
    page.evaluate(
      async (address) => navigator.serviceWorker.controller !== null && Boolean(await caches.match(address)),
      wanted,
    );
  await expect.poll(() => isCached(path), { message: `${path} is cached` }).toBe(true);
}

/** Makes the service worker wait for slow documents, instead of responding with their cached copies. */
export async function waitForDocuments(page: Page): Promise<void> {
  for (const worker of page.context().serviceWorkers())
    await worker.evaluate(() => void Object.assign(self, { setTimeout: () => 0 }));
}

/** Returns, for each URL, whether it is in the offline cache. */
export const areCached = (page: Page, urls: readonly string[]) =>
  page.evaluate((all) => Promise.all(all.map(async (url) => Boolean(await caches.match(url)))), urls);

/** Requests URLs through the service worker, but not from the browser's HTTP cache. @returns their statuses. */
export const requestAll = (page: Page, urls: readonly string[]) =>
  page.evaluate((all) => Promise.all(all.map(async (url) => (await fetch(url, { cache: 'reload' })).status)), urls);
