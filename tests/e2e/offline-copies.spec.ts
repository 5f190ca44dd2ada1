import type { Page } from '@playwright/test';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { startDocumentProxy } from '../support/document-proxy.ts';
import { expect } from '../support/e2e-test.ts';
import { goOffline } from '../support/network.ts';
import {
  areCached,
  expectCached,
  networkNotice,
  OFFLINE,
  requestAll,
  skipFeatureDelay,
  offlineTest as test,
  visitAndCache,
  waitForDocuments,
} from '../support/offline-page.ts';
import { expectTodaysLink, skipDay } from '../support/page-clock.ts';
import { cardNames } from '../support/screen.ts';

/** Makes the cached copy of a page an hour old, so it is updated when the visitor opens the page within the app. */
const ageCopy = (page: Page, address: string) =>
  page.evaluate(async (url) => {
    const cache = await caches.open((await caches.keys()).find((name) => name.endsWith(' pages')) ?? '');
    const copy = await cache.match(url);
    const headers = new Headers(copy?.headers);
    headers.set('X-Cached-At', new Date(Date.now() - 3_600_000).toISOString());
    await cache.put(url, new Response(await copy?.text(), { headers }));
  }, address);

test('the cached copy of a page survives an interrupted download and full storage', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const [product, other] = await site.addProducts(2, (index) => ({ name: `Lamprey ${index}` }));
  const proxy = await startDocumentProxy(site.address);
  const address = `${proxy.address}/product/${product?.id}`;
  const otherAddress = `${proxy.address}/product/${other?.id}`;
  await page.goto(address);
  await expectCached(page, address);
  const copySize = () => page.evaluate(async (url) => (await (await caches.match(url))?.text())?.length, address);
  const before = await copySize();

  proxy.interruptDocuments();
  await page.goto(address, { waitUntil: 'commit' });
  proxy.release();
  // Caches another page, because changes to a cache take effect in order. The copy is then no longer being changed.
  await page.goto(otherAddress);
  await expectCached(page, otherAddress);
  expect(await copySize(), 'after the interruption').toBe(before);

  const browser = await page.context().newCDPSession(page);
  await browser.send('Storage.overrideQuotaForOrigin', { origin: proxy.address, quotaSize: 1 });
  await page.goto(address);
  await page.waitForLoadState('networkidle');
  expect(await copySize(), 'when the storage is full').toBe(before);
  await browser.send('Storage.overrideQuotaForOrigin', { origin: proxy.address });
  await page.close();
  await proxy.stop();
});

test('a page is shown offline even if the browser reports a failed preload as an error response, like Firefox', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Halfbeak' });
  await visitAndCache(page, `/product/${product.id}`);
  for (const worker of page.context().serviceWorkers())
    await worker.evaluate(
      `void Object.defineProperty(FetchEvent.prototype, 'preloadResponse', { get: async () => Response.error() })`,
    );
  await goOffline(page);
  await page.reload();
  await expect(networkNotice(page)).toHaveText(OFFLINE);
  await expect(page.getByRole('heading', { level: 1, name: 'Halfbeak' })).toBeVisible();
});

test('if the storage is full, the oldest page is evicted for the page on screen', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Sandperch' });
  await visitAndCache(page, '/');
  const used = await page.evaluate(async () => {
    const cache = await caches.open((await caches.keys()).find((name) => name.endsWith(' pages')) ?? '');
    for (const age of [1, 2]) {
      const headers = { 'X-Cached-At': new Date(Date.now() - age * 3_600_000).toISOString() };
      await cache.put(new Request(`/copy-${age}`, { headers }), new Response(new Uint8Array(2_000_000)));
    }
    return (await navigator.storage.estimate()).usage ?? 0;
  });
  const browser = await page.context().newCDPSession(page);
  await browser.send('Storage.overrideQuotaForOrigin', { origin: site.address, quotaSize: used });
  const path = `/product/${product.id}`;
  await page.goto(path);
  await expectCached(page, path);
  expect(await areCached(page, ['/copy-1', '/copy-2'])).toEqual([true, false]);
  await browser.send('Storage.overrideQuotaForOrigin', { origin: site.address });
});

