import { randomUUID } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, test } from 'vitest';
import type { AddedComment } from '../../src/contract/comments/schema.ts';
import { DEFAULT_RATE_LIMITS, type RateLimits } from '../../src/settings/rate-limits.ts';
import { readTrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { buildProduct } from '../support/build-product.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { laggingReplica } from '../support/lagging-replica.ts';
import { createLogLines } from '../support/log-lines.ts';
import { newVisitor, times } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const perMinute = (amount: number) => ({ amount, seconds: 60 });
const SMALL: RateLimits = {
  ...DEFAULT_RATE_LIMITS,
  upvote: { session: perMinute(3), network: perMinute(6) },
  comment: { session: perMinute(2), network: perMinute(4) },
  like: { session: perMinute(3), network: perMinute(6) },
  search: { network: { amount: 2, seconds: 1 } },
};

let site: TestSite;
afterEach(() => site.close());

async function start(options: Parameters<typeof startTestSite>[0] = {}) {
  const clock = createTestClock();
  site = await startTestSite({ runtime: clock, rateLimits: SMALL, ...options });
  const { id } = await site.addProduct();
  return { clock, id };
}

type Send = (headers: Record<string, string>) => Promise<LightMyRequestResponse>;

async function statuses(send: Send, visitors: readonly Record<string, string>[]): Promise<number[]> {
  const responses: number[] = [];
  for (const visitor of visitors) responses.push((await send(visitor)).statusCode);
  return responses;
}

describe('the limits of each session and of each network', () => {
  const ENDPOINTS: [name: string, session: number | undefined, network: number, success: number][] = [
    ['PUT upvote', 3, 6, 200],
    ['DELETE upvote', 3, 6, 200],
    ['POST comment', 2, 4, 201],
    ['POST like', 3, 6, 200],
    ['GET search', undefined, 2, 200],
    ['GET products of a tag', undefined, 2, 200],
    ['GET page of a tag', undefined, 2, 200],
    ['HEAD search', undefined, 2, 200],
    ['GET page of a search', undefined, 2, 200],
    ['GET shard of the sitemap', undefined, 2, 200],
    ['GET leaderboard', undefined, 2, 200],
    ['GET tally', undefined, 2, 200],
    ['GET card of a leaderboard', undefined, 2, 200],
  ];
  test.each(ENDPOINTS)('%s returns 429 beyond its limits', async (name, session, network, success) => {
    const { clock, id } = await start();
    const { comment } = (
      await site.ask.post('/api/comments', { productId: id, content: 'To be liked' }, newVisitor())
    ).json<AddedComment>();
    clock.advance({ milliseconds: 60_000 });
    const sends: Record<string, Send> = {
      'PUT upvote': (headers) => site.ask.put(`/api/products/${id}/upvote`, headers),
      'DELETE upvote': (headers) => site.ask.delete(`/api/products/${id}/upvote`, headers),
      'POST comment': (headers) => site.ask.post('/api/comments', { productId: id, content: randomUUID() }, headers),
      'POST like': (headers) => site.ask.post(`/api/comments/${comment.id}/like`, undefined, headers),
      'GET search': (headers) => site.ask.get(`/api/products?q=${randomUUID()}`, headers),
      'HEAD search': (headers) => site.app.inject({ method: 'HEAD', url: `/api/products?q=${randomUUID()}`, headers }),
      'GET products of a tag': (headers) => site.ask.get(`/api/products?tag=${randomUUID()}`, headers),
      'GET page of a tag': (headers) => site.ask.get(`/?tag=${randomUUID()}`, headers),
      'GET page of a search': (headers) => site.ask.get(`/?q=${randomUUID()}`, headers),
      'GET shard of the sitemap': (headers) => site.ask.get('/sitemap/~.xml', headers),
      'GET leaderboard': (headers) => site.ask.get('/api/leaderboards/2026-06', headers),
      'GET tally': (headers) => site.ask.get('/api/leaderboards/2026-06-01/tally', headers),
      'GET card of a leaderboard': (headers) => site.ask.get('/og/board/2026-06.png', headers),
    };
    const send = sends[name];
    if (send === undefined) throw new Error(name);
    if (session !== undefined) {
      const one = newVisitor();
      expect(
        await statuses(
          send,
          times(session + 1, () => one),
        ),
      ).toEqual([...times(session, () => success), 429]);
      clock.advance({ milliseconds: 60_000 });
    }
    const many = times(network + 1, newVisitor);
    expect(await statuses(send, many)).toEqual([...times(network, () => success), 429]);
    const refused = await send(newVisitor());
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    // Visitors see an error page with a retry button.
    if (name.startsWith('GET page')) expect(refused.payload).toContain('Failed to load products');
    else if (name !== 'HEAD search')
      expectProblem(refused, 429, 'rate_limited', /^Too many requests from this network\./);
    clock.advance({ milliseconds: Number(refused.headers['retry-after']) * 1_000 });
    expect((await send(newVisitor())).statusCode).toBe(success);
  });
});

test('an upvote can be withdrawn from a network over its limit, even if a replica still lacks the upvote', async () => {
  const { id } = await start({ replicas: laggingReplica });
  const visitor = newVisitor();
  const upvoted = await site.ask.put(`/api/products/${id}/upvote`, visitor);
  const cookie = String(upvoted.headers['set-cookie']).split(';', 1)[0] ?? '';
  const others = await statuses((other) => site.ask.put(`/api/products/${id}/upvote`, other), times(6, newVisitor));
  expect(others.at(-1)).toBe(429);
  expect((await site.ask.delete(`/api/products/${id}/upvote`, { ...visitor, cookie })).statusCode).toBe(200);
});

test('the RateLimit header fields report the limits, on success and on refusal', async () => {
  const { clock, id } = await start();
  const visitor = newVisitor();
  const put = () => site.ask.put(`/api/products/${id}/upvote`, visitor);
  const first = await put();
  expect(first.headers['ratelimit-policy']).toBe('"session";q=3;w=60, "network";q=6;w=60');
  expect(first.headers.ratelimit).toBe('"session";r=2;t=20, "network";r=5;t=10');
  clock.advance({ milliseconds: 10_000 });
  expect((await put()).headers.ratelimit).toBe('"session";r=1;t=30, "network";r=5;t=10');
  await put();
  const refused = await put();
  expect(refused.statusCode).toBe(429);
  expect(refused.headers['ratelimit-policy']).toBe('"session";q=3;w=60, "network";q=6;w=60');
  expect(refused.headers.ratelimit).toBe('"session";r=0;t=50, "network";r=4;t=20');
  expect(refused.headers['retry-after']).toBe('10');
  expectProblem(refused, 429, 'rate_limited', 'Too many requests from this visitor. Please try again in 10 seconds.');
});

test('a cached search does not count against the rate limit', async () => {
  const clock = createTestClock();
  site = await startTestSite({ runtime: clock, rateLimits: SMALL, cacheEnabled: true, launched: [buildProduct()] });
  for (const url of ['/api/products?q=harbour', '/?q=harbour']) {
    // Refills the bucket, because the first request for each URL misses the cache and counts.
    clock.advance({ milliseconds: 2_000 });
    const responses = await statuses(() => site.ask.get(url), times(10, newVisitor));
    expect(responses).toEqual(times(10, () => 200));
  }
});

test('limits use the monotonic clock, so a jump of the wall clock neither refuses nor admits requests', async () => {
  const { clock, id } = await start();
  const visitor = newVisitor();
  const put = () => site.ask.put(`/api/products/${id}/upvote`, visitor);
  expect(
    await statuses(
      put,
      times(4, () => visitor),
    ),
  ).toEqual([200, 200, 200, 429]);
  for (const hours of [1, -2]) {
    clock.shiftWallClock({ hours });
    expect((await put()).statusCode).toBe(429);
  }
  clock.advance({ milliseconds: 20_000 });
  expect((await put()).statusCode).toBe(200);
});

test('other reads are not limited and have no limit headers', async () => {
  const { id } = await start();
  for (const url of [
    '/',
    '/api/products',
    '/api/products?sort=top',
    `/api/products/${id}`,
    `/api/products/${id}/comments`,
  ]) {
    const responses = await Promise.all(times(20, () => site.ask.get(url)));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual(times(20, () => 200));
    expect(responses[0]?.headers.ratelimit).toBeUndefined();
  }
  const upvotes = await Promise.all(times(20, () => site.ask.get(`/api/upvotes?products=${id}`, newVisitor())));
  expect(upvotes.map(({ statusCode }) => statusCode)).toEqual(times(20, () => 200));
});

test('RATE_LIMITS=off disables limits, the holding of repeated texts, and limit headers', async () => {
  const { id } = await start({ rateLimits: undefined as never });
  const visitor = newVisitor();
  const post = () => site.ask.post('/api/comments', { productId: id, content: 'The same' }, visitor);
  const responses = await Promise.all(times(30, post));
  expect(responses.map(({ statusCode }) => statusCode)).toEqual(times(30, () => 201));
  expect(responses[0]?.headers.ratelimit).toBeUndefined();
  expect((await site.ask.json<{ total: number }>(`/api/products/${id}/comments`)).total).toBe(30);
});

describe('on a shared office network', () => {
  test('a hundred people with one address can upvote, withdraw and upvote again within a minute', async () => {
    const { id } = await start({ rateLimits: DEFAULT_RATE_LIMITS });
    const office = times(100, newVisitor);
    const url = `/api/products/${id}/upvote`;
    expect(new Set(await statuses((headers) => site.ask.put(url, headers), office))).toEqual(new Set([200]));
    expect(new Set(await statuses((headers) => site.ask.delete(url, headers), office))).toEqual(new Set([200]));
    expect(new Set(await statuses((headers) => site.ask.put(url, headers), office))).toEqual(new Set([200]));
    expect((await site.ask.put(url, office[0])).json()).toEqual({ upvoted: true, upvotes: 100 });
  });

  test('a voter can withdraw a vote while the network’s limit is exhausted, but a session without a vote cannot', async () => {
    const { id } = await start();
    const url = `/api/products/${id}/upvote`;
    const colleague = newVisitor();
    await site.ask.put(url, colleague);
    await statuses((headers) => site.ask.put(url, headers), times(10, newVisitor));
    expect((await site.ask.put(url, newVisitor())).statusCode).toBe(429);
    const taken = await site.ask.delete(url, colleague);
    expect([taken.statusCode, taken.headers.ratelimit]).toEqual([200, '"session";r=1;t=40, "network";r=0;t=60']);
    expect((await site.ask.delete(url, colleague)).statusCode).toBe(429);
    expect((await site.ask.delete(url, newVisitor())).statusCode).toBe(429);
    expect((await site.ask.delete(url)).statusCode).toBe(429);
  });
});

describe('trusted proxies (TRUST_PROXY)', () => {
  /** Sends the vote of a new session from `remoteAddress`, with `forwarded` as its X-Forwarded-For header. */
  const vote = (url: string, forwarded: string, remoteAddress: string) =>
    site.app.inject({
      method: 'PUT',
      url,
      headers: { ...newVisitor(), 'x-forwarded-for': forwarded },
      remoteAddress,
    });
  async function votes(id: string, remoteAddress: string, forwardedOf: (number: number) => string): Promise<number[]> {
    const responses: number[] = [];
    for (let number = 0; number < 8; number += 1) {
      responses.push((await vote(`/api/products/${id}/upvote`, forwardedOf(number), remoteAddress)).statusCode);
    }
    return responses;
  }
  const ALL = times(8, () => 200);
  const SIX_OF_THEM = [200, 200, 200, 200, 200, 200, 429, 429];

  test('no proxy is trusted by default, so a forged header does not create a new network', async () => {
    const { id } = await start();
    expect(await votes(id, '192.0.2.1', (number) => `10.0.${number}.1`)).toEqual(SIX_OF_THEM);
  });

  test('the header of a trusted proxy is used, even if the proxy’s address is IPv4-mapped', async () => {
    const { id } = await start({ trustProxy: readTrustedProxies('loopback') });
    expect(await votes(id, '127.0.0.1', (number) => `10.0.${number}.1`)).toEqual(ALL);
    expect(await votes(id, '::ffff:127.0.0.1', (number) => `10.1.${number}.1`)).toEqual(ALL);
  });

  test('the header of a proxy other than the trusted one is ignored', async () => {
    const { id } = await start({ trustProxy: readTrustedProxies('127.0.0.1') });
    expect(await votes(id, '192.0.2.1', (number) => `10.0.${number}.1`)).toEqual(SIX_OF_THEM);
  });

  test('entries that the visitor has forged before the proxy’s entry are ignored', async () => {
    const { id } = await start({ trustProxy: readTrustedProxies('loopback') });
    expect(await votes(id, '127.0.0.1', (number) => `10.0.${number}.1, 192.0.2.7`)).toEqual(SIX_OF_THEM);
  });

  test('behind two trusted proxies, the address that precedes theirs is used', async () => {
    const { id } = await start({ trustProxy: readTrustedProxies('loopback, 203.0.113.0/24') });
    expect(await votes(id, '127.0.0.1', (number) => `10.0.${number}.1, 203.0.113.5`)).toEqual(ALL);
  });

  test('invalid entries count as one network', async () => {
    const { id } = await start({ trustProxy: readTrustedProxies('loopback') });
    expect(await votes(id, '127.0.0.1', (number) => `nonsense-${number}`)).toEqual(SIX_OF_THEM);
  });

  test.each([
    ['with rate limits', SMALL],
    ['without rate limits, because the cap on votes remains', undefined],
  ])('%s, an untrusted proxy causes one warning, without its address', async (_name, rateLimits) => {
    const { log, lines, text } = createLogLines();
    const { id } = await start({ log, rateLimits, trustProxy: readTrustedProxies('203.0.113.1') });
    // Ignores other warnings, which a busy machine may cause, for example if the database responds late.
    const warnings = () => lines().filter(({ level, msg }) => level === 40 && /proxy/i.test(String(msg)));
    await votes(id, '203.0.113.1', () => '198.51.100.7');
    expect(warnings()).toEqual([]);
    await votes(id, '192.0.2.1', () => '198.51.100.7');
    expect(warnings()).toHaveLength(1);
    expect(warnings()[0]?.msg).toMatch(/TRUST_PROXY.*share the rate limits and the VOTES_PER_NETWORK of one network/);
    expect(text()).not.toMatch(/192\.0\.2|198\.51|203\.0/);
  });
});
