import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { noteChange, noteEverythingChanged } from '../../src/core/changes/change-feed.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

/** As the API promises: within half a second in another process's API, and within three on every page. */
const API_LAG_MS = 500;
const PAGE_LAG_MS = 3_000;

const SESSION = { 'x-user-session': 'session-caching' };

let site: TestSite;
beforeEach(async () => {
  site = await startTestSite({ keepsAnswers: true });
  await site.addProduct({ id: 'tide', name: 'Tide' });
});
afterEach(() => site.close());

async function upvotesShown(path: string, headers: Record<string, string> = {}): Promise<number> {
  const { payload } = await site.ask.get(path, headers);
  return Number(/"upvotes":(\d+)/.exec(payload)?.[1]);
}

test('a page and an answer are made once, however often they are asked for, junk in the query or not', async () => {
  // A process that starts when all is there already, so that no news of it comes in between.
  const late = await startTestSite({ keepsAnswers: true, beside: site });
  const read = vi.spyOn(late.core, 'listProducts');
  for (const path of ['/', '/?utm_source=a', '/?utm_source=b&x[]=1', '/?q=', '/?sort=']) {
    expect((await late.ask.get(path)).statusCode).toBe(200);
  }
  expect(read).toHaveBeenCalledTimes(1);
  for (const path of ['/api/products', '/api/products?junk=1', '/api/products?junk=2']) await late.ask.get(path);
  expect(read).toHaveBeenCalledTimes(2);
  await late.close();
});

test('a page that was not changed has the same ETag each time, and is 304 for whoever has it', async () => {
  // A process that starts when all is there already, so that no news of it comes in between.
  const late = await startTestSite({ keepsAnswers: true, beside: site });
  const { headers } = await late.ask.get('/product/tide', { 'accept-encoding': 'br' });
  const again = await late.ask.get('/product/tide', { 'accept-encoding': 'br', 'if-none-match': String(headers.etag) });
  expect(again.statusCode).toBe(304);
  expect(again.payload).toBe('');
  await late.close();
});

test('an answer that is kept goes out the same each time, its head too, wherever in the server it comes from', async () => {
  const late = await startTestSite({ keepsAnswers: true, beside: site });
  const paths = [
    '/',
    '/?sort=top',
    '/product/tide',
    '/api/products',
    '/api/products?sort=top&limit=1',
    '/api/products/tide',
  ];
  for (const path of [...paths, '/api/products/tide/comments', '/feed.xml']) {
    for (const encoding of ['br', 'gzip', 'identity']) {
      await late.ask.get(path, { 'accept-encoding': encoding });
      const [first, second, ofRoute] = [
        await late.ask.get(path, { 'accept-encoding': encoding }),
        await late.ask.get(path, { 'accept-encoding': encoding }),
        // Asked in another spelling, so that the route answers.
        await late.ask.get(`${path}${path.includes('?') ? '&' : '?'}junk=1`, { 'accept-encoding': encoding }),
      ];
      for (const { statusCode, headers, rawPayload } of [second, ofRoute]) {
        expect(statusCode).toBe(200);
        expect({ ...headers, date: '' }).toEqual({ ...first.headers, date: '' });
        expect(rawPayload).toEqual(first.rawPayload);
      }
    }
  }
  await late.close();
});

