import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AddedComment, Comment, CommentPage, HeldComments } from '../../src/contract/comments/schema.ts';
import type { ProductDetail, ProductPage } from '../../src/contract/products/schema.ts';
import { browseComments } from '../../src/core/comments/browse-comments.ts';
import { releaseComments } from '../../src/core/comments/moderate-comments.ts';
import { checkCounts } from '../../src/core/counts/check-counts.ts';
import { DEFAULT_RATE_LIMITS } from '../../src/settings/rate-limits.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { BAD_SESSIONS } from '../support/sessions.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const clock = createTestClock();
let site: TestSite;
let productId: string;

beforeAll(async () => {
  site = await startTestSite({ runtime: clock, rateLimits: DEFAULT_RATE_LIMITS });
});

beforeEach(async () => {
  // Advances the clock so the texts of earlier tests no longer count as repetitions.
  clock.advance({ hours: 2 });
  productId = (await site.addProduct({ id: `p-${randomUUID()}` })).id;
});

afterAll(async () => {
  expect((await checkCounts(site.database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  await site.close();
});

type Headers = Record<string, string>;

async function post(visitor: Headers, body: object, headers: Headers = {}): Promise<Comment> {
  clock.advance({ milliseconds: 10_000 });
  const response = await site.ask.post(
    '/api/comments',
    { productId, content: 'Text', ...body },
    { ...visitor, ...headers },
  );
  expect(response.statusCode, response.body).toBe(201);
  return response.json<AddedComment>().comment;
}

const held = async (visitor: Headers) =>
  (await site.ask.json<HeldComments>(`/api/products/${productId}/comments/held`, visitor)).items;
const shown = (query = '') => site.ask.json<CommentPage>(`/api/products/${productId}/comments${query}`);

async function counted(): Promise<number[]> {
  const { product } = await site.ask.json<ProductDetail>(`/api/products/${productId}`);
  const { items } = await site.ask.json<ProductPage>('/api/products?limit=100');
  return [product.comments, items.find(({ id }) => id === productId)?.comments ?? -1, (await shown()).total];
}

const trap = { website: 'https://spam.example' };

describe('a comment with the honeypot field filled in', () => {
  test('gets a normal response', async () => {
    const visitor = newVisitor();
    const usual = await post(visitor, {});
    const caught = await post(visitor, { content: 'Caught', ...trap });
    expect(Object.keys(caught)).toEqual(Object.keys(usual));
    expect(caught).toMatchObject({ productId, content: 'Caught', likes: 0, authorName: 'You' });
  });

  test('is in no list, count or page, and is visible only to its author', async () => {
    const visitor = newVisitor();
    const [older, newer] = [await post(visitor, { content: 'Older', ...trap }), await post(visitor, trap)];
    for (const sort of ['best', 'newest', 'oldest']) expect((await shown(`?sort=${sort}`)).items).toEqual([]);
    expect(await counted()).toEqual([0, 0, 0]);
    expect((await site.ask.get(`/product/${productId}`)).body).not.toContain('Older');
    expect(await held(visitor)).toEqual([newer, older]);
    expect(await held(newVisitor())).toEqual([]);
  });

  test('is held only because of the text in that field; with an empty field, a comment is public', async () => {
    await post(newVisitor(), { website: '' });
    expect(await counted()).toEqual([1, 1, 1]);
  });

  test.each([[1], [{}], [[]], [null]])('is refused if the field is not text: %j', async (website) => {
    const response = await site.ask.post('/api/comments', { productId, content: 'Text', website }, newVisitor());
    expectProblem(response, 400, 'bad_request');
  });

  test('is returned, still held, if it is sent again with its idempotency key', async () => {
    const visitor = newVisitor();
    const key = { 'idempotency-key': randomUUID() };
    const first = await post(visitor, trap, key);
    const again = await site.ask.post('/api/comments', { productId, content: 'Text' }, { ...visitor, ...key });
    expect([again.statusCode, again.json()]).toEqual([200, { comment: first }]);
    expect(await counted()).toEqual([0, 0, 0]);
  });

  test('can be liked by its author, and does not exist for others', async () => {
    const visitor = newVisitor();
    const { id } = await post(visitor, trap);
    const like = (headers: Headers) => site.ask.post(`/api/comments/${id}/like`, undefined, headers);
    // The likes are sent simultaneously, so they are written in one batch.
    const [others, own, again] = await Promise.all([like(newVisitor()), like(visitor), like(visitor)]);
    if (!others || !own || !again) throw new Error('Expected three responses');
    expectProblem(others, 404, 'comment_not_found', 'Comment not found');
    expect([own.json(), again.json()]).toEqual([{ likes: 1 }, { likes: 2 }]);
    expect((await held(visitor))[0]?.likes).toBe(2);
  });
});

describe('GET /api/products/:id/comments/held', () => {
  test.each(BAD_SESSIONS)('refuses a session that is %s', async (_what, headers) => {
    expectProblem(await site.ask.get(`/api/products/${productId}/comments/held`, headers), 400, 'session_required');
  });

  test('is not cacheable', async () => {
    const response = await site.ask.get(`/api/products/${productId}/comments/held`, newVisitor());
    expect(response.headers['cache-control']).toBe('no-store');
  });

  test('returns 404 for an invalid product id', async () => {
    expectProblem(await site.ask.get('/api/products/%00/comments/held', newVisitor()), 404, 'product_not_found');
  });
});

describe('a repeated text', () => {
  test('is held from the third time that one visitor posts it, even on different products', async () => {
    const visitor = newVisitor();
    const other = (await site.addProduct()).id;
    await post(visitor, { content: 'Great!' });
    await post(visitor, { content: 'great!!', productId: other });
    await post(visitor, { content: 'GREAT' });
    expect((await held(visitor)).map(({ content }) => content)).toEqual(['GREAT']);
    expect(await counted()).toEqual([1, 1, 1]);
  });

  test('is held from the fifth time that sessions of one network post it', async () => {
    const content = 'The best tool for a better life, see https://spam.example/';
    const visitors = Array.from({ length: 6 }, newVisitor);
    for (const [index, visitor] of visitors.entries()) await post(visitor, { content: `${content}${index}` });
    expect(await counted()).toEqual([4, 4, 4]);
    expect(await Promise.all(visitors.map(async (visitor) => (await held(visitor)).length))).toEqual([
      0, 0, 0, 0, 1, 1,
    ]);
  });

  test('is not held if the same request is retried', async () => {
    const visitor = newVisitor();
    const key = { 'idempotency-key': randomUUID() };
    const body = { productId, content: 'Only once' };
    for (let tried = 0; tried < 6; tried += 1) await site.ask.post('/api/comments', body, { ...visitor, ...key });
    await post(visitor, { content: 'Only once' });
    expect(await held(visitor)).toEqual([]);
    expect(await counted()).toEqual([2, 2, 2]);
  });
});

describe('the operator', () => {
  test('can list held comments, but not their sessions', async () => {
    const visitor = newVisitor();
    const comment = await post(visitor, trap);
    const [newest] = await browseComments(site.database, { held: true, limit: 1 });
    expect(newest).toEqual({ ...comment, held: true, hidden: null });
    expect(JSON.stringify(newest)).not.toContain(visitor['x-user-session']);
  });

  test('can release comments, which become public, count once, and keep their time and likes, but not their session', async () => {
    const visitor = newVisitor();
    const [first, second] = [await post(visitor, trap), await post(visitor, { content: 'Second', ...trap })];
    await site.ask.post(`/api/comments/${first.id}/like`, undefined, visitor);
    const unknown = randomUUID();
    expect(await releaseComments(site.database, [first.id.toUpperCase(), first.id, unknown])).toMatchObject({
      done: [{ id: first.id, productId }],
      skipped: [unknown],
    });
    expect((await shown()).items).toEqual([{ ...first, likes: 1 }]);
    expect(await counted()).toEqual([1, 1, 1]);
    expect(await held(visitor)).toEqual([second]);
    expect((await releaseComments(site.database, [first.id])).skipped).toEqual([first.id]);
    expect(await counted()).toEqual([1, 1, 1]);
    expect((await site.ask.post(`/api/comments/${first.id}/like`, undefined, newVisitor())).json()).toEqual({
      likes: 2,
    });
  });

  test('can release the same comments several times at once, and each counts once', async () => {
    const visitor = newVisitor();
    const ids = [await post(visitor, trap), await post(visitor, { content: 'Second', ...trap })].map(({ id }) => id);
    await Promise.all([1, 2, 3].map(() => releaseComments(site.database, ids)));
    expect(await counted()).toEqual([2, 2, 2]);
  });
});
