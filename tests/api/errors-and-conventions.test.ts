import { randomUUID } from 'node:crypto';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { PAGE_CACHING, REVALIDATE } from '../../src/server/http/cache-control.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  const description = 'Long enough to be worth compressing. '.repeat(60);
  const createdAt = '2025-11-20T10:00:00.000Z';
  site = await startTestSite({ launched: [buildProduct({ id: 'x', description, createdAt })] });
});

afterAll(() => site.close());

const BOARD = '/api/leaderboards/2025-11-20';
const PRODUCT_READS = ['', '/x', '/x/comments', '/x/standing'].map((path) => `/api/products${path}`);
const READS = [...PRODUCT_READS, '/api/leaderboards', BOARD];

const MALFORMED = { headers: { 'content-type': 'application/json' }, payload: '{' };

describe('unknown URLs (api.md, Conventions)', () => {
  test.each(['/api/', '/api/nothing', '/api/products/x/nothing', '/api/v1/products', '/api/products/x/upvote/more'])(
    '%s returns 404 problem+json',
    async (url) => expectProblem(await site.ask.get(url), 404, 'not_found'),
  );

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'] as const)('%s to an unknown URL gets 404', async (method) => {
    expectProblem(await site.app.inject({ method, url: '/api/nothing', ...MALFORMED }), 404, 'not_found');
  });

  test.each(['/api/products/%zz', '/api/%E0%A4%A'])('%s, which is not a valid URL, returns 400', async (url) => {
    expectProblem(await site.ask.get(url), 400, 'bad_request', 'The URL is not valid.');
  });
});

