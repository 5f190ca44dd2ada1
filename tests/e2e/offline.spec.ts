import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expectAccessible } from '../support/axe.ts';
import { test as base, expect, visit } from '../support/e2e-test.ts';
import { goOffline, goOnline, setOnline } from '../support/network.ts';
import { commentTexts, commentWith, failureToast, toast, upvoteOf } from '../support/screen.ts';

/** Each test has its own browser context, because resetting the shared one does not clear service worker caches. */
const test = base.extend({ page: async ({ newVisitor }, use) => use(await newVisitor({ serviceWorkers: 'allow' })) });

const OFFLINE = 'You are offline: this is the page as you last saw it.';

const note = (page: Page) => page.getByRole('region', { name: 'Network' });
const box = (page: Page) => page.getByRole('textbox', { name: 'Your comment' });
const postButton = (page: Page) => page.getByRole('button', { name: 'Post Comment' });

/** Stores an empty offline queue, which makes the page start its offline cache without the usual delay. */
const cacheAtOnce = (page: Page) =>
  page.addInitScript(() => {
    if (localStorage.getItem('outbox') === null) localStorage.setItem('outbox', '[]');
  });

/** Opens a page and waits until it is in the offline cache and has no pending requests. */
async function visitAndCache(page: Page, path: string): Promise<void> {
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

async function expectCached(page: Page, path: string): Promise<void> {
  const isCached = (wanted: string) =>
    page.evaluate(
      async (address) => navigator.serviceWorker.controller !== null && Boolean(await caches.match(address)),
      wanted,
    );
  await expect.poll(() => isCached(path), { message: `${path} is cached` }).toBe(true);
}

test('visited pages open offline with a notice, and online the page is always current', async ({
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
  await expect(note(page), 'no notice while online').toBeEmpty();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page).toHaveURL(`/product/${linked.id}`);
  await expectCached(page, `/product/${linked.id}`);

  await goOffline(page);
  await expect(note(page)).toHaveText(OFFLINE);
  await page.goto(`/product/${product.id}`);
  await expect(page.getByRole('heading', { level: 1, name: 'Coelacanth' })).toBeVisible();
  await expect(note(page)).toHaveText(OFFLINE);
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
  await expect(note(page)).toHaveText(OFFLINE);
  await page.goto(`/product/${product.id}`);

  await site.addProduct({ ...product, name: 'Coelacanth the second' });
  await goOnline(page);
  await expect(note(page)).toBeEmpty();
  await expect(page.getByRole('heading', { level: 1, name: 'Coelacanth the second' })).toBeVisible();
  await expect
    .poll(async () => {
      await page.reload();
      return page.getByRole('heading', { level: 1 }).innerText();
    })
    .toBe('Coelacanth the second');
  await expect(page.locator('html')).not.toHaveAttribute('data-cached-at');
});

test('the offline cache contains no personal data and no files of another build', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Eelpout' });
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

test('the offline cache contains uploaded pictures, and removed products are deleted from it', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/410/);
  await cacheAtOnce(page);
  const image = `/images/${'0123456789'.repeat(4)}.svg`;
  await mkdir(join(site.dataDir, 'images'), { recursive: true });
  await writeFile(join(site.dataDir, image), '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>');
  const product = await site.addProduct({ name: 'Garfish', image });
  await visitAndCache(page, `/product/${product.id}`);
  await expectCached(page, image);
  await removeProducts(site.database, [product.id]);
  const isCached = async () => {
    await page.goto(`/product/${product.id}`);
    return page.evaluate(async (address) => Boolean(await caches.match(address)), `/product/${product.id}`);
  };
  await expect.poll(isCached, { message: 'the removed page is cached' }).toBe(false);
});

test('an upvote and a comment made offline survive a reload and are sent once', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await cacheAtOnce(page);
  const product = await site.addProduct({ name: 'Flounder' });
  await site.addUpvotes(product.id, 2);
  await visitAndCache(page, `/product/${product.id}`);
  await goOffline(page);
  for (const count of [3, 2, 3]) {
    await upvoteOf(page, 'Flounder').click();
    await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName(`Upvote Flounder, ${count}`);
  }
  await expect(toast(page).locator('.toast-title').last()).toHaveText('Waiting to be sent');
  await expect(note(page)).toHaveText(`${OFFLINE} 1 upvote is waiting to be sent.`);
  await box(page).fill('Written on a train');
  await postButton(page).click();
  await expect(toast(page).locator('.toast-title').last()).toHaveText('Comment queued');
  await expect(box(page)).toHaveValue('');
  const waiting = `${OFFLINE} 1 upvote and 1 comment are waiting to be sent.`;
  await expect(note(page)).toHaveText(waiting);
  await expectAccessible(page, 'offline, with queued changes');

  await page.reload();
  await expect(note(page)).toHaveText(waiting);
  await expect(upvoteOf(page, 'Flounder')).toHaveAttribute('aria-pressed', 'true');
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 3');
  const sent: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && sent.push(request.method()));
  await site.addUpvotes(product.id, 4);
  await goOnline(page);
  await expect(commentWith(page, 'Written on a train')).toBeVisible();
  await expect(note(page)).toBeEmpty();
  await expect(toast(page).locator('.toast-title')).toHaveText(['Upvoted!', 'Comment added!']);
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 7');
  await expect(upvoteOf(page, 'Flounder')).toHaveAttribute('aria-pressed', 'true');
  await page.reload();
  await expect(commentTexts(page)).toHaveText(['Written on a train']);
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 7');
  expect(sent).toEqual(['PUT', 'POST']);
  const counts = await site.database.query('SELECT upvotes, comments FROM product_counts WHERE product_id = $1', [
    product.id,
  ]);
  expect(counts).toEqual([{ upvotes: 7, comments: 1 }]);
});

