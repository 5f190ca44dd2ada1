import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { CommentSort } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { saveProducts } from '../products/save-products.ts';
import { isCommentCursor, listComments, listHeldComments } from './list-comments.ts';
import { hideComments } from './moderate-comments.ts';

let database: TestDatabase;

/** Adds comments with these numbers of likes, each one second newer than the one before. @returns their ids. */
async function addWithLikes(productId: string, likes: readonly number[], heldSession: string | null = null) {
  const rows = await database.query<{ id: string }>(
    `WITH added AS (
       INSERT INTO comments (id, product_id, content, likes, created_at, held_session)
       SELECT gen_random_uuid(), $1, $1 || ' ' || (n - 1), likes, '2026-01-01'::timestamptz + n * interval '1 second', $3
       FROM unnest($2::integer[]) WITH ORDINALITY AS given (likes, n)
       RETURNING id, created_at
     ), counted AS (
       UPDATE product_counts SET comments = comments + cardinality($2::integer[]) WHERE product_id = $1 AND $3::text IS NULL
     )
     SELECT id FROM added ORDER BY created_at`,
    [productId, likes, heldSession],
  );
  return rows.map(({ id }) => id);
}

beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    ['tide', 'ebb', 'calm', 'held'].map((id) => buildProduct({ id })),
  );
  await addWithLikes('tide', [2, 0, 2, 7, 0]);
  await addWithLikes('ebb', [1]);
});
afterAll(() => database.drop());

const contents = (page: { items: readonly { content: string }[] }) => page.items.map(({ content }) => content);
const numbers = (order: string) => order.split('').map((index) => `tide ${index}`);

describe('the comments of one product', () => {
  test.each<[CommentSort | undefined, string]>([
    ['best', '32041'],
    ['newest', '43210'],
    ['oldest', '01234'],
    [undefined, '32041'],
  ])('with sort=%s, one page and pages of two list the same comments, in order', async (sort, order) => {
    const query = sort === undefined ? {} : { sort };
    const whole = await listComments(database, 'tide', query, new Date());
    expect(contents(whole)).toEqual(numbers(order));
    expect(whole).toMatchObject({ total: 5, nextCursor: null });
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page = await listComments(database, 'tide', { ...query, limit: 2, cursor }, new Date());
      expect(page.total).toBe(5);
      expect(page.items.length).toBeLessThanOrEqual(2);
      paged.push(...contents(page));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(contents(whole));
  });

  test('a product without comments has an empty page', async () => {
    expect(await listComments(database, 'calm', {}, new Date())).toEqual({ items: [], total: 0, nextCursor: null });
  });

  test('an unknown or invalid product id gets product_not_found', async () => {
    for (const id of ['nothing', 'Not an id', 'x\0y']) {
      await expect(listComments(database, id, {}, new Date())).rejects.toMatchObject({ code: 'product_not_found' });
    }
  });

  test('a product without a row of counts has a total of zero', async () => {
    await database.query("DELETE FROM product_counts WHERE product_id = 'calm'");
    expect(await listComments(database, 'calm', {}, new Date())).toMatchObject({ total: 0 });
  });

  test('a page has 30 comments by default', async () => {
    await addWithLikes('held', Array(LIMITS.pageSize.default + 1).fill(0));
    const page = await listComments(database, 'held', {}, new Date());
    expect([page.items.length, page.nextCursor === null]).toEqual([30, false]);
  });
});

test('a cursor is valid only for the sort order that issued it', async () => {
  const cursor = (await listComments(database, 'tide', { sort: 'newest', limit: 1 }, new Date())).nextCursor ?? '';
  expect(isCommentCursor(cursor, 'newest')).toBe(true);
  expect(isCommentCursor(cursor, 'oldest')).toBe(false);
  expect(isCommentCursor(cursor, 'best')).toBe(false);
  await expect(listComments(database, 'tide', { sort: 'oldest', cursor }, new Date())).rejects.toMatchObject({
    code: 'bad_cursor',
  });
});

describe('held comments', () => {
  test('held comments are listed only for their session and product, newest first, without hidden ones', async () => {
    const ids = await addWithLikes('ebb', [0, 0, 0], 'session-a');
    await hideComments(database, ids.slice(0, 1));
    expect(contents(await listHeldComments(database, 'ebb', 'session-a'))).toEqual(['ebb 2', 'ebb 1']);
    expect(await listHeldComments(database, 'ebb', 'session-b')).toEqual({ items: [] });
    expect(await listHeldComments(database, 'tide', 'session-a')).toEqual({ items: [] });
  });

  test('the list of held comments is empty for an unknown product, and an invalid product id gets product_not_found', async () => {
    await expect(listHeldComments(database, 'x\0y', 'session-a')).rejects.toMatchObject({ code: 'product_not_found' });
    expect(await listHeldComments(database, 'nothing', 'session-a')).toEqual({ items: [] });
  });
});
