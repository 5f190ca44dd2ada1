import { randomUUID } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import type { CommentPage } from '../../src/contract/comments/schema.ts';
import { CoreError } from '../../src/core/core-error.ts';
import { ResponseCache } from '../../src/server/cache/response-cache.ts';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { readTrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor, times } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const SEARCHES = 2;

let site: TestSite;
afterEach(async () => {
  vi.restoreAllMocks();
  await site.close();
});

/** Starts a site with a cache and a rate limit for searches. */
async function start() {
  const clock = createTestClock();
  const rateLimits = { ...DEFAULT_RATE_LIMITS, search: { network: { amount: SEARCHES, seconds: 1 } } };
  const product = buildProduct();
  const trustProxy = readTrustedProxies('loopback');
  site = await startTestSite({ runtime: clock, rateLimits, trustProxy, cacheEnabled: true, launched: [product] });
  return { clock, id: product.id };
}

const FORGED = { cookie: 'last_write_00000000=1-999999999999999' };

test('a search counts against the rate limit each time that its response is not in the cache or is stale', async () => {
  const { id } = await start();
  const responses: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    responses.push((await site.ask.get('/api/products?q=harbour&sort=top', newVisitor())).statusCode);
    await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
  }
  expect(responses).toEqual([200, 200, 429, 429]);
});

test('a page beyond the rate limit returns 429 with rate-limit headers, even if a stale version is in the cache', async () => {
  const { clock, id } = await start();
  const page = '/?q=harbour&sort=top';
  expect((await site.ask.get(page)).statusCode).toBe(200);
  await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
  clock.advance({ milliseconds: 2_000 });
  for (let search = 0; search < SEARCHES; search += 1) await site.ask.get(`/api/products?q=${randomUUID()}`);
  const refused = await site.ask.get(page);
  expect([refused.statusCode, refused.headers]).toMatchObject([
    429,
    { 'retry-after': '1', ratelimit: '"network";r=0;t=1', 'ratelimit-policy': `"network";q=${SEARCHES};w=1` },
  ]);
});

test('while the database is unavailable, a cached search beyond the rate limit is served without rate-limit headers', async () => {
  const { id } = await start();
  const search = '/api/products?q=harbour&sort=top';
  expect((await site.ask.get(search)).statusCode).toBe(200);
  await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
  vi.spyOn(site.core, 'listProducts').mockRejectedValue(new CoreError('unavailable', 'The database is unavailable.'));
  const { headers } = await site.ask.get(search);
  expect(headers).toMatchObject({ age: '0', ratelimit: '"network";r=0;t=1' });
  const stale = await site.ask.get(search);
  expect([stale.statusCode, stale.headers.age]).toEqual([200, '0']);
  expect(Object.keys(stale.headers).filter((name) => /retry-after|ratelimit/.test(name))).toEqual([]);
});

test('a further page of comments counts against the rate limit if its response is not in the cache, but a first page does not', async () => {
  const { id } = await start();
  for (const content of ['One', 'Two']) await site.ask.post('/api/comments', { productId: id, content }, newVisitor());
  const list = `/api/products/${id}/comments`;
  const { nextCursor } = await site.ask.json<CommentPage>(`${list}?limit=1`);
  const read = async (query: string) => (await site.ask.get(`${list}?${query}`)).statusCode;
  const further: number[] = [];
  for (const limit of [1, 1, 2, 2, 3, 1]) further.push(await read(`limit=${limit}&cursor=${nextCursor}`));
  expect(further).toEqual([200, 200, 200, 200, 429, 200]);
  expect(await read('limit=3')).toBe(200);
});

test('a list of leaderboards counts against the rate limit if its response is not in the cache', async () => {
  await start();
  const statuses: number[] = [];
  for (const limit of [1, 1, 2, 3, 1])
    statuses.push((await site.ask.get(`/api/leaderboards?limit=${limit}`)).statusCode);
  expect(statuses).toEqual([200, 200, 200, 429, 200]);
});

test('pages of unknown products, which are never cached, count against the rate limit, but pages of existing products do not', async () => {
  const { id } = await start();
  const read = vi.spyOn(site.core, 'listComments');
  const unknown = await Promise.all(times(20, () => site.ask.get(`/product/${randomUUID()}`)));
  const expected = times(20, (): number => 429).fill(404, 0, SEARCHES);
  expect(unknown.map(({ statusCode }) => statusCode).sort()).toEqual(expected);
  expect(read).toHaveBeenCalledTimes(SEARCHES);
  expect((await site.ask.get(`/product/${id}`)).statusCode).toBe(200);
});

