import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { startDocumentProxy } from '../support/document-proxy.ts';
import { expect, visit } from '../support/e2e-test.ts';
import { goOffline, goOnline, setOnline } from '../support/network.ts';
import {
  areCached,
  expectCached,
  networkNotice,
  OFFLINE,
  requestAll,
  skipFeatureDelay,
  offlineTest as test,
  visitAndCache,
} from '../support/offline-page.ts';
import { cardNames, toast, upvoteOf } from '../support/screen.ts';

test('visited pages open offline with a notice, and online pages are always current', async ({
  page,
  site,
  expectConsoleError,
}) => {
  // The browser logs each request without a network, and the specification requires the page to log the failure.
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch products/);
  const unseen = await site.addProduct({ name: 'Anchovy' });
  // Separates the unseen product from the linked one, because an idle page prefetches and caches its neighbours.
  await site.addProduct({ name: 'Between' });
  const linked = await site.addProduct({ name: 'Barracuda' });
  const product = await site.addProduct({ name: 'Coelacanth', image: '/pictures/git/tile.svg' });
  await visitAndCache(page, `/product/${product.id}`);
  await expect(networkNotice(page), 'no notice while online').toBeEmpty();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page).toHaveURL(`/product/${linked.id}`);
  await expectCached(page, `/product/${linked.id}`);

  await goOffline(page);
  await expect(networkNotice(page)).toHaveText(OFFLINE);
  await page.goto(`/product/${product.id}`);
  await expect(page.getByRole('heading', { level: 1, name: 'Coelacanth' })).toBeVisible();
  await expect(networkNotice(page)).toHaveText(OFFLINE);
  const isDrawn = () =>
    page.locator('.product-hero-picture').evaluate((image: HTMLImageElement) => image.naturalWidth > 0);
  await expect.poll(isDrawn, 'the picture is shown').toBe(true);
  await page.goto(`/product/${linked.id}`);
  await expect(
    page.getByRole('heading', { level: 1, name: 'Barracuda' }),
    'visited by client-side navigation',
  ).toBeVisible();
  await page.goto(`/product/${unseen.id}`);
  await expect(page.getByText('Failed to load products', { exact: true }), 'never visited').toBeVisible();
  await expect(page).toHaveTitle(/^Failed to load products · /);
  await expect(networkNotice(page)).toHaveText(OFFLINE);
  await page.goto(`/product/${product.id}`);

  await site.addProduct({ ...product, name: 'Coelacanth the second' });
  await goOnline(page);
  await expect(networkNotice(page)).toBeEmpty();
  await expect(page.getByRole('heading', { level: 1, name: 'Coelacanth the second' })).toBeVisible();
  await expect
    .poll(async () => {
      await page.reload();
      const cachedAt = await page.locator('html').getAttribute('data-cached-at');
      return [await page.getByRole('heading', { level: 1 }).innerText(), cachedAt];
    })
    .toEqual(['Coelacanth the second', null]);
});

test('the offline cache contains no personal data and no files of another build', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Eelpout' });
  await skipFeatureDelay(page);
  await page.goto('/robots.txt');
  await page.evaluate(() => caches.open('cached 0123456789abcdef pages'));
  await visitAndCache(page, `/product/${product.id}`);
  await upvoteOf(page, 'Eelpout').click();
  await expect(toast(page)).toHaveCount(1);
  await page.reload();
  await expect(upvoteOf(page, 'Eelpout')).toHaveAttribute('aria-pressed', 'true');
  const { names, addresses, texts } = await page.evaluate(async () => {
    const names = await caches.keys();
    const opened = await Promise.all(names.map((name) => caches.open(name)));
    const keys = await Promise.all(opened.map((cache) => cache.keys()));
    const cached = keys.flat();
    const pages = cached.filter(({ url }) => url.includes('/product/'));
    const texts = await Promise.all(pages.map(async (request) => (await caches.match(request))?.text()));
    return { names, addresses: cached.map(({ url }) => new URL(url).pathname), texts };
  });
  expect(new Set(names.map((name) => name.split(' ')[1])).size, names.join()).toBe(1);
  expect(addresses.filter((path) => /^\/api\/.*(?:upvote|held|events)/.test(path))).toEqual([]);
  expect(texts).not.toHaveLength(0);
  const session = await page.evaluate(() => localStorage.getItem('user_session'));
  for (const text of texts) expect(text).not.toContain(session);
});

