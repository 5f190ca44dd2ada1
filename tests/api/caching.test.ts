import type { OutgoingHttpHeaders } from 'node:http';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { recordChange, recordEverythingChanged } from '../../src/core/changes/change-feed.ts';
import { Representations } from '../../src/server/http/representations.ts';
import { buildProduct } from '../support/build-product.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const SESSION = { 'x-user-session': 'session-caching' };

let site: TestSite;
beforeEach(async () => {
  site = await startTestSite({ cacheEnabled: true, launched: [buildProduct({ id: 'tide', name: 'Tide' })] });
});
afterEach(() => site.close());

/**
 * Returns the headers except those that depend on the time of the response. `Age` is sent only while revalidation fails
 * or the change feed is disconnected, which can happen on a busy machine.
 */
function lastingFields({ date: _date, age: _age, ...fields }: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return fields;
}

async function upvotesShown(path: string, headers: Record<string, string> = {}): Promise<number> {
  const { payload } = await site.ask.get(path, headers);
  return Number(/"upvotes":(\d+)/.exec(payload)?.[1]);
}

test('pages and API responses are cached regardless of unknown parameters', async () => {
  const read = vi.spyOn(site.core, 'listProducts');
  for (const path of ['/', '/?utm_source=a', '/?utm_source=b&x[]=1', '/?q=', '/?sort=']) {
    expect((await site.ask.get(path)).statusCode).toBe(200);
  }
  expect(read).toHaveBeenCalledTimes(1);
  for (const path of ['/api/products', '/api/products?junk=1', '/api/products?junk=2']) await site.ask.get(path);
  expect(read).toHaveBeenCalledTimes(2);
});

test('the OpenAPI document and the offline shell are built and compressed once, not for each request', async () => {
  const bytes = vi.spyOn(Representations.prototype, 'bytes');
  onTestFinished(() => bytes.mockRestore());
  for (const path of ['/api/openapi.json', '/offline-shell']) {
    bytes.mockClear();
    for (const junk of ['', '?1', '?2']) await site.ask.get(`${path}${junk}`, { 'accept-encoding': 'br' });
    expect(bytes).toHaveBeenCalledTimes(3);
    expect(new Set(bytes.mock.contexts).size).toBe(1);
  }
});

test('an unchanged page keeps its ETag, and returns 304 to clients that have it', async () => {
  const reload = async () => {
    const { headers } = await site.ask.get('/product/tide', { 'accept-encoding': 'br' });
    const tag = String(headers.etag);
    const again = await site.ask.get('/product/tide', { 'accept-encoding': 'br', 'if-none-match': tag });
    return [again.statusCode, again.payload];
  };
  expect(await reload()).toEqual([304, '']);
});

test('a cached response has the same headers and body from the fast path and from its route', async () => {
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
      await site.ask.get(path, { 'accept-encoding': encoding });
      const [first, second, ofRoute] = [
        await site.ask.get(path, { 'accept-encoding': encoding }),
        await site.ask.get(path, { 'accept-encoding': encoding }),
        // The fast path does not know this spelling of the URL, so the route serves it.
        await site.ask.get(`${path}${path.includes('?') ? '&' : '?'}junk=1`, { 'accept-encoding': encoding }),
      ];
      for (const { statusCode, headers, rawPayload } of [second, ofRoute]) {
        expect(statusCode).toBe(200);
        expect(lastingFields(headers)).toEqual(lastingFields(first.headers));
        expect(rawPayload).toEqual(first.rawPayload);
      }
    }
  }
});

test('no request header except Accept-Encoding changes a cached response', async () => {
  const marker = 'marker-of-a-header';
  const names = ['cookie', 'host', 'origin', 'referer', 'user-agent', 'x-user-session', 'x-custom'];
  const forwarding = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-original-url'];
  const headers = {
    ...Object.fromEntries([...names, ...forwarding].map((name) => [name, marker])),
    'accept-language': 'ar',
  };
  const reads = [vi.spyOn(site.core, 'listProducts'), vi.spyOn(site.core, 'getProduct')];
  for (const path of ['/', '/product/tide', '/nowhere', '/api/products', '/api/products/tide', '/feed.xml']) {
    const stored = await site.ask.get(path, headers);
    const counts = reads.map(({ mock }) => mock.calls.length);
    const cached = await site.ask.get(path);
    expect(
      reads.map(({ mock }) => mock.calls.length),
      'the second response comes from the cache',
    ).toEqual(counts);
    expect(cached.statusCode).toBe(stored.statusCode);
    expect(`${JSON.stringify(cached.headers)} ${cached.payload}`).not.toContain(marker);
    expect(cached.payload).not.toContain('<html lang="ar"');
    expect(cached.payload).toBe(stored.payload);
  }
  expect(reads.map(({ mock }) => mock.calls.length)).not.toContain(0);
});

