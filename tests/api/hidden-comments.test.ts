import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { AddedComment, Comment, CommentPage, HeldComments } from '../../src/contract/comments/schema.ts';
import type { ProductDetail, ProductPage } from '../../src/contract/products/schema.ts';
import { listAudit } from '../../src/core/audit/audit-log.ts';
import { browseComments } from '../../src/core/comments/browse-comments.ts';
import { hideComments, releaseComments, restoreComments } from '../../src/core/comments/moderate-comments.ts';
import { checkCounts, repairCounts } from '../../src/core/counts/check-counts.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { newVisitor } from '../support/requests.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
let productId: string;

beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});

beforeEach(async () => {
  productId = (await site.addProduct({ id: `p-${randomUUID()}` })).id;
});

afterAll(async () => {
  expect((await checkCounts(site.database, { after: '', limit: 1_000 })).wrong).toEqual([]);
  await site.close();
});

type Headers = Record<string, string>;

async function post(content: string, headers: Headers = newVisitor(), body: object = {}): Promise<Comment> {
  const response = await site.ask.post('/api/comments', { productId, content, ...body }, headers);
  expect(response.statusCode, response.body).toBe(201);
  return response.json<AddedComment>().comment;
}

const shown = async (sort = 'newest') =>
  (await site.ask.json<CommentPage>(`/api/products/${productId}/comments?sort=${sort}`)).items.map(({ id }) => id);
const page = async () => (await site.ask.get(`/product/${productId}`)).body;

async function counted(): Promise<number[]> {
  const { product } = await site.ask.json<ProductDetail>(`/api/products/${productId}`);
  const { items } = await site.ask.json<ProductPage>('/api/products?limit=100');
  const { total } = await site.ask.json<CommentPage>(`/api/products/${productId}/comments`);
  return [product.comments, items.find(({ id }) => id === productId)?.comments ?? -1, total];
}

/** Polls, because the site shows a change made directly in the database only after a notification. */
const soon = (read: () => Promise<unknown>) => expect.poll(read, { interval: 20 });

describe('a hidden comment', () => {
  test('soon disappears from every list, from the page and from the counts', async () => {
    const [hidden, other] = [await post('Buy my watches'), await post('A real thought')];
    expect(await page()).toContain('Buy my watches');
    expect(await counted()).toEqual([2, 2, 2]);

    expect(await hideComments(site.database, [hidden.id])).toMatchObject({
      done: [{ id: hidden.id, productId }],
      skipped: [],
    });
    await soon(page).not.toContain('Buy my watches');
    for (const sort of ['best', 'newest', 'oldest']) await soon(() => shown(sort)).toEqual([other.id]);
    await soon(counted).toEqual([1, 1, 1]);
  });

  test('keeps its likes, and cannot be liked again (404 Comment not found)', async () => {
    const { id } = await post('To be hidden');
    const like = () => site.ask.post(`/api/comments/${id}/like`, undefined, newVisitor());
    expect((await like()).json()).toEqual({ likes: 1 });
    await hideComments(site.database, [id]);
    expectProblem(await like(), 404, 'comment_not_found', 'Comment not found');
    const [row] = await browseComments(site.database, { productId, limit: 1 });
    expect(row?.likes).toBe(1);
  });

  test('is neither returned nor created again for its idempotency key', async () => {
    const visitor = { ...newVisitor(), 'idempotency-key': randomUUID() };
    const { id } = await post('Only once', visitor);
    await hideComments(site.database, [id]);
    const again = await site.ask.post('/api/comments', { productId, content: 'Only once' }, visitor);
    expectProblem(again, 404, 'comment_not_found', 'Comment not found');
    expect(again.body).not.toContain('Only once');
    expect(again.body).not.toContain(id);
    expect((await browseComments(site.database, { productId, limit: 10 })).map((row) => row.id)).toEqual([id]);
  });

  test('is unchanged and counted once after it is restored', async () => {
    const first = await post('First');
    await site.ask.post(`/api/comments/${first.id}/like`, undefined, newVisitor());
    await hideComments(site.database, [first.id], 'off topic');
    await soon(counted).toEqual([0, 0, 0]);
    expect(await restoreComments(site.database, [first.id.toUpperCase(), first.id])).toMatchObject({
      done: [{ id: first.id, productId }],
      skipped: [],
    });
    await soon(counted).toEqual([1, 1, 1]);
    const { items } = await site.ask.json<CommentPage>(`/api/products/${productId}/comments`);
    expect(items).toEqual([{ ...first, likes: 1 }]);
    expect((await restoreComments(site.database, [first.id])).skipped).toEqual([first.id]);
    expect(await counted()).toEqual([1, 1, 1]);
  });

  test('is counted according to its final state after many simultaneous changes', async () => {
    const ids = [(await post('One')).id, (await post('Two')).id];
    await Promise.all([1, 2, 3].flatMap(() => [hideComments(site.database, ids), restoreComments(site.database, ids)]));
    await restoreComments(site.database, ids);
    expect(await repairCounts(site.database, [productId])).toEqual([]);
    await soon(counted).toEqual([2, 2, 2]);
  });
});

