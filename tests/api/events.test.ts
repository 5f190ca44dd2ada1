import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LiveComment, LiveCounts } from '../../src/contract/live/schema.ts';
import { recordEverythingChanged } from '../../src/core/changes/change-feed.ts';
import { closeEvents, openEvents } from '../support/event-client.ts';
import { expectProblem } from '../support/expect-problem.ts';
import type { OpenApi } from '../support/openapi.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let address: string;
let product: string;
let other: string;
beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
  address = await site.app.listen({ port: 0 });
});
beforeEach(async () => {
  product = (await site.addProduct()).id;
  other = (await site.addProduct()).id;
});
afterEach(closeEvents);
afterAll(() => site.close());

const open = (query = '', headers: Record<string, string> = {}) => openEvents(`${address}/api/events${query}`, headers);

async function upvote(id: string, asked = site): Promise<number> {
  const response = await asked.ask.put(`/api/products/${id}/upvote`, newVisitor());
  return response.json<{ upvotes: number }>().upvotes;
}

async function comment(id: string, body: object = {}): Promise<string> {
  const content = `A comment about ${id}`;
  const response = await site.ask.post('/api/comments', { productId: id, content, ...body }, newVisitor());
  return response.json<{ comment: { id: string } }>().comment.id;
}

const counts = (id: string, upvotes: number, comments = 0) => expect.arrayContaining([{ id, upvotes, comments }]);

describe('GET /api/events (api.md, Events)', () => {
  test('is a stream that no proxy may cache, change or buffer', async () => {
    const { response } = await open('', { 'accept-encoding': 'br, gzip' });
    expect(response.statusCode).toBe(200);
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    });
    for (const name of ['content-encoding', 'etag', 'content-length'])
      expect(response.headers).not.toHaveProperty(name);
  });

  test('responds to HEAD with the same headers and no body', async () => {
    const response = await site.app.inject({ method: 'HEAD', url: '/api/events' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(response.payload).toBe('');
  });

  test('tells clients how long to wait before they reconnect, with jitter', async () => {
    const clients = await Promise.all(Array.from({ length: 8 }, () => open()));
    const waits = await Promise.all(
      clients.map(async (client) => {
        await expect.poll(client.text).toMatch(/^retry: \d+\n/);
        return Number(/^retry: (\d+)/.exec(client.text())?.[1]);
      }),
    );
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1_000);
    expect(new Set(waits).size).toBeGreaterThan(1);
  });

  test('sends the new counts after a change, only for the requested products', async () => {
    const named = await open(`?products=${product}`);
    const all = await open();
    await upvote(other);
    await upvote(product);
    await named.waitForEvent('counts', [{ id: product, upvotes: 1, comments: 0 }]);
    await all.waitForEvent('counts', counts(product, 1));
    await comment(product);
    await named.waitForEvent('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    await expect.poll(() => all.dataOf<LiveCounts>('counts').map(({ id }) => id)).toContain(other);
    expect(new Set(named.dataOf<LiveCounts>('counts').map(({ id }) => id))).toEqual(new Set([product]));
  });

  test('sends new comments and likes only for the requested products', async () => {
    const named = await open(`?products=${product}`);
    const all = await open();
    const commentId = await comment(product);
    await named.waitForEvent('comments', [{ productId: product, commentId, likes: 0 }]);
    const elsewhere = await comment(other);
    await site.ask.post(`/api/comments/${elsewhere}/like`, undefined, newVisitor());
    await site.ask.post(`/api/comments/${commentId.toUpperCase()}/like`, undefined, newVisitor());
    await named.waitForEvent('comments', [{ productId: product, commentId, likes: 1 }]);
    await site.addProduct();
    for (const client of [named, all]) await client.waitForEvent('catalogue', {});
    expect(named.dataOf<LiveComment>('comments').map(({ productId }) => productId)).not.toContain(other);
    await all.waitForEvent('counts', counts(product, 0, 1));
    expect(all.dataOf('comments')).toEqual([]);
  });

  test('sends only data that the OpenAPI document describes', async () => {
    const client = await open(`?products=${product}`);
    const resumed = await open('', { 'last-event-id': '1' });
    await comment(product);
    await site.addProduct();
    for (const event of ['counts', 'comments', 'catalogue'])
      await expect.poll(() => client.frames.map((frame) => frame.event)).toContain(event);
    await resumed.waitForEvent('refetch', {});
    const { paths, components } = await site.ask.json<OpenApi>('/api/openapi.json');
    const { schema } = paths['/api/events']?.get?.responses[200]?.content?.['text/event-stream'] ?? {};
    const validate = new Ajv2020({ strict: false }).compile({ ...schema?.contentSchema, components });
    for (const { event, data } of [...client.frames, ...resumed.frames]) expect(validate(data), event).toBe(true);
    expect(validate({ products: [] })).toBe(false);
  });

  test('never sends a held comment', async () => {
    const client = await open(`?products=${product}`);
    const held = await comment(product, { website: 'https://spam.example' });
    const shown = await comment(product);
    await client.waitForEvent('comments', [{ productId: product, commentId: shown, likes: 0 }]);
    await site.addProduct();
    await client.waitForEvent('catalogue', {});
    expect(client.text()).not.toContain(held);
    expect(client.dataOf<LiveCounts>('counts').at(-1)).toEqual({ id: product, upvotes: 0, comments: 1 });
  });

  test('never reveals the author of a change', async () => {
    const client = await open(`?products=${product}`);
    const visitor = newVisitor();
    await site.ask.put(`/api/products/${product}/upvote`, visitor);
    await client.waitForEvent('counts', counts(product, 1));
    await site.addProduct();
    await client.waitForEvent('catalogue', {});
    expect(client.text()).not.toContain(visitor['x-user-session']);
  });

  test('sends at most four frames a second, and the last one is the current state', async () => {
    // The measured time starts before the stream opens, because frames may be read later than they were sent.
    const startedAt = performance.now();
    const client = await open(`?products=${product}`);
    const times = () => client.frames.filter(({ event }) => event === 'counts').map(({ receivedAt }) => receivedAt);
    let upvotes = 0;
    // Sends ten upvotes at a time, so there are many more changes than frames, even on a slow machine.
    while (times().length < 7) {
      const counted = await Promise.all(Array.from({ length: 10 }, () => upvote(product)));
      upvotes = Math.max(upvotes, ...counted);
    }
    await client.waitForEvent('counts', [{ id: product, upvotes, comments: 0 }]);
    const received = times();
    const spanMs = (received.at(-1) ?? 0) - startedAt;
    expect(received.length).toBeLessThanOrEqual(spanMs / 250 + 1);
    expect(upvotes).toBeGreaterThan(received.length);
  });

  test('reports that products were added', async () => {
    const client = await open(`?products=${product}`);
    await site.addProduct();
    await client.waitForEvent('catalogue', {});
  });

  test('refuses more than 100 products, and ignores invalid ids', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `p-${index}`);
    expectProblem(await site.ask.get(`/api/events?products=${ids.join(',')}`), 400, 'too_many_products');
    const client = await open(`?products=${ids.slice(1).join(',')}`);
    expect(client.response.statusCode).toBe(200);
    const nothing = await open('?products=No%20Product');
    const named = await open(`?products=${product},%F0%9F%8C%8A`);
    await upvote(product);
    await named.waitForEvent('counts', counts(product, 1));
    // Every stream gets this event, after all earlier events.
    await site.addProduct();
    await nothing.waitForEvent('catalogue', {});
    expect(nothing.dataOf('counts')).toEqual([]);
  });
});