test('the offline cache contains uploaded pictures, and removed products and pictures are deleted from it', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404|410/);
  await skipFeatureDelay(page);
  const image = `/images/${'0123456789'.repeat(4)}.svg`;
  await mkdir(join(site.dataDir, 'images'), { recursive: true });
  await writeFile(join(site.dataDir, image), '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  const product = await site.addProduct({ name: 'Garfish', image });
  const path = `/product/${product.id}`;
  const api = `/api/products/${product.id}`;
  await visitAndCache(page, path);
  await expectCached(page, image);
  await requestAll(page, [api]);
  await expectCached(page, api);
  await removeProducts(site.database, [product.id]);
  await rm(join(site.dataDir, image));
  const cached = async () => {
    await page.goto(path);
    await requestAll(page, [api, image]);
    return areCached(page, [path, api, image]);
  };
  await expect.poll(cached, { message: 'the removed page, API response and picture' }).toEqual([false, false, false]);
});

test('a leaderboard reached by a link opens offline', async ({ page, expectConsoleError }) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  await page.getByRole('link', { name: 'Leaderboards' }).click();
  await expect(page).toHaveURL(/\?board=/);
  const { pathname, search } = new URL(page.url());
  await expectCached(page, pathname + search);
  const title = await page.getByRole('heading', { level: 1 }).innerText();
  await goOffline(page);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  await expect(networkNotice(page)).toHaveText(OFFLINE);
});

test('a page in a language that was never visited is in English offline, instead of blank', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED|Failed to fetch products/);
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  await goOffline(page);
  await page.goto('/?lang=fr');
  await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'en');
  await expect(networkNotice(page)).toHaveText(OFFLINE);
});

test('offline, a URL without a language shows the visited page in the visitor’s language', async ({
  newVisitor,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  const page = await newVisitor({ serviceWorkers: 'allow', locale: 'de-DE' });
  await skipFeatureDelay(page);
  await visitAndCache(page, '/?lang=de');
  await goOffline(page);
  await page.goto('/');
  await expect(page.getByRole('heading', { name: 'Die Top-Launches von heute' })).toBeVisible();
  await expect(page.locator('.offline-note')).toContainText('Du bist offline');
});

test('a response that arrives after the cached copy was shown updates the copy', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Kelpfish' });
  const path = `/product/${product.id}`;
  const proxy = await startDocumentProxy(site.address);
  const address = proxy.address + path;
  await page.goto(address);
  await expectCached(page, address);
  await site.addProduct({ ...product, name: 'Kelpfish the second' });
  await expect.poll(async () => (await page.request.get(path)).text()).toContain('Kelpfish the second');
  proxy.holdDocuments();
  await page.reload();
  await expect(page.locator('html')).toHaveAttribute('data-cached-at');
  proxy.release();
  const copy = () => page.evaluate(async (url) => (await caches.match(url))?.text(), address);
  await expect.poll(copy).toContain('Kelpfish the second');
  // An open page would log an error when the proxy stops, which would fail the test.
  await page.close();
  await proxy.stop();
});

test('pages load from the network if the browser’s storage fails', async ({ page }) => {
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  const [worker] = page.context().serviceWorkers();
  const opened = await worker?.evaluateHandle(() => {
    const calls = { count: 0 };
    CacheStorage.prototype.open = () => {
      calls.count += 1;
      return Promise.reject(new Error('Internal error'));
    };
    return calls;
  });
  await page.reload();
  await expect(cardNames(page)).not.toHaveCount(0);
  expect(await opened?.evaluate(({ count }) => count)).toBeGreaterThan(0);
});