test('a network over its limit gets 429 for the page of an unknown product, but other visitors who request it at the same time do not', async () => {
  await start();
  const getFrom = (address: string, url: string) => site.app.inject({ url, headers: { 'x-forwarded-for': address } });
  for (let search = 0; search < SEARCHES; search += 1) await getFrom('198.51.100.1', `/?q=${randomUUID()}`);
  const requested = vi.spyOn(ResponseCache.prototype, 'get');
  const getProduct = site.core.getProduct.bind(site.core);
  vi.spyOn(site.core, 'getProduct').mockImplementationOnce(async (...product) => {
    // The second request arrives while the page is being rendered for the first one.
    await expect.poll(() => requested.mock.calls.length).toBe(2);
    return getProduct(...product);
  });
  const [refused, other] = await Promise.all([
    getFrom('198.51.100.1', '/product/gone'),
    getFrom('203.0.113.1', '/product/gone'),
  ]);
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '1']);
  expect(other.statusCode).toBe(404);
});

test('the card of a product counts against the rate limit only if it is drawn, and a refusal is not cached', async () => {
  const { id } = await start();
  const others = await Promise.all(times(SEARCHES, () => site.addProduct()));
  const cardOf = (product: string, headers?: Record<string, string>) => site.ask.get(`/og/${product}.png`, headers);
  const { headers } = await cardOf(id);
  const again = [await cardOf(id), await cardOf(id), await cardOf(id, { 'if-none-match': String(headers.etag) })];
  expect(again.map(({ statusCode }) => statusCode)).toEqual([200, 200, 304]);
  const [drawn, refused] = [await cardOf(String(others[0]?.id)), await cardOf(String(others[1]?.id))];
  expect(drawn.statusCode).toBe(200);
  expectProblem(refused, 429, 'rate_limited', /^Too many requests from this network\./);
  expect(refused.headers['retry-after']).toBe('1');
  expect((await cardOf(id)).statusCode, 'cards in the cache are still sent').toBe(200);
});

test('during a flood of refused requests, the server renders few error pages and leaves the others to the browser', async () => {
  const { clock } = await start();
  const refusals = async () => {
    const pages = await Promise.all(times(22, () => site.ask.get(`/?q=${randomUUID()}`)));
    return pages.filter(({ statusCode }) => statusCode === 429).map(({ body }) => body);
  };
  const bodies = await refusals();
  expect(bodies).toHaveLength(20);
  expect(bodies.filter((body) => body.includes('Failed to load products'))).toHaveLength(5);
  for (const body of bodies) expect(body).toContain('data-app="/assets/app.js"');
  clock.advance({ milliseconds: 1_000 });
  expect((await refusals()).filter((body) => body.includes('Failed to load products'))).toHaveLength(5);
});

test('renderings that a forged cookie causes count against the rate limit, beyond which pages are served from the cache', async () => {
  const { clock } = await start();
  await site.ask.get('/');
  const rendered = vi.spyOn(site.core, 'listProducts');
  for (let round = 0; round < 20; round += 1) {
    clock.advance({ milliseconds: 1 });
    expect((await site.ask.get('/', FORGED)).statusCode).toBe(200);
  }
  expect(rendered).toHaveBeenCalledTimes(SEARCHES);
});

test('a forged cookie does not cause the 404 page, which all unknown paths share, to be rendered again', async () => {
  const { clock } = await start();
  const first = await site.ask.get('/no-such-page');
  // A page contains the time of its rendering, so a second rendering would be different.
  clock.advance({ milliseconds: 1 });
  const second = await site.ask.get('/no-other-page', FORGED);
  expect([second.statusCode, second.body]).toEqual([404, first.body]);
});

test.each([
  ['/', 200, 'listProducts' as const],
  ['/product/no-such-product', 404, 'listComments' as const],
])(
  'requests for %s with a forged cookie count against the rate limit even if each is sent while the page is being rendered',
  async (path, status, read) => {
    const { clock } = await start();
    await site.ask.get('/');
    const responses: ReturnType<typeof site.ask.get>[] = [];
    const send = () => {
      clock.advance({ milliseconds: 1 });
      if (responses.length < 20) responses.push(site.ask.get(path, FORGED));
    };
    const original: (...from: never[]) => unknown = site.core[read].bind(site.core);
    const rendered = vi.spyOn(site.core, read).mockImplementation((...from: unknown[]) => {
      send();
      return original(...(from as never[])) as never;
    });
    send();
    for (let next = 0; next < responses.length; next += 1) expect((await responses[next])?.statusCode).toBe(status);
    expect(rendered).toHaveBeenCalledTimes(SEARCHES);
  },
);
