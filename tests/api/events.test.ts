import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LiveComment, LiveCounts } from '../../src/contract/live/schema.ts';
import { noteEverythingChanged } from '../../src/core/changes/change-feed.ts';
import { closeEvents, openEvents } from '../support/event-client.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let address: string;
let product: string;
let other: string;
beforeAll(async () => {
  site = await startTestSite({ keepsAnswers: true });
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
  test('is a stream that nothing in between keeps, changes or collects', async () => {
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

  test('answers HEAD with the same head and no body', async () => {
    const response = await site.app.inject({ method: 'HEAD', url: '/api/events' });
    expect(response.statusCode).toBe(200);
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(response.payload).toBe('');
  });

  test('tells a client how long to wait before it comes back, each another time', async () => {
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

  test('tells counts as they are after a change, of the named products alone', async () => {
    const named = await open(`?products=${product}`);
    const all = await open();
    await upvote(other);
    await upvote(product);
    await named.hears('counts', [{ id: product, upvotes: 1, comments: 0 }]);
    await all.hears('counts', counts(product, 1));
    await comment(product);
    await named.hears('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    await expect.poll(() => all.dataOf<LiveCounts>('counts').map(({ id }) => id)).toContain(other);
    expect(new Set(named.dataOf<LiveCounts>('counts').map(({ id }) => id))).toEqual(new Set([product]));
  });

  test('tells new comments and likes of the named products, and of others not', async () => {
    const named = await open(`?products=${product}`);
    const all = await open();
    const commentId = await comment(product);
    await named.hears('comments', [{ productId: product, commentId, likes: 0 }]);
    const elsewhere = await comment(other);
    await site.ask.post(`/api/comments/${elsewhere}/like`, undefined, newVisitor());
    await site.ask.post(`/api/comments/${commentId.toUpperCase()}/like`, undefined, newVisitor());
    await named.hears('comments', [{ productId: product, commentId, likes: 1 }]);
    expect(named.dataOf<LiveComment>('comments').map(({ productId }) => productId)).not.toContain(other);
    await all.hears('counts', counts(product, 0, 1));
    expect(all.dataOf('comments')).toEqual([]);
  });

  test('never tells of a comment that is held', async () => {
    const client = await open(`?products=${product}`);
    const held = await comment(product, { website: 'https://spam.example' });
    const shown = await comment(product);
    await client.hears('comments', [{ productId: product, commentId: shown, likes: 0 }]);
    expect(client.text()).not.toContain(held);
    expect(client.dataOf<LiveCounts>('counts').at(-1)).toEqual({ id: product, upvotes: 0, comments: 1 });
  });

  test('never tells who did something', async () => {
    const client = await open(`?products=${product}`);
    const visitor = newVisitor();
    await site.ask.put(`/api/products/${product}/upvote`, visitor);
    await client.hears('counts', counts(product, 1));
    expect(client.text()).not.toContain(visitor['x-user-session']);
  });

  test('says something at most four times a second, and the last of it is how things are', async () => {
    const client = await open(`?products=${product}`);
    const times = () => client.frames.filter(({ event }) => event === 'counts').map(({ receivedAt }) => receivedAt);
    let upvotes = 0;
    // Many more changes than frames, however slow the machine is.
    while (times().length < 7) {
      const counted = await Promise.all(Array.from({ length: 10 }, () => upvote(product)));
      upvotes = Math.max(upvotes, ...counted);
    }
    await client.hears('counts', [{ id: product, upvotes, comments: 0 }]);
    const received = times();
    const spanMs = (received.at(-1) ?? 0) - (received[0] ?? 0);
    // What was sent a quarter of a second apart is read a little closer together where the first was read late.
    expect(received.length - 1).toBeLessThanOrEqual(spanMs / 250 + 1.5);
    expect(upvotes).toBeGreaterThan(received.length);
  });

  test('says that products were added', async () => {
    const client = await open(`?products=${product}`);
    await site.addProduct();
    await client.hears('catalogue', {});
  });

  test('refuses more than 100 products, and passes over ids that no product can have', async () => {
    const ids = Array.from({ length: 101 }, (_, index) => `p-${index}`);
    expectProblem(await site.ask.get(`/api/events?products=${ids.join(',')}`), 400, 'too_many_products');
    const client = await open(`?products=${ids.slice(1).join(',')}`);
    expect(client.response.statusCode).toBe(200);
    const nothing = await open('?products=No%20Product');
    const named = await open(`?products=${product},%F0%9F%8C%8A`);
    await upvote(product);
    await named.hears('counts', counts(product, 1));
    expect(nothing.dataOf('counts')).toEqual([]);
  });
});

describe('a client that comes back', () => {
  test('hears by its Last-Event-ID, or `since` a moment, what it missed and nothing else', async () => {
    const first = await open(`?products=${product}`);
    await upvote(product);
    await first.hears('counts', counts(product, 1));
    first.close();
    const commentId = await comment(product);
    const id = first.lastEventId() ?? '';
    const again = await open(`?products=${product}`, { 'last-event-id': id });
    await again.hears('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    await again.hears('comments', [{ productId: product, commentId, likes: 0 }]);
    const since = await open(`?products=${product}&since=${id}`);
    await since.hears('counts', [{ id: product, upvotes: 1, comments: 1 }]);
    const all = await open('', { 'last-event-id': id });
    await all.hears('counts', counts(product, 1, 1));
    expect([...again.frames, ...since.frames, ...all.frames].map(({ event }) => event)).not.toContain('refetch');
  });

  test('is told to read again what it shows where its id is too old, or none', async () => {
    for (const id of ['1', '1-2', 'x', '99999999999999999999', '-5']) {
      await (await open(`?products=${product}`, { 'last-event-id': id })).hears('refetch', {});
    }
    await (await open('?since=0')).hears('refetch', {});
  });

  test('meets another process, even one that was not there then', async () => {
    const first = await open(`?products=${product}`);
    await upvote(product);
    await first.hears('counts', counts(product, 1));
    const id = first.lastEventId() ?? '';
    await expect
      .poll(
        async () => (await site.database.query('SELECT 1 FROM changes WHERE $1 = ANY(product_ids)', [product])).length,
      )
      .toBeGreaterThan(1);
    const late = await startTestSite({ beside: site });
    const lateAddress = await late.app.listen({ port: 0 });
    const stream = `${lateAddress}/api/events?products=${product}`;
    const again = await openEvents(stream, { 'last-event-id': id });
    await again.hears('counts', [{ id: product, upvotes: 1, comments: 0 }]);
    expect(again.frames.map(({ event }) => event)).not.toContain('refetch');
    await late.close();
  });
});

describe('two processes on one database', () => {
  test('an upvote, a comment and a like on one show on streams of the other within a second', async () => {
    const beside = await startTestSite({ keepsAnswers: true, beside: site });
    const besideAddress = await beside.app.listen({ port: 0 });
    const client = await openEvents(`${besideAddress}/api/events?products=${product}`);
    await upvote(product);
    await client.hears('counts', counts(product, 1), 1_000);
    const commentId = await comment(product);
    await client.hears('comments', [{ productId: product, commentId, likes: 0 }], 1_000);
    await beside.ask.post(`/api/comments/${commentId}/like`, undefined, newVisitor());
    await client.hears('comments', [{ productId: product, commentId, likes: 1 }], 1_000);
    await beside.close();
  });
});

describe('a change too large to be named', () => {
  // The last one of this file: for some seconds nobody can come back.
  test('tells everybody to read again after a change too large to be named', async () => {
    const clients = [await open(), await open(`?products=${product}`)];
    await site.database.transaction(noteEverythingChanged);
    for (const client of clients) await client.hears('refetch', {});
  });
});