describe('wrong methods (api.md, Conventions: 405 with Allow)', () => {
  test.each([
    ...[...READS, `${BOARD}/tally`].map((url) => ['PATCH', url, 'GET, HEAD'] as const),
    ['GET', '/api/products/x/upvote', 'DELETE, PUT'],
    ['POST', '/api/products/x/upvote', 'DELETE, PUT'],
    ['PUT', '/api/upvotes', 'GET, HEAD'],
    ['GET', '/api/comments', 'POST'],
    ['DELETE', '/api/comments', 'POST'],
    ['GET', '/api/comments/1/like', 'POST'],
    ['DELETE', '/api/comments/1/like', 'POST'],
    ['OPTIONS', '/api/products', 'GET, HEAD'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['PUT', '/readyz', 'GET, HEAD'],
    ['POST', '/', 'GET, HEAD'],
    ['DELETE', '/product/x', 'GET, HEAD'],
  ] as const)('%s %s returns 405 with Allow: %s', async (method, url, allow) => {
    const response = await site.app.inject({ method, url: `${url}?a=b`, ...MALFORMED });
    expect(response.headers.allow).toBe(allow);
    expectProblem(response, 405, 'method_not_allowed');
  });
});

describe('representations (api.md, Conventions: strong, per-encoding ETags, Vary, 304, HEAD)', () => {
  const ENCODINGS = [
    ['identity', (body: Buffer) => body],
    ['gzip', gunzipSync],
    ['br', brotliDecompressSync],
  ] as const;

  test.each([...READS, '/', '/product/x'])(
    '%s has a different ETag in each encoding if it is large enough to be compressed',
    async (url) => {
      const tags = new Set<unknown>();
      const contents = new Set<string>();
      for (const [encoding, decode] of ENCODINGS) {
        const response = await site.ask.get(url, { 'accept-encoding': encoding });
        expect(response.statusCode).toBe(200);
        expect(response.headers.vary).toBe('Accept-Encoding');
        expect(response.headers['cache-control']).toBe(url.startsWith('/api/') ? REVALIDATE : PAGE_CACHING);
        expect(response.headers.etag).toMatch(/^"[\w-]+"$/);
        expect(Number(response.headers['content-length'])).toBe(response.rawPayload.length);
        // Small bodies, such as an empty list, are not compressed.
        const sent = response.headers['content-encoding'];
        if (sent !== undefined) expect(sent).toBe(encoding);
        contents.add((sent === undefined ? response.rawPayload : decode(response.rawPayload)).toString());
        if (sent !== undefined || encoding === 'identity') tags.add(response.headers.etag);
      }
      // The contents of pages differ, because they contain the time at which they were rendered.
      if (url.startsWith('/api/')) expect(contents.size).toBe(1);
      expect(tags.size).toBe(String([...contents][0]).length < 1_024 ? 1 : 3);
    },
  );

  test.each([...READS, '/api/openapi.json'])('%s returns 304 without a body if the ETag matches', async (url) => {
    for (const [encoding] of ENCODINGS) {
      const tag = String((await site.ask.get(url, { 'accept-encoding': encoding })).headers.etag);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        for (const method of ['GET', 'HEAD'] as const) {
          const conditions = { 'accept-encoding': encoding, 'if-none-match': known };
          const { statusCode, body, headers } = await site.app.inject({ method, url, headers: conditions });
          expect([statusCode, body], known).toEqual([304, '']);
          expect(headers).toMatchObject({ etag: tag, vary: 'Accept-Encoding', 'cache-control': REVALIDATE });
          for (const name of ['content-encoding', 'content-length']) expect(headers[name]).toBeUndefined();
        }
      }
      const changed = await site.ask.get(url, { 'accept-encoding': encoding, 'if-none-match': '"other"' });
      expect(changed.statusCode).toBe(200);
    }
  });

  test('the ETag of one encoding does not match a response in another', async () => {
    const gzip = await site.ask.get('/api/products', { 'accept-encoding': 'gzip' });
    const known = String(gzip.headers.etag);
    const brotli = await site.ask.get('/api/products', { 'accept-encoding': 'br', 'if-none-match': known });
    expect(brotli.statusCode).toBe(200);
  });

  test.each(READS)('HEAD %s has the headers of GET and no body', async (url) => {
    const get = await site.ask.get(url, { 'accept-encoding': 'gzip' });
    const head = await site.app.inject({ method: 'HEAD', url, headers: { 'accept-encoding': 'gzip' } });
    expect([head.statusCode, head.body]).toEqual([200, '']);
    const { date: _getDate, ...expected } = get.headers;
    const { date: _headDate, ...found } = head.headers;
    expect(found).toEqual(expected);
  });

  test('the ETag changes with the content', async () => {
    const { id } = await site.addProduct();
    const before = await site.ask.get(`/api/products/${id}`);
    await site.ask.put(`/api/products/${id}/upvote`, newVisitor());
    const after = await site.ask.get(`/api/products/${id}`, { 'if-none-match': String(before.headers.etag) });
    expect(after.statusCode).toBe(200);
    expect(after.headers.etag).not.toBe(before.headers.etag);
  });

  test('HEAD on an unknown product returns 404 without a body', async () => {
    const head = await site.app.inject({ method: 'HEAD', url: '/api/products/nobody' });
    expect([head.statusCode, head.body]).toEqual([404, '']);
    expect(head.headers['content-type']).toContain('application/problem+json');
  });

  test('responses are UTF-8 JSON', async () => {
    expect((await site.ask.get('/api/products')).headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test('an error is not cacheable and has no ETag', async () => {
    const { headers } = await site.ask.get('/api/products/nobody', { 'if-none-match': '*' });
    expect(headers['cache-control']).toBe('no-store');
    expect(headers.etag).toBeUndefined();
  });
});

describe('security headers', () => {
  test.each([
    ...READS,
    '/',
    '/product/x',
    '/nothing',
    '/api/nothing',
    '/healthz',
    '/pictures/placeholder.svg',
    '/%zz',
    '/api/%zz',
  ])('%s has security headers', async (url) => {
    const { headers } = await site.ask.get(url);
    expect(headers).toMatchObject({
      'content-security-policy': expect.stringMatching(/default-src '(?:self|none)'/),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'strict-origin-when-cross-origin',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).not.toMatch(/script-src[^;]*(?:unsafe|\*|http)/);
    expect(headers['content-security-policy']).toMatch(/frame-ancestors '(?:self|none)'/);
    expect(headers.server).toBeUndefined();
    expect(headers['x-powered-by']).toBeUndefined();
  });
});

describe('the Host header, which is never trusted', () => {
  test('does not appear in any response', async () => {
    for (const url of [...READS, '/', '/product/x', '/nothing', '/?sort=bad']) {
      const response = await site.ask.get(url, { host: 'evil.example', 'x-forwarded-host': 'evil.example' });
      expect(response.body + JSON.stringify(response.headers), url).not.toContain('evil.example');
    }
  });
});

describe('an unavailable database', () => {
  const VISITOR = newVisitor();
  let broken: TestSite;
  let log: ReturnType<typeof createLogLines>;

  beforeAll(async () => {
    log = createLogLines();
    broken = await startTestSite({ log: log.log });
    await broken.database.simulateOutage();
  });
  afterAll(() => broken.close());

  test.each([
    ['GET', '/api/products'],
    ['GET', '/api/products/x'],
    ['GET', '/api/products/x/comments'],
    ['GET', '/api/upvotes?products=x'],
    ['PUT', '/api/products/x/upvote'],
    ['DELETE', '/api/products/x/upvote'],
    ['POST', `/api/comments/${randomUUID()}/like`],
  ] as const)('%s %s returns 503 unavailable, with Retry-After', async (method, url) => {
    const response = await broken.app.inject({ method, url, headers: VISITOR });
    expectProblem(response, 503, 'unavailable', /database is unavailable/);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
  });

  test('POST /api/comments returns 503 unavailable, with and without an idempotency key', async () => {
    for (const headers of [VISITOR, { ...VISITOR, 'idempotency-key': 'k' }]) {
      const response = await broken.ask.post('/api/comments', { productId: 'x', content: 'x' }, headers);
      expectProblem(response, 503, 'unavailable');
    }
  });

  test('errors that can be detected without the database are still reported', async () => {
    expectProblem(await broken.ask.get('/api/products?limit=0'), 400, 'bad_request');
    expectProblem(await broken.ask.get('/api/products?cursor=x'), 400, 'bad_cursor');
    expectProblem(await broken.ask.get('/api/products/Not%20an%20id'), 404, 'product_not_found');
  });

  test('requests that fail because of an outage are logged neither as errors nor with a session', async () => {
    await broken.app.inject({ method: 'PUT', url: '/api/products/x/upvote', headers: VISITOR });
    const failed = log.lines().filter(({ msg }) => msg === 'Request failed');
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.filter(({ level, err }) => Number(level) >= 40 || err !== undefined)).toEqual([]);
    expect(log.text()).not.toContain(VISITOR['x-user-session']);
  });

  test('the log and the response have the same request id', async () => {
    const response = await broken.ask.get('/api/products');
    const id = response.headers['x-request-id'];
    expect(log.lines().filter(({ requestId }) => requestId === id)).toMatchObject([{ msg: 'Request failed' }]);
  });
});

describe('an internal error', () => {
  test('returns 500 internal without details, and is logged without the values of the row', async () => {
    const log = createLogLines();
    const broken = await startTestSite({ log: log.log });
    const visitor = newVisitor();
    const { id } = await broken.addProduct();
    // The row violates a constraint, and PostgreSQL's error contains the whole row, including the session.
    await broken.database.query('ALTER TABLE upvotes ADD CONSTRAINT never CHECK (false)');
    expectProblem(
      await broken.ask.put(`/api/products/${id}/upvote`, visitor),
      500,
      'internal',
      /^Something went wrong/,
    );
    expect(log.text()).toContain('violates check constraint');
    expect(log.text()).not.toContain(visitor['x-user-session']);
    await broken.close();
  });

  test('leaves all rows unchanged if it occurs during a write', async () => {
    const broken = await startTestSite();
    const { id } = await broken.addProduct();
    await broken.ask.put(`/api/products/${id}/upvote`, newVisitor());
    await broken.database.query(
      'ALTER TABLE product_counts ADD CONSTRAINT full_up CHECK (upvotes < 2 AND comments < 1)',
    );
    expectProblem(await broken.ask.put(`/api/products/${id}/upvote`, newVisitor()), 500, 'internal');
    const key = { ...newVisitor(), 'idempotency-key': 'k' };
    expectProblem(await broken.ask.post('/api/comments', { productId: id, content: 'x' }, key), 500, 'internal');
    expect(await broken.database.query('SELECT 1 FROM upvotes')).toHaveLength(1);
    expect(await broken.database.query('SELECT 1 FROM comments')).toHaveLength(0);

    // The idempotency key was not used up, either.
    await broken.database.query('ALTER TABLE product_counts DROP CONSTRAINT full_up');
    const response = await broken.ask.post('/api/comments', { productId: id, content: 'x' }, key);
    expect([response.statusCode, response.json<AddedComment>().comment.content]).toEqual([201, 'x']);
    await broken.close();
  });
});

describe('sessions', () => {
  test('no response contains a session', async () => {
    const visitor = newVisitor();
    const responses = [
      await site.ask.put('/api/products/x/upvote', visitor),
      await site.ask.post('/api/comments', { productId: 'x', content: 'x' }, { ...visitor, 'idempotency-key': 'k' }),
      await site.ask.get('/api/upvotes?products=x', visitor),
      await site.ask.get('/api/products/x', visitor),
      await site.ask.get('/api/products/x/comments', visitor),
      await site.ask.get('/product/x', visitor),
      await site.ask.delete('/api/products/x/upvote', visitor),
    ];
    for (const { headers, body } of responses) {
      expect(body + JSON.stringify(headers)).not.toContain(visitor['x-user-session']);
    }
  });
});