test('when the server refuses queued changes, the upvote is rolled back and the text of the comment is not lost', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  await cacheAtOnce(page);
  const product = await site.addProduct({ name: 'Icefish' });
  await visitAndCache(page, `/product/${product.id}`);
  await goOffline(page);
  await upvoteOf(page, 'Icefish').click();
  await box(page).fill('Too late');
  await postButton(page).click();
  await expect(note(page)).toContainText('1 upvote and 1 comment are waiting to be sent.');
  await site.database.query('DELETE FROM products WHERE id = $1', [product.id]);
  await goOnline(page);
  await expect(failureToast(page).locator('.toast-description')).toHaveText([
    'Failed to update upvote: Failed to add upvote: Product not found',
    'Failed to add comment. Please try again.',
  ]);
  const refused = page.getByRole('region', { name: 'Comment that was not posted' });
  await expect(refused).toContainText('was not posted: Product not found');
  await expect(refused).toContainText('Too late');
  await refused.getByRole('button', { name: 'Discard' }).click();
  await expect(note(page)).toBeEmpty();
});

test('without storage, the offline queue lasts as long as the page', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'John Dory' });
  await page.addInitScript(() => {
    for (const storage of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, storage, {
        get() {
          throw new DOMException('Blocked', 'SecurityError');
        },
      });
    }
  });
  await visitAndCache(page, `/product/${product.id}`);
  await setOnline(page, false);
  await upvoteOf(page, 'John Dory').click();
  await expect(note(page)).toContainText('1 upvote is waiting to be sent.');
  await setOnline(page, true);
  await expect(toast(page).locator('.toast-title')).toHaveText(['Upvoted!']);
  await expect(note(page)).toBeEmpty();
});

test('an upvote made offline before the deferred features load counts once', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Kingfish' });
  await visitAndCache(page, `/product/${product.id}`);
  await page.addInitScript((delayMs) => {
    const { setTimeout } = window;
    const released = new Promise((resolve) => window.addEventListener('deferred-due', resolve, { once: true }));
    const delay = (run: () => void, ms?: number, ...values: unknown[]) =>
      ms === delayMs ? void released.then(run) : setTimeout(run, ms, ...values);
    Object.assign(window, { setTimeout: delay });
  }, 3_000);
  await visit(page, `/product/${product.id}`);
  await page.waitForLoadState('networkidle');
  await goOffline(page);
  await upvoteOf(page, 'Kingfish').click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Waiting to be sent');
  await expect(note(page), 'the deferred features have not loaded').toHaveCount(0);
  await page.evaluate(() => window.dispatchEvent(new Event('deferred-due')));
  await expect(note(page)).toHaveText(`${OFFLINE} 1 upvote is waiting to be sent.`);
  await expect(upvoteOf(page, 'Kingfish')).toHaveAccessibleName('Upvote Kingfish, 1');
});

test('a leaderboard reached by a link opens offline', async ({ page, expectConsoleError }) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await cacheAtOnce(page);
  await visitAndCache(page, '/');
  await page.getByRole('link', { name: 'Leaderboards' }).click();
  await expect(page).toHaveURL(/\?board=/);
  const { pathname, search } = new URL(page.url());
  await expectCached(page, pathname + search);
  const title = await page.getByRole('heading', { level: 1 }).innerText();
  await goOffline(page);
  await page.reload();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(title);
  await expect(note(page)).toHaveText(OFFLINE);
});

test('a response that arrives after the cached copy was shown updates the copy', async ({ page, site }) => {
  await cacheAtOnce(page);
  const product = await site.addProduct({ name: 'Kelpfish' });
  const path = `/product/${product.id}`;
  const proxy = await startProxy(site.address);
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
  // An open page would report that it lost the site.
  await page.goto('about:blank');
  await proxy.stop();
});

/** Starts a proxy, because Playwright's routes do not see the requests that navigation preload sends. */
async function startProxy(target: string) {
  let held = Promise.resolve();
  let release = () => {};
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.headers['sec-fetch-dest'] === 'document') await held;
    const { method, headers } = incoming;
    const forwarded = request(target + incoming.url, { method, headers }, (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    forwarded.on('error', () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdDocuments() {
      held = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
