import { type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { wroteAt } from '../http/wrote-cookie.ts';
import { API_FRESHNESS, PAGE_FRESHNESS } from './answer.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';
import { type RepeatObserver, repeatAnswers } from './repeat-answers.ts';
import { sendFromCache } from './send-answer.ts';
import { createTestSource } from './test-source.ts';

const CHANGE = { productIds: ['/page', '/api'], catalogue: false };

let app: FastifyInstance;
let cache: AnswerCache;
let page: ReturnType<typeof createTestSource>;
let address: string;
/** How often the routes were asked. */
let asked: number;
let observed: Parameters<RepeatObserver>[0][];
let endsConnections: boolean;

beforeEach(async () => {
  asked = 0;
  observed = [];
  endsConnections = false;
  cache = createAnswerCache({ log: silentLog });
  page = createTestSource('/page', { freshness: PAGE_FRESHNESS });
  const api = createTestSource('/api', { freshness: API_FRESHNESS });
  app = Fastify();
  repeatAnswers(app, { cache, endsConnections: () => endsConnections, observe: (answer) => observed.push(answer) });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('X-Of-A-Hook', 'here');
    done();
  });
  for (const source of [page, api]) {
    app.get(source.request().key, (request, reply) => {
      asked += 1;
      return sendFromCache(cache, source.request(wroteAt(request)), request, reply);
    });
  }
  address = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

/** One answer as it came over the wire: nothing is unpacked. */
interface Answer {
  statusCode: number | undefined;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
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

function sentIn({ headers: { date, ...headers }, statusCode, body }: Answer) {
  return { statusCode, headers, body };
}

/** Made, then sent as it is kept: from now on it is repeated. */
async function settle(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  await get(url, headers);
  return get(url, headers);
}

describe('an answer that was sent to its address', () => {
  test('is sent again to the letter without asking its route, and is told of', async () => {
    const before = await settle('/page');
    const again = await get('/page');
    expect(asked).toBe(2);
    expect(sentIn(again)).toEqual(sentIn(before));
    expect(again.headers['x-of-a-hook']).toBe('here');
    await expect.poll(() => observed).toEqual([{ route: '/page', seconds: expect.any(Number) }]);
    expect(cache.stats()).toEqual({ made: 1, kept: 2, outdated: 0 });
  });

  test.each([
    ['has a version already', { 'if-none-match': '"other"' }],
    ['has one of a time', { 'if-modified-since': 'Sat, 01 Jan 2000 00:00:00 GMT' }],
    ['has just written', { cookie: 'wrote_at=1' }],
  ])('is left to its route for a client that %s', async (_who, headers) => {
    await settle('/page');
    expect((await get('/page', headers)).statusCode).toBe(200);
    expect(asked).toBe(3);
  });

  test('is left to its route for HEAD, and at another spelling of its address', async () => {
    await settle('/page');
    expect((await ask('HEAD', '/page')).body.length).toBe(0);
    await get('/page?junk=1');
    await get('/page?junk=1');
    expect(asked).toBe(5);
  });

  test('is left to its route while connections are to be ended', async () => {
    await settle('/page');
    endsConnections = true;
    await get('/page');
    expect(asked).toBe(3);
  });

  test('is left to its route where nothing is heard of changes: that says so', async () => {
    await settle('/page');
    cache.setDeafSince(Date.now());
    expect((await get('/page')).headers.warning).toBe('110 - "Response is Stale"');
    cache.setDeafSince(undefined);
    expect((await get('/page')).headers.warning).toBeUndefined();
  });
});

test('what one visitor alone gets is never repeated', async () => {
  await get('/page');
  const own = await get('/page', { cookie: 'wrote_at=1' });
  expect(own.headers['cache-control']).toBe('private, no-cache');
  expect((await get('/page')).headers['cache-control']).toBe('public');
  expect((await get('/page')).headers['cache-control']).toBe('public');
});

test('each encoding is repeated as itself', async () => {
  for (const encoding of ['br', 'gzip', 'identity']) {
    const before = await settle('/page', { 'accept-encoding': encoding });
    expect(sentIn(await get('/page', { 'accept-encoding': encoding }))).toEqual(sentIn(before));
  }
});

describe('after a change', () => {
  test('an answer of the API is not repeated', async () => {
    await settle('/api');
    await get('/api');
    cache.drop(CHANGE);
    expect(await textOf('/api')).toBe('/api version 2');
  });

  test('a page is repeated only while the next is made', async () => {
    await settle('/page');
    let finish = () => {};
    page.hold = new Promise((resolve) => {
      finish = resolve;
    });
    cache.drop(CHANGE);
    const setsOff = get('/page');
    await expect.poll(() => asked).toBe(3);
    expect(await textOf('/page')).toBe('/page version 1');
    expect(asked).toBe(3);
    expect(cache.stats()).toEqual({ made: 1, kept: 1, outdated: 1 });
    finish();
    expect((await setsOff).body.toString()).toBe('/page version 2');
    expect(await textOf('/page')).toBe('/page version 2');
  });

  test('what two routes have in common lags no longer than the stricter one allows', async () => {
    const ofPage = { ...page.request(), key: '/api' };
    await cache.get(ofPage);
    await settle('/api');
    cache.drop(CHANGE);
    const setsOff = cache.get(ofPage);
    expect(await textOf('/api')).toBe('/page version 2');
    await setsOff;
  });
});