describe('a comment that is held and hidden', () => {
  test('does not exist for its author, remains hidden when it is released, and is counted once it is restored', async () => {
    const visitor = newVisitor();
    const { id } = await post('Held', visitor, { website: 'https://spam.example' });
    const held = async () =>
      (await site.ask.json<HeldComments>(`/api/products/${productId}/comments/held`, visitor)).items.length;
    expect(await held()).toBe(1);
    await hideComments(site.database, [id]);
    expect(await held()).toBe(0);
    expectProblem(await site.ask.post(`/api/comments/${id}/like`, undefined, visitor), 404, 'comment_not_found');
    expect((await releaseComments(site.database, [id])).skipped).toEqual([]);
    await soon(counted).toEqual([0, 0, 0]);
    await restoreComments(site.database, [id]);
    await soon(counted).toEqual([1, 1, 1]);
  });

  test('remains held and is not counted when it is restored before it is released', async () => {
    const { id } = await post('Held', newVisitor(), { website: 'https://spam.example' });
    await hideComments(site.database, [id]);
    await restoreComments(site.database, [id]);
    expect(await browseComments(site.database, { held: true, productId, limit: 9 })).toMatchObject([{ id }]);
    await soon(counted).toEqual([0, 0, 0]);
  });
});

describe('the operator', () => {
  test('can find comments by product, by text in any case, and by held or hidden state', async () => {
    const [plain, hidden] = [await post('100% _pure_ STRASSE'), await post('hide me')];
    const held = await post('hold me', newVisitor(), { website: 'x' });
    await hideComments(site.database, [hidden.id], 'spam');
    const find = async (filter: object) =>
      (await browseComments(site.database, { productId, limit: 10, ...filter })).map(({ id }) => id);
    expect((await find({})).sort()).toEqual([plain.id, hidden.id, held.id].sort());
    expect(await find({ hidden: true })).toEqual([hidden.id]);
    expect(await find({ held: true })).toEqual([held.id]);
    expect(await find({ text: 'strasse' })).toEqual([plain.id]);
    expect(await find({ text: '% _' })).toEqual([plain.id]);
    expect(await find({ text: '%me' })).toEqual([]);
    expect((await find({ text: 'E', limit: 1 })).length).toBe(1);
    const [row] = await browseComments(site.database, { hidden: true, productId, limit: 1 });
    expect(row?.hidden).toEqual({ since: expect.stringMatching(/Z$/), reason: 'spam' });
  });

  test('can search more comments than one statement reads, and finds each once, newest first', async () => {
    await site.database.query(
      `INSERT INTO comments (id, product_id, content, created_at)
       SELECT gen_random_uuid(), $1, 'made ' || n, now() - n % 7 * interval '1 day' FROM generate_series(1, 4500) AS n`,
      [productId],
    );
    await repairCounts(site.database, [productId]);
    let scanned = 0;
    const found = await browseComments(site.database, { productId, text: 'Made', limit: 5_000 }, (comments) => {
      scanned = comments;
    });
    expect([scanned, found.length, new Set(found.map(({ id }) => id)).size]).toEqual([4_500, 4_500, 4_500]);
    const times = found.map(({ createdAt }) => createdAt);
    expect(times).toEqual(times.toSorted().toReversed());
  });

  test('finds each change in the audit log, with the comment, product and reason, but without the text', async () => {
    const { id } = await post('A secret text');
    await hideComments(site.database, [id], 'spam');
    await restoreComments(site.database, [id]);
    await hideComments(site.database, [randomUUID()]);
    const [restored, hidden] = await listAudit(site.database, { limit: 2 });
    expect(restored).toMatchObject({ action: 'comments restore', target: id, details: { productId } });
    expect(hidden).toMatchObject({ action: 'comments hide', target: id, details: { productId, reason: 'spam' } });
    expect(JSON.stringify([restored, hidden])).not.toContain('A secret text');
  });
});