describe('a client that reconnects', () => {
  test('gets the missed changes without a refetch, with either Last-Event-ID or `since`', async () => {
    const first = await open(`?products=${product}`);
    await upvote(product);
    await first.waitForEvent('counts', counts(product, 1));
    first.close();
    const commentId = await comment(product);
    const id = first.lastEventId() ?? '';
    const again = await open(`?products=${product}`, { 'last-event-id': id });
    await again.waitForEvent('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    await again.waitForEvent('comments', [{ productId: product, commentId, likes: 0 }]);
    const since = await open(`?products=${product}&since=${id}`);
    await since.waitForEvent('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    const all = await open('', { 'last-event-id': id });
    await all.waitForEvent('counts', counts(product, 1, 1));
    expect([...again.frames, ...since.frames, ...all.frames].map(({ event }) => event)).not.toContain('refetch');
  });

  test('is told to refetch if its id is too old or invalid', async () => {
    for (const id of ['1', '1-2', 'x', '99999999999999999999', '-5']) {
      await (await open(`?products=${product}`, { 'last-event-id': id })).waitForEvent('refetch', {});
    }
    await (await open('?since=0')).waitForEvent('refetch', {});
  });

  test('gets the missed changes from another process, even one that started later', async () => {
    const first = await open(`?products=${product}`);
    await upvote(product);
    await first.waitForEvent('counts', counts(product, 1));
    const id = first.lastEventId() ?? '';
    await expect
      .poll(
        async () => (await site.database.query('SELECT 1 FROM changes WHERE $1 = ANY(product_ids)', [product])).length,
      )
      .toBeGreaterThan(1);
    const late = await startTestSite({ databaseOf: site });
    const lateAddress = await late.app.listen({ port: 0 });
    const stream = `${lateAddress}/api/events?products=${product}`;
    const again = await openEvents(stream, { 'last-event-id': id });
    await again.waitForEvent('counts', [{ id: product, upvotes: 1, comments: 0 }]);
    expect(again.frames.map(({ event }) => event)).not.toContain('refetch');
    await late.close();
  });
});

describe('two processes on one database', () => {
  test('send each other’s upvotes, comments and likes on their streams', async () => {
    const other = await startTestSite({ cacheEnabled: true, databaseOf: site });
    const otherAddress = await other.app.listen({ port: 0 });
    const client = await openEvents(`${otherAddress}/api/events?products=${product}`);
    await upvote(product);
    await client.waitForEvent('counts', counts(product, 1));
    const commentId = await comment(product);
    await client.waitForEvent('comments', [{ productId: product, commentId, likes: 0 }]);
    await other.ask.post(`/api/comments/${commentId}/like`, undefined, newVisitor());
    await client.waitForEvent('comments', [{ productId: product, commentId, likes: 1 }]);
    await other.close();
  });
});

describe('a change that is too large to list its products', () => {
  // Must be the last test of this file, because no client can resume for some seconds afterwards.
  test('tells every client to refetch', async () => {
    const clients = [await open(), await open(`?products=${product}`)];
    await site.database.transaction(recordEverythingChanged);
    for (const client of clients) await client.waitForEvent('refetch', {});
  });
});