test('cached copies survive a proxy’s own pages with status 404 or 200', async ({ page, site, expectConsoleError }) => {
  expectConsoleError(/404 \(Not Found\)/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Monkfish', image: '/pictures/git/tile.svg' });
  const proxy = await startDocumentProxy(site.address);
  const address = `${proxy.address}/product/${product.id}`;
  const others = [`${proxy.address}/api/products/${product.id}`, proxy.address + product.image];
  await page.goto(address);
  await expectCached(page, address);
  await requestAll(page, others);
  for (const each of others) await expectCached(page, each);
  const copies = () =>
    page.evaluate(
      (urls) => Promise.all(urls.map(async (url) => (await caches.match(url))?.text())),
      [address, ...others],
    );
  const before = await copies();
  await waitForDocuments(page);

  for (const status of [404, 200]) {
    // Forwards requests for code, because the previous page may still be loading some.
    proxy.setMisconfigured({ status, path: /^\/(?:product|api|pictures)\// });
    expect(await requestAll(page, others)).toEqual([status, status]);
    expect((await page.goto(address))?.status()).toBe(status);
    proxy.setMisconfigured(undefined);
    // Caches another page, because changes to a cache take effect in order. That page shows no pictures, because it
    // would cache them.
    const other = `${proxy.address}/?q=no+such+fish+${status}`;
    await page.goto(other);
    await expectCached(page, other);
    expect(await copies(), `after pages with status ${status}`).toEqual(before);
  }
  await page.close();
  await proxy.stop();
});

test('the service worker is not installed while a proxy replaces the offline shell or a file with its own page', async ({
  page,
  site,
}) => {
  await skipFeatureDelay(page);
  const proxy = await startDocumentProxy(site.address);
  // Browsers remove a registration whose first worker could not be installed.
  const isRegistered = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistration()) !== undefined);
  for (const path of [/^\/offline-shell/, /^\/assets\/share-dialog-/]) {
    proxy.setMisconfigured({ status: 200, path });
    const sent = proxy.ownPagesSent();
    await page.goto(proxy.address);
    await expect.poll(proxy.ownPagesSent).toBeGreaterThan(sent);
    await expect.poll(isRegistered).toBe(false);
  }
  proxy.setMisconfigured(undefined);
  await page.reload();
  await expectCached(page, proxy.address);
  await page.close();
  await proxy.stop();
});

test('each list has its own copy, even in browsers without `URLSearchParams.size`', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const proxy = await startDocumentProxy(site.address);
  proxy.editServiceWorker((script) => `delete URLSearchParams.prototype.size;\n${script}`);
  for (const list of ['/', '/?tag=git']) {
    await page.goto(proxy.address + list);
    await expectCached(page, proxy.address + list);
  }
  await page.close();
  await proxy.stop();
});

test('a cached copy that opens offline the next day links to that day’s leaderboard', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch products/);
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  await goOffline(page);
  await skipDay(page);
  await page.goto('/');
  await expectTodaysLink(page);
});

test('an old copy of a page is updated when the visitor opens the page within the app', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Opah' });
  await visitAndCache(page, '/');
  await visitAndCache(page, `/product/${product.id}`);
  await ageCopy(page, '/');
  const added = await site.addProduct({ name: 'Opah the second', createdAt: new Date().toISOString() });
  await expect.poll(async () => (await page.request.get('/')).text()).toContain(added.name);
  await page.getByRole('link', { name: 'Back to products' }).click();
  await expect(cardNames(page).first()).toHaveText(added.name);
  const copy = () => page.evaluate(async () => (await caches.match('/'))?.text());
  await expect.poll(copy).toContain(added.name);
});

test('an incomplete page that the visitor opens within the app does not replace the cached copy', async ({
  page,
  site,
}) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Wobbegong', description: 'Wobbegong carpets' });
  const proxy = await startDocumentProxy(site.address);
  const address = `${proxy.address}/product/${product.id}`;
  await page.goto(address);
  await expectCached(page, address);
  await page.goto(`${proxy.address}/?q=wobbegong+carpets`);
  await ageCopy(page, address);
  // The class marks documents of the site, so only the header `no-store` shows that this one is incomplete.
  proxy.sendIncomplete('<!doctype html><h1 class="site-links">Incomplete</h1>');
  await page.getByRole('link', { name: product.name, exact: true }).click();
  await expect.poll(() => proxy.incompleteSent()).toBe(1);
  proxy.sendIncomplete(undefined);
  // Caches another page, because changes to a cache take effect in order.
  const other = `${proxy.address}/?tag=git`;
  await page.goto(other);
  await expectCached(page, other);
  expect(await page.evaluate(async (url) => (await caches.match(url))?.text(), address)).toContain('Wobbegong');
  await page.close();
  await proxy.stop();
});

test('the cached copy of a removed product is deleted when the visitor opens the product within the app', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Stargazer', description: 'Stargazer sands' });
  const path = `/product/${product.id}`;
  await visitAndCache(page, path);
  await ageCopy(page, path);
  await visitAndCache(page, '/?q=stargazer+sands');
  await removeProducts(site.database, [product.id]);
  await expect.poll(async () => (await page.request.get(path)).status()).toBe(410);
  await page.getByRole('link', { name: product.name, exact: true }).click();
  await expect.poll(() => areCached(page, [path])).toEqual([false]);
});

test('the offline cache contains no search results, which would evict visited products while the visitor types', async ({
  page,
}) => {
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  const search = '/api/products?q=opal';
  const list = '/api/products?tag=opal';
  expect(await requestAll(page, [search, list])).toEqual([200, 200]);
  await expectCached(page, list);
  expect(await areCached(page, [search])).toEqual([false]);
});

test('with the service worker, the browser requests a missing page once, not twice', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404 \(Not Found\)/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Weatherfish' });
  await visitAndCache(page, `/product/${product.id}`);
  for (const path of ['/weatherfishes', '/more-weatherfishes']) {
    await page.goto(path);
    await expect(page.getByRole('heading', { name: '404', exact: true })).toBeVisible();
  }
  const logged = () => [...site.output().matchAll(/"path":"(\/(?:more-)?weatherfishes)"/g)].map(([, path]) => path);
  await expect.poll(() => logged().includes('/more-weatherfishes')).toBe(true);
  expect(logged()).toEqual(['/weatherfishes', '/more-weatherfishes']);
});
