import Fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { wroteAt } from '../http/wrote-cookie.ts';
import { API_FRESHNESS, PAGE_FRESHNESS } from './answer.ts';
import { type AnswerCache, createAnswerCache } from './answer-cache.ts';
import { repeatAnswers } from './repeat-answers.ts';
import { sendFromCache } from './send-answer.ts';
import { createTestSource } from './test-source.ts';

const CHANGE = { productIds: ['/page', '/api'], catalogue: false };

let app: FastifyInstance;
let cache: AnswerCache;
let page: ReturnType<typeof createTestSource>;
/** How often the routes were asked, and what was answered as whom. */
let asked: number;
let answered: string[];
let endsConnections: boolean;

beforeEach(() => {
  asked = 0;
  answered = [];
  endsConnections = false;
  cache = createAnswerCache({ log: silentLog });
  page = createTestSource('/page', { freshness: PAGE_FRESHNESS });
  const api = createTestSource('/api', { freshness: API_FRESHNESS });
  app = Fastify();
  app.addHook('onResponse', (request, reply, done) => {
    answered.push(`${request.routeOptions.url} ${reply.statusCode}`);
    done();
  });
  repeatAnswers(app, cache, () => endsConnections);
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
});
afterEach(() => app.close());

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });

function sentIn({ headers: { date, ...headers }, statusCode, rawPayload }: LightMyRequestResponse) {
  return { statusCode, headers, rawPayload };
}

/** Made, then sent as it is kept: from now on it is repeated. */
async function settle(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
  await get(url, headers);
  return get(url, headers);
}

describe('an answer that was sent to its address', () => {
  test('is sent again to the letter without asking its route, and counts like any other', async () => {
    const before = await settle('/page');
    const again = await get('/page');
    expect(asked).toBe(2);
    expect(sentIn(again)).toEqual(sentIn(before));
    expect(again.headers['x-of-a-hook']).toBe('here');
    expect(answered).toEqual(['/page 200', '/page 200', '/page 200']);
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
    expect((await app.inject({ method: 'HEAD', url: '/page' })).payload).toBe('');
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
    expect((await get('/api')).payload).toBe('/api version 2');
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
    expect((await get('/page')).payload).toBe('/page version 1');
    expect(asked).toBe(3);
    expect(cache.stats()).toEqual({ made: 1, kept: 1, outdated: 1 });
    finish();
    expect((await setsOff).payload).toBe('/page version 2');
    expect((await get('/page')).payload).toBe('/page version 2');
  });

  test('what two routes have in common lags no longer than the stricter one allows', async () => {
    const ofPage = { ...page.request(), key: '/api' };
    await cache.get(ofPage);
    await settle('/api');
    cache.drop(CHANGE);
    const setsOff = cache.get(ofPage);
    expect((await get('/api')).payload).toBe('/page version 2');
    await setsOff;
  });
});
