import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createResponseSource } from '../../../tests/support/response-source.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { systemRuntime } from '../../core/runtime.ts';
import { lastWriteOf } from '../http/last-write-cookie.ts';
import { API_FRESHNESS, PAGE_FRESHNESS } from './cached-response.ts';
import { ResponseCache } from './response-cache.ts';
import { addFastPath, type FastPathObserver, sendFromCache } from './send-cached.ts';

/** The cookie of a write in another process. Its time is in the future, so no cached version includes the write. */
const LAST_WRITE = `last_write_00000000=1-${Date.now() + 3_600_000}`;

const CHANGE = { productIds: ['/page', '/api'], catalogue: false };

let app: FastifyInstance;
let cache: ResponseCache;
let page: ReturnType<typeof createResponseSource>;
let address: string;
/** How often the routes were called. */
let asked: number;
let observed: Parameters<FastPathObserver>[0][];
let endsConnections: boolean;

beforeEach(async () => {
  asked = 0;
  observed = [];
  endsConnections = false;
  cache = new ResponseCache({ log: silentLog });
  page = createResponseSource('/page', { freshness: { ...PAGE_FRESHNESS, maxStaleMs: 60_000 } });
  const api = createResponseSource('/api', { freshness: API_FRESHNESS });
  app = Fastify();
  addFastPath(app, {
    cache,
    commonHeaders: (url) => ({ 'x-common': url }),
    routeOf: (url) => `route of ${url}`,
    endsConnections: () => endsConnections,
    observe: (response) => void observed.push(response),
  });
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('X-Common', request.url).header('X-Own', 'of one visitor');
    done();
  });
  for (const source of [page, api]) {
    app.get(source.request().key, (request, reply) => {
      asked += 1;
      return sendFromCache(cache, source.request(lastWriteOf(request, systemRuntime)), request, reply);
    });
  }
  address = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

/** One response as sent, still compressed. */
interface Sent {
  statusCode: number | undefined;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const asking = request(`${address}${path}`, { method, headers, agent: false }, async (response) => {
      const { statusCode, headers: fields } = response;
      resolve({ statusCode, headers: fields, body: await buffer(response) });
    });
    asking.on('error', reject).end();
  });
}

const get = (path: string, headers?: Record<string, string>) => ask('GET', path, headers);
const textOf = async (path: string) => (await get(path)).body.toString();

function withoutDate({ headers: { date, ...headers }, statusCode, body }: Sent) {
  return { statusCode, headers, body };
}

describe('the fast path', () => {
  test('the fast path sends what the route sends, except headers for one visitor, and calls no route', async () => {
    const ofRoute = await get('/page');
    const fast = await get('/page');
    expect(asked).toBe(1);
    const { 'x-own': own, ...headers } = ofRoute.headers;
    expect(own).toBe('of one visitor');
    expect(withoutDate(fast)).toEqual({ ...withoutDate({ ...ofRoute, headers }) });
    await expect.poll(() => observed).toEqual([{ route: 'route of /page', seconds: expect.any(Number) }]);
    expect(cache.stats()).toEqual({ miss: 1, hit: 1, stale: 0 });
  });

  test('a cached response has only the headers of its entry and its URL, and none of an earlier response', async () => {
    await get('/page');
    const { date: _date, connection: _connection, 'keep-alive': _keepAlive, ...headers } = (await get('/page')).headers;
    expect(Object.keys(headers).sort()).toEqual([
      'cache-control',
      'content-length',
      'content-type',
      'etag',
      'vary',
      'x-common',
    ]);
  });

  test.each([
    ['sends If-None-Match', { 'if-none-match': '"other"' }],
    ['sends If-Modified-Since', { 'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }],
    ['has just written', { cookie: LAST_WRITE }],
  ])('the route, not the fast path, responds to a client that %s', async (_who, headers) => {
    await get('/page');
    expect((await get('/page', headers)).statusCode).toBe(200);
    expect(asked).toBe(2);
  });

  test('the route, not the fast path, responds to HEAD and to another spelling of the URL', async () => {
    await get('/page');
    expect((await ask('HEAD', '/page')).body.length).toBe(0);
    await get('/page?junk=1');
    await get('/page?junk=1');
    expect(asked).toBe(4);
  });

  test('the route, not the fast path, responds while connections are being closed', async () => {
    await get('/page');
    endsConnections = true;
    await get('/page');
    expect(asked).toBe(2);
  });

  test('the route, not the fast path, responds with Age while the change feed is disconnected', async () => {
    await get('/page');
    cache.setConnected(false);
    expect((await get('/page')).headers.age).toMatch(/^\d+$/);
    cache.setConnected(true);
    expect((await get('/page')).headers.age).toBeUndefined();
  });
});

test('a response for one visitor is never sent to others', async () => {
  await get('/page');
  const own = await get('/page', { cookie: LAST_WRITE });
  expect(own.headers['cache-control']).toBe('private, no-cache');
  expect((await get('/page')).headers['cache-control']).toBe('public');
});

test('in each encoding, the fast path sends the same bytes, ETag and Content-Encoding as the route', async () => {
  for (const encoding of ['br', 'gzip', 'identity']) {
    const { headers, ...ofRoute } = await ask('GET', '/page?junk', { 'accept-encoding': encoding });
    const fast = await get('/page', { 'accept-encoding': encoding });
    expect([fast.headers.etag, fast.headers['content-encoding'], fast.body]).toEqual([
      headers.etag,
      headers['content-encoding'],
      ofRoute.body,
    ]);
  }
});

describe('after a change', () => {
  test('a stale API response is not sent after a change', async () => {
    await get('/api');
    await get('/api');
    cache.invalidate(CHANGE);
    expect(await textOf('/api')).toBe('/api version 2');
  });

  test('a stale page is sent while its route revalidates it', async () => {
    await get('/page');
    let finish = () => {};
    page.hold = new Promise<void>((resolve) => {
      finish = resolve;
    });
    cache.invalidate(CHANGE);
    expect(await textOf('/page')).toBe('/page version 1');
    expect(asked).toBe(2);
    expect(await textOf('/page')).toBe('/page version 1');
    expect(asked).toBe(2);
    finish();
    await expect.poll(() => textOf('/page')).toBe('/page version 2');
  });
});