describe('after a write', () => {
  test('the API shows the write immediately', async () => {
    expect(await upvotesShown('/api/products/tide')).toBe(0);
    await site.ask.put('/api/products/tide/upvote', SESSION);
    expect(await upvotesShown('/api/products/tide')).toBe(1);
    expect(await upvotesShown('/api/products?sort=top')).toBe(1);
  });

  test('the writer’s next page shows the write, because of a cookie that does not identify the visitor', async () => {
    await site.ask.get('/');
    await site.ask.get('/product/tide');
    const { headers } = await site.ask.put('/api/products/tide/upvote', SESSION);
    expect(headers['set-cookie']).toMatch(
      /^last_write_[\da-f]{8}=\d+-\d+; Path=\/; Max-Age=10; HttpOnly; SameSite=Lax$/,
    );
    const cookie = String(headers['set-cookie']).split(';', 1)[0] ?? '';
    expect(await upvotesShown('/product/tide', { cookie })).toBe(1);
    expect(await upvotesShown('/', { cookie })).toBe(1);
  });

  test('pages soon show the write to every visitor', async () => {
    await site.ask.get('/product/tide');
    await site.ask.put('/api/products/tide/upvote', SESSION);
    await expect.poll(() => upvotesShown('/product/tide')).toBe(1);
  });

  test('a page is served despite an invalid last-write cookie', async () => {
    const values = ['', 'x', '-1', '1', '1-1', '1-999999999999999', '999999999999999-1', '%00'];
    for (const value of values) {
      expect((await site.ask.get('/', { cookie: `last_write_00000000=${value}` })).statusCode).toBe(200);
    }
  });
});

describe('another process', () => {
  let other: TestSite;
  beforeEach(async () => {
    other = await startTestSite({ cacheEnabled: true, databaseOf: site });
  });
  afterEach(() => other.close());

  test('shows a write in its API responses and on its pages', async () => {
    const shown = async (path: string) => Number(/"upvotes":(\d+)/.exec((await other.ask.get(path)).payload)?.[1]);
    expect(await shown('/api/products/tide')).toBe(0);
    expect(await shown('/product/tide')).toBe(0);
    await site.ask.put('/api/products/tide/upvote', SESSION);
    await expect.poll(() => shown('/api/products/tide')).toBe(1);
    await expect.poll(() => shown('/product/tide')).toBe(1);
  });

  test('can add a product, as an import does, and the list of this process shows it', async () => {
    await site.ask.get('/');
    await other.addProduct({ id: 'ebb', name: 'Ebb' });
    await expect.poll(async () => (await site.ask.get('/')).payload).toContain('Ebb');
  });

  test('can remove a product, which this process then no longer finds', async () => {
    expect((await site.ask.get('/api/products/tide')).statusCode).toBe(200);
    await other.database.query("DELETE FROM products WHERE id = 'tide'");
    await recordChange(other.database, { productIds: ['tide'], catalogue: true });
    for (const path of ['/api/products/tide', '/product/tide'])
      await expect.poll(async () => (await site.ask.get(path)).statusCode).toBe(404);
  });
});

test('while the database is unavailable, cached responses are served with their age, and other requests return 503', async () => {
  await site.ask.get('/');
  await site.ask.get('/product/tide');
  await site.ask.get('/api/products');
  await site.database.simulateOutage();
  for (const path of ['/', '/product/tide', '/api/products']) {
    // Polls, because the process takes a while to detect the outage.
    const statusAndAge = async () => {
      const { statusCode, headers } = await site.ask.get(path);
      return { statusCode, age: Number(headers.age) };
    };
    const isStale = { statusCode: 200, age: expect.toSatisfy((age: number) => age >= 0) };
    await expect.poll(statusAndAge).toEqual(isStale);
  }
  expect((await site.ask.get('/?q=never-asked-before')).statusCode).toBe(503);
});

describe('while the comments of a page cannot be read', () => {
  const failure = 'The comments cannot be loaded right now';
  const load = () => site.ask.get('/product/tide');
  const rename = (from: string, to: string) => site.database.query(`ALTER TABLE ${from} RENAME TO ${to}`);
  beforeEach(() => site.ask.post('/api/comments', { productId: 'tide', content: 'High tide' }, SESSION));

  test('the last good page is served with its age', async () => {
    await expect.poll(async () => (await load()).payload).toContain('High tide');
    await rename('comments', 'unreadable');
    await recordChange(site.database, { productIds: ['tide'], catalogue: false });
    await expect.poll(async () => Number((await load()).headers.age)).toBeGreaterThanOrEqual(0);
    const { payload } = await load();
    expect(payload).toContain('High tide');
    expect(payload).not.toContain(failure);
  });

  test('a page without a previous version reports the failure, is not cacheable, and is soon replaced', async () => {
    await rename('comments', 'unreadable');
    for (const cookie of ['', 'last_write_00000000=1-999999999999999']) {
      const { statusCode, headers, payload } = await site.ask.get('/product/tide', { cookie });
      expect([statusCode, headers['cache-control']]).toEqual([200, 'no-store']);
      expect(payload).toContain(failure);
    }
    await rename('unreadable', 'comments');
    await expect.poll(async () => (await load()).payload).toContain('High tide');
    expect((await load()).headers['cache-control']).not.toBe('no-store');
  });
});

test('a change that is too large to list its products, such as a restored backup, shows on every page', async () => {
  expect(await upvotesShown('/api/products/tide')).toBe(0);
  expect(await upvotesShown('/product/tide')).toBe(0);
  await site.database.transaction(async (sql) => {
    await sql.query("UPDATE product_counts SET upvotes = 7 WHERE product_id = 'tide'");
    await recordEverythingChanged(sql);
  });
  for (const path of ['/api/products/tide', '/product/tide'])
    await expect.poll(() => upvotesShown(path), { interval: 50 }).toBe(7);
});