test('the page that was cached first is evicted, even if a cache lists it last', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Mackerel' });
  await visitAndCache(page, '/');
  await page.evaluate(async () => {
    const name = (await caches.keys()).find((each) => each.endsWith(' pages')) ?? '';
    const cache = await caches.open(name);
    for (let age = 1; age <= 40; age += 1) {
      const headers = { 'X-Cached-At': new Date(Date.now() - age * 60_000).toISOString() };
      await cache.put(new Request(`/copy-${age}`, { headers }), new Response('A copy'));
    }
  });
  const path = `/product/${product.id}`;
  await visitAndCache(page, path);
  const cached = () =>
    page.evaluate(async () => {
      const copies = await Promise.all(['/', '/copy-1', '/copy-38', '/copy-39'].map((each) => caches.match(each)));
      return copies.map(Boolean);
    });
  await expect.poll(cached).toEqual([true, true, true, false]);
});

test('after a deployment, the page on screen is in the cache of the new build', async ({ page, site }) => {
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Needlefish' });
  const proxy = await startDocumentProxy(site.address);
  const address = `${proxy.address}/product/${product.id}`;
  await page.goto(address);
  await expectCached(page, address);
  const cacheNames = () => page.evaluate(() => caches.keys());
  const [, build = ''] = (await cacheNames())[0]?.split(' ') ?? [];
  const newBuild = 'f'.repeat(build.length);
  proxy.editServiceWorker((script) => script.replaceAll(build, newBuild));
  await page.goto(address);
  const isCached = (name: string) =>
    page.evaluate(
      async ([url = '', cacheName = '']) => Boolean(await caches.match(url, { cacheName })),
      [address, `cached ${name} pages`],
    );
  await expect.poll(() => isCached(newBuild)).toBe(true);
  await page.close();
  await proxy.stop();
});

for (const [lang, side] of [
  ['en', 'left'],
  ['ar', 'right'],
] as const) {
  test(`${lang}: the icon of the notice is on the ${side}, where the text leaves room`, async ({ page }) => {
    await skipFeatureDelay(page);
    await visit(page, `/?lang=${lang}`);
    await setOnline(page, false);
    const card = page.locator('.offline-note-card');
    await expect(card).toHaveCSS(`padding-${side}`, '56px');
    const position = await card.evaluate((element) => getComputedStyle(element).backgroundPositionX);
    expect(position).toMatch(side === 'left' ? /^14px$/ : /^(?:right 14px|calc\(100% - 14px\))$/);
  });
}

test('on a phone, messages appear above the notice about a waiting comment', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'onLine', { get: () => false });
    const upvote = { kind: 'upvote', productId: 'sunfish', upvoted: true, before: false };
    const comment = { kind: 'comment', productId: 'sunfish', content: 'Hi', website: '', idempotencyKey: 'key' };
    localStorage.setItem('outbox', JSON.stringify([upvote, comment]));
  });
  await visit(page, '/');
  await expect(networkNotice(page)).toContainText('1 upvote and 1 comment are waiting to be sent.');
  const boxOf = (selector: string) =>
    page.evaluate((of) => document.querySelector(of)?.getBoundingClientRect(), selector);
  const messages = await boxOf('.toaster');
  expect(messages?.bottom).toBeLessThanOrEqual((await boxOf('.offline-note-card'))?.top ?? 0);
});

test('the notice on a page that was opened offline is announced, because its status is empty at first', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await page.addInitScript(() => {
    new MutationObserver((_, observer) => {
      const status = document.querySelector('.offline-note [role="status"]');
      if (!status) return;
      observer.disconnect();
      Object.assign(window, { firstText: status.textContent });
    }).observe(document, { childList: true, subtree: true });
  });
  await skipFeatureDelay(page);
  await visitAndCache(page, '/');
  await goOffline(page);
  await page.reload();
  await expect(networkNotice(page)).toHaveText(OFFLINE);
  expect(await page.evaluate(() => Reflect.get(window, 'firstText'))).toBe('');
});
