import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { pidsOfChildren, testOnLinux } from '../support/child-processes.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

afterAll(() => site.close());

const get = (url: string, headers?: Record<string, string>) => site.ask.get(url, headers);

describe('the card of a product', () => {
  test('is a PNG of 1200 × 630 pixels that other sites may embed and cache', async () => {
    const { id } = await site.addProduct({ image: '/pictures/git/tile.svg' });
    const response = await get(`/og/${id}.png`);
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/png']);
    expect([response.rawPayload.readUInt32BE(16), response.rawPayload.readUInt32BE(20)]).toEqual([1200, 630]);
    expect(response.headers).toMatchObject({
      'cache-control': 'public, max-age=600, stale-while-revalidate=600, stale-if-error=86400',
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[\w-]+"$/),
    });
  });

  test('returns 304 to a client that has its ETag, and no body to HEAD', async () => {
    const { id } = await site.addProduct();
    const first = await get(`/og/${id}.png`);
    const known = await get(`/og/${id}.png`, { 'if-none-match': String(first.headers.etag) });
    expect([known.statusCode, known.rawPayload.length, known.headers.etag]).toEqual([304, 0, first.headers.etag]);
    const head = await site.app.inject({ method: 'HEAD', url: `/og/${id}.png` });
    expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0]);
    expect(head.headers).toMatchObject({ etag: first.headers.etag, 'content-length': String(first.rawPayload.length) });
  });

  test('ignores query parameters', async () => {
    const { id } = await site.addProduct();
    expect((await get(`/og/${id}.png?v=3`)).headers.etag).toBe((await get(`/og/${id}.png`)).headers.etag);
  });

  test('returns 404 for an unknown product and for an invalid URL', async () => {
    for (const url of ['/og/no-such-product.png', '/og/UPPER.png', '/og/.png', '/og/a.jpg', '/og/%00.png']) {
      expect((await get(url)).statusCode, url).toBe(404);
    }
  });

  test('shows a product with the id ‘home’, not the site', async () => {
    await site.addProduct({ id: 'home' });
    expect((await get('/og/home.png')).headers.etag).not.toBe((await get('/og.png')).headers.etag);
  });
});

describe('the card of a leaderboard', () => {
  test('is linked in the head of its page, and is different for each period', async () => {
    await site.addProduct({ createdAt: '2026-06-03T12:00:00.000Z' });
    await expect
      .poll(async () => (await get('/?board=2026-06-03')).body)
      .toContain('content="http://groundswell.test/og/board/2026-06-03.png"');
    const day = await get('/og/board/2026-06-03.png');
    expect([day.statusCode, day.headers['content-type']]).toEqual([200, 'image/png']);
    expect([day.rawPayload.readUInt32BE(16), day.rawPayload.readUInt32BE(20)]).toEqual([1200, 630]);
    const month = await get('/og/board/2026-06.png');
    expect(month.headers.etag).not.toBe(day.headers.etag);
    expect((await get('/og/board/2026-06.png', { 'if-none-match': String(month.headers.etag) })).statusCode).toBe(304);
  });

  test('returns 404 for a period that cannot have a leaderboard, and 400 for an invalid period', async () => {
    expect((await get('/og/board/1999-12-31.png')).statusCode).toBe(404);
    expect((await get('/og/board/tomorrow.png')).statusCode).toBe(400);
  });
});

test('the card of the site itself is a PNG of 1200 × 630 pixels', async () => {
  const response = await get('/og.png');
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'image/png']);
  expect([response.rawPayload.readUInt32BE(16), response.rawPayload.readUInt32BE(20)]).toEqual([1200, 630]);
});

testOnLinux('when the site stops, it finishes the current card and returns 503 for waiting requests', async () => {
  const stopping = await startTestSite({ cacheEnabled: true });
  const products = await Promise.all(Array.from({ length: 4 }, () => stopping.addProduct()));
  const address = await stopping.app.listen({ port: 0 });
  const others = await pidsOfChildren('card-worker');
  expect((await stopping.ask.get(`/og/${(await stopping.addProduct()).id}.png`)).statusCode).toBe(200);
  const started = (await pidsOfChildren('card-worker')).find((pid) => !others.includes(pid));
  const worker = started ?? expect.unreachable();
  process.kill(worker, 'SIGSTOP');
  // A busy machine may exceed the timeouts of a card (10 s) and of the requests to a closing server (5 s).
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let arrived = 0;
  const statuses: number[] = [];
  const allArrived = new Promise<void>((resolve) => {
    stopping.app.server.on('request', () => ++arrived === products.length && resolve());
  });
  const responses = products.map(async ({ id }) => {
    const response = await fetch(`${address}/og/${id}.png`);
    const bytes = (await response.arrayBuffer()).byteLength;
    statuses.push(response.status);
    return { status: response.status, bytes };
  });
  const closed = allArrived.then(() => stopping.close());
  await expect.poll(() => statuses).toEqual([503, 503, 503]);
  process.kill(worker, 'SIGCONT');
  const drawn = (await Promise.all(responses)).find(({ status }) => status === 200);
  await closed;
  expect(drawn?.bytes).toBeGreaterThan(10_000);
});
