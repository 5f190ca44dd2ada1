import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { completeProduct, saveProducts } from '../../src/core/products/save-products.ts';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';
import { xmlErrors } from '../support/xml-errors.ts';

const ORIGIN = 'http://groundswell.test';
const MANY = 50_001;

/** Returns all values of an element, in order. */
const valuesOf = (xml: string, name: string) =>
  [...xml.matchAll(new RegExp(`<${name}>([^<]*)</${name}>`, 'g'))].map(([, value]) => String(value));

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite();
  await site.addProduct({ id: 'old', createdAt: '2020-02-29T12:00:00.000Z' });
  await site.addProduct({ id: 'new', createdAt: '2026-05-01T08:30:00.123Z' });
});

afterAll(() => site.close());

describe('the sitemap of a small site', () => {
  test('is one valid file with absolute URLs of the home page, every product and the leaderboards', async () => {
    await expect.poll(async () => (await site.ask.get('/sitemap.xml')).body).toContain('board=2026-W18');
    const response = await site.ask.get('/sitemap.xml', { host: 'evil.example' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('application/xml; charset=utf-8');
    expect(await xmlErrors(response.body, 'sitemap.xsd')).toEqual([]);
    const boards = ['2026-05-01', '2026-05', '2026-W18', '2026', '2020-02-29', '2020-W09', '2020-02', '2020'];
    const addresses = ['/', '/product/old', '/product/new', ...boards.map((period) => `/?board=${period}`)];
    expect(valuesOf(response.body, 'loc')).toEqual(addresses.map((address) => `${ORIGIN}${address}`));
    expect(valuesOf(response.body, 'lastmod')).toEqual(['2020-02-29T12:00:00.000Z', '2026-05-01T08:30:00.123Z']);
  });

  test('returns 304 to a client that has its ETag', async () => {
    const { headers } = await site.ask.get('/sitemap.xml');
    expect(headers.etag).toMatch(/^"[\w-]+"$/);
    const known = await site.ask.get('/sitemap.xml', { 'if-none-match': String(headers.etag) });
    expect([known.statusCode, known.body]).toEqual([304, '']);
  });

  test('is checked with a schema that detects errors', async () => {
    const broken = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${ORIGIN}/</loc><lastmod>yesterday</lastmod></url></urlset>`;
    expect(await xmlErrors(broken, 'sitemap.xsd')).not.toEqual([]);
    expect(await xmlErrors('<urlset/>', 'sitemap.xsd')).not.toEqual([]);
  });

  test('is named in robots.txt, which allows all crawlers', async () => {
    const response = await site.ask.get('/robots.txt', { host: 'evil.example' });
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(response.body).toBe(`User-agent: *\nAllow: /\n\nSitemap: ${ORIGIN}/sitemap.xml\n`);
  });
});

test('a request for a shard that is queued when its client disconnects does not block later requests of the network', async () => {
  const limited = await startTestSite({ databaseOf: site, rateLimits: DEFAULT_RATE_LIMITS });
  onTestFinished(() => limited.close());
  const { port } = new URL(await limited.app.listen({ host: '127.0.0.1', port: 0 }));
  const client = connect(Number(port), '127.0.0.1');
  // The shard waits behind the event stream, which never ends.
  client.write(['/api/events', '/sitemap/~.xml'].map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  await once(client, 'data');
  client.resetAndDestroy();
  expect((await limited.ask.get('/sitemap/~.xml')).statusCode).toBe(200);
});

describe('the sitemap of more than 50,000 URLs', () => {
  let shards: string[];
  const boards = async () => (await site.core.readBoardAddresses(50_000)).length;
  const latest = { id: 'latest', name: 'Latest', createdAt: '2026-07-01T00:00:00.000Z' };
  const addLatest = () => saveProducts(site.database, [completeProduct(latest, new Date(0))]);

  beforeAll(async () => {
    // The leaderboards of `old` and `new`.
    await vi.waitUntil(async () => (await boards()) === 8, 60_000);
    // Half of the products have the same creation time, as after an import.
    await site.database.query(
      `INSERT INTO products (id, created_at)
       SELECT 'many-' || n, timestamptz '2026-06-01T00:00:00Z' + CASE WHEN n % 2 = 0 THEN interval '0' ELSE n * interval '1 second' END
       FROM generate_series(1, $1::integer) AS n`,
      [MANY],
    );
    const index = await site.ask.get('/sitemap.xml');
    expect(await xmlErrors(index.body, 'siteindex.xsd')).toEqual([]);
    shards = valuesOf(index.body, 'loc');
    expect(valuesOf(index.body, 'lastmod')).toHaveLength(shards.length);
  });

  test('is an index of shards, which together contain every URL once', async () => {
    const addresses: string[] = [];
    for (const shard of shards) {
      expect(shard.startsWith(`${ORIGIN}/sitemap/`)).toBe(true);
      const response = await site.ask.get(shard.slice(ORIGIN.length));
      expect(response.statusCode).toBe(200);
      const found = valuesOf(response.body, 'loc');
      expect(found.length).toBeLessThanOrEqual(50_000);
      addresses.push(...found);
    }
    expect(shards.length).toBeGreaterThan(1);
    // The home page, two products and their eight leaderboards.
    expect(addresses).toHaveLength(MANY + 3 + 8);
    expect(new Set(addresses).size).toBe(MANY + 3 + 8);
  });

  test('has valid shards, which are dated by their newest product or final leaderboard, and return 304 for their ETag', async () => {
    // Makes the last leaderboard in the first shard final.
    await site.database.query("UPDATE leaderboards SET final_at = '2026-06-30T01:02:03.456Z' WHERE period = '2020'");
    const index = await site.ask.get('/sitemap.xml');
    for (const [position, shard] of shards.slice(0, 2).entries()) {
      const response = await site.ask.get(shard.slice(ORIGIN.length));
      expect(await xmlErrors(response.body, 'sitemap.xsd')).toEqual([]);
      expect(valuesOf(index.body, 'lastmod')[position]).toBe(valuesOf(response.body, 'lastmod').at(-1));
      const known = await site.ask.get(shard.slice(ORIGIN.length), { 'if-none-match': String(response.headers.etag) });
      expect(known.statusCode).toBe(304);
    }
    expect(valuesOf(index.body, 'lastmod')[0]).toBe('2026-06-30T01:02:03.456Z');
  });

  test('lists new products in the last shard without changing the URLs of the shards', async () => {
    await addLatest();
    const last = await site.ask.get(String(shards.at(-1)).slice(ORIGIN.length));
    expect(valuesOf(last.body, 'loc').at(-1)).toBe(`${ORIGIN}/product/latest`);
    const index = await site.ask.get('/sitemap.xml');
    expect(valuesOf(index.body, 'loc')).toEqual(shards);
  });

  test('limits a shard to twice the usual number of products, even if a client requests a shard of all products', async () => {
    const { body } = await site.ask.get('/sitemap/~.xml');
    expect(valuesOf(body, 'loc').filter((url) => url.includes('/product/'))).toHaveLength(20_000);
  });

  test.each(['/sitemap/x.xml', '/sitemap/~', '/sitemap/WyJ4Il0~.xml', '/sitemap/~WyJhZGRyZXNzZXMiLCJ4IiwieSJd.xml'])(
    'returns 404 for %s, which is not a shard',
    async (path) => {
      expect((await site.ask.get(path)).statusCode).toBe(404);
    },
  );

  test('becomes one file when all URLs fit in it, and never loses a URL', async () => {
    await addLatest();
    // The leaderboards of `old` and `new`, and the day, week and month of `latest`.
    await expect.poll(boards).toBe(8 + 3);
    // The home page, the leaderboards, and `old`, `new` and `latest`.
    const others = 1 + 11 + 3;
    const sitemapWith = async (many: number) => {
      await site.database.query("DELETE FROM products WHERE id LIKE 'many-%' AND substr(id, 6)::integer > $1", [many]);
      return (await site.ask.get('/sitemap.xml')).body;
    };
    expect(await sitemapWith(50_000 - others + 1)).toContain('<sitemapindex');
    expect(new Set(valuesOf(await sitemapWith(50_000 - others), 'loc')).size).toBe(50_000);
  });
});