describe('after a write', () => {
  test('the API shows it at once', async () => {
    expect(await upvotesShown('/api/products/tide')).toBe(0);
    await site.ask.put('/api/products/tide/upvote', SESSION);
    expect(await upvotesShown('/api/products/tide')).toBe(1);
    expect(await upvotesShown('/api/products?sort=top')).toBe(1);
  });

  test('the writer sees it on the next page, by a cookie that names nobody', async () => {
    await site.ask.get('/');
    await site.ask.get('/product/tide');
    const { headers } = await site.ask.put('/api/products/tide/upvote', SESSION);
    expect(headers['set-cookie']).toMatch(/^wrote_at=\d+; Path=\/; Max-Age=10; HttpOnly; SameSite=Lax$/);
    const cookie = String(headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(await upvotesShown('/product/tide', { cookie })).toBe(1);
    expect(await upvotesShown('/', { cookie })).toBe(1);
  });

  test('everybody sees it soon', async () => {
    await site.ask.get('/product/tide');
    await site.ask.put('/api/products/tide/upvote', SESSION);
    await vi.waitFor(async () => expect(await upvotesShown('/product/tide')).toBe(1), PAGE_LAG_MS);
  });

  test('a cookie with nonsense in it is harmless', async () => {
    for (const value of ['', 'x', '-1', '99999999999999999999', '999999999999999', '1e9', '%00']) {
      expect((await site.ask.get('/', { cookie: `wrote_at=${value}` })).statusCode).toBe(200);
    }
  });
});

describe('another process', () => {
  let other: TestSite;
  beforeEach(async () => {
    other = await startTestSite({ keepsAnswers: true, beside: site });
  });
  afterEach(() => other.close());

  test('shows a write in its API and on its pages in time', async () => {
    const shown = async (path: string) => Number(/"upvotes":(\d+)/.exec((await other.ask.get(path)).payload)?.[1]);
    expect(await shown('/api/products/tide')).toBe(0);
    expect(await shown('/product/tide')).toBe(0);
    await site.ask.put('/api/products/tide/upvote', SESSION);
    // Twice the promise, for a machine that is busy with other tests; what counts is that it comes without a restart.
    await vi.waitFor(async () => expect(await shown('/api/products/tide')).toBe(1), { timeout: API_LAG_MS * 10 });
    await vi.waitFor(async () => expect(await shown('/product/tide')).toBe(1), { timeout: PAGE_LAG_MS * 2 });
  });

  test('such as an import, adds a product: the list shows it in time', async () => {
    await site.ask.get('/');
    await other.addProduct({ id: 'ebb', name: 'Ebb' });
    await vi.waitFor(async () => expect((await site.ask.get('/')).payload).toContain('Ebb'), {
      timeout: PAGE_LAG_MS * 2,
    });
  });

  test('removes a product: it is not found here any more', async () => {
    expect((await site.ask.get('/api/products/tide')).statusCode).toBe(200);
    await other.database.query("DELETE FROM products WHERE id = 'tide'");
    await noteChange(other.database, { productIds: ['tide'], catalogue: true });
    await vi.waitFor(async () => expect((await site.ask.get('/api/products/tide')).statusCode).toBe(404), {
      timeout: PAGE_LAG_MS * 2,
    });
    await vi.waitFor(async () => expect((await site.ask.get('/product/tide')).statusCode).toBe(404), {
      timeout: PAGE_LAG_MS * 2,
    });
  });
});

test('while the database is away, every page that was shown is still served and says that it is old; others are 503', async () => {
  await site.ask.get('/');
  await site.ask.get('/product/tide');
  await site.ask.get('/api/products');
  await site.database.vanish();
  for (const path of ['/', '/product/tide', '/api/products']) {
    // As soon as the process has noticed.
    await vi.waitFor(
      async () => {
        const { statusCode, headers } = await site.ask.get(path);
        expect(statusCode).toBe(200);
        expect(headers.warning).toBe('110 - "Response is Stale"');
        expect(Number(headers.age)).toBeGreaterThanOrEqual(0);
      },
      { timeout: 10_000 },
    );
  }
  expect((await site.ask.get('/?q=never-asked-before')).statusCode).toBe(503);
});

test('a change too large to be named, such as a restored backup, shows everywhere', async () => {
  expect(await upvotesShown('/api/products/tide')).toBe(0);
  expect(await upvotesShown('/product/tide')).toBe(0);
  await site.database.transaction(async (sql) => {
    await sql.query("UPDATE product_counts SET upvotes = 7 WHERE product_id = 'tide'");
    await noteEverythingChanged(sql);
  });
  for (const path of ['/api/products/tide', '/product/tide'])
    await expect.poll(() => upvotesShown(path), { timeout: PAGE_LAG_MS, interval: 50 }).toBe(7);
});
