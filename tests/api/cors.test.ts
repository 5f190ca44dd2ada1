import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const ELSEWHERE = { origin: 'https://elsewhere.example' };
const FEEDS = [
  '/feed.xml',
  '/feed.json',
  '/feed/leaderboards.xml',
  '/product/git/comments.xml',
  '/sitemap.xml',
  '/sitemap/~.xml',
  '/robots.txt',
];
const READS = ['/api/products', '/api/products/git', '/api/products/git/comments', '/api/openapi.json', ...FEEDS];

const WRITES = [
  ['PUT', '/api/products/git/upvote'],
  ['DELETE', '/api/products/git/upvote'],
  ['POST', '/api/comments'],
  ['POST', '/api/comments/5a3b1e00-0000-4000-8000-000000000001/like'],
] as const;

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({
    cacheEnabled: true,
    launched: [buildProduct({ id: 'git' }), buildProduct({ id: 'voted' })],
  });
});

afterAll(() => site.close());

const preflight = (url: string, method: string, headers = 'x-user-session,content-type') =>
  site.app.inject({
    method: 'OPTIONS',
    url,
    headers: { ...ELSEWHERE, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });

const corsHeadersOf = (headers: object) => Object.keys(headers).filter((name) => name.startsWith('access-control-'));

describe('access from pages of another origin', () => {
  test.each(READS)('%s is readable with GET, conditional GET and HEAD', async (url) => {
    const first = await site.ask.get(url, ELSEWHERE);
    expect(first.statusCode).toBe(200);
    const known = await site.ask.get(url, { ...ELSEWHERE, 'if-none-match': String(first.headers.etag) });
    expect(known.statusCode).toBe(304);
    const head = await site.app.inject({ method: 'HEAD', url, headers: ELSEWHERE });
    for (const { headers } of [first, known, head]) {
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
      const exposed = String(headers['access-control-expose-headers']).split(', ');
      const expected = ['ETag', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'X-Request-Id'];
      expect(exposed).toEqual(expect.arrayContaining(expected));
    }
  });

  test.each(['/api/products/nothing', '/api/products/%zz', '/api/nothing', '/api/products?limit=x', '/oembed?url=x'])(
    '%s responds with a readable error',
    async (url) => {
      const { statusCode, headers } = await site.ask.get(url, ELSEWHERE);
      expect(statusCode).toBeGreaterThanOrEqual(400);
      expect(headers['access-control-allow-origin']).toBe('*');
      const write = await site.app.inject({ method: 'POST', url, headers: ELSEWHERE });
      expect(corsHeadersOf(write.headers)).toEqual([]);
    },
  );

  test.each(READS)('%s accepts preflights for conditional requests', async (url) => {
    const response = await preflight(url, 'GET', 'if-none-match');
    expect(response.statusCode).toBe(204);
    expect(response.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': expect.stringContaining('If-None-Match'),
    });
  });

  test('pages and health checks are not readable', async () => {
    for (const url of ['/', '/product/git', '/healthz']) {
      expect(corsHeadersOf((await site.ask.get(url, ELSEWHERE)).headers), url).toEqual([]);
    }
  });
});

describe('a page of another origin cannot write', () => {
  test.each(WRITES)('a preflight for %s %s is refused', async (method, url) => {
    const response = await preflight(url, method);
    expectProblem(response, 405, 'method_not_allowed');
    expect(corsHeadersOf(response.headers)).toEqual([]);
  });

  test.each(['PUT', 'POST', 'DELETE', 'PATCH'])(
    'a preflight for %s is refused even for readable URLs',
    async (method) => {
      const response = await preflight('/api/products/git', method);
      expect(response.statusCode).toBe(405);
      expect(response.headers.allow).toBe('GET, HEAD');
      expect(corsHeadersOf(response.headers)).toEqual([]);
    },
  );

  test('a preflight allows neither the session header nor Content-Type', async () => {
    const { headers } = await preflight('/api/upvotes', 'GET');
    const allowed = String(headers['access-control-allow-headers']).toLowerCase();
    expect(allowed).not.toContain('x-user-session');
    expect(allowed).not.toContain('content-type');
  });

  // Forms and scripts can send these media types, or none, without a preflight.
  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', undefined])(
    'a request that requires no preflight (%s) is refused and writes nothing',
    async (type) => {
      const body = JSON.stringify({ productId: 'git', content: 'From elsewhere' });
      // The session header leaves the media type or the method as the only reason.
      const headers = { ...ELSEWHERE, ...newVisitor(), ...(type === undefined ? {} : { 'content-type': type }) };
      for (const [method, url] of WRITES) {
        const response = await site.app.inject({ method: 'POST', url, headers, payload: body });
        expect(response.statusCode).toBe(method === 'POST' ? 415 : 405);
        expect(corsHeadersOf(response.headers)).toEqual([]);
      }
      const { product } = await site.ask.json<{ product: object }>('/api/products/git');
      expect(product).toMatchObject({ upvotes: 0, comments: 0 });
    },
  );

  test('a response to a write allows no origin', async () => {
    const response = await site.ask.put('/api/products/voted/upvote', { ...newVisitor(), ...ELSEWHERE });
    expect(response.statusCode).toBe(200);
    expect(corsHeadersOf(response.headers)).toEqual([]);
  });
});

test('a preflight for an unknown URL gets 404', async () => {
  expect((await preflight('/api/nothing', 'GET')).statusCode).toBe(404);
});
