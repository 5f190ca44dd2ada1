import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { rowsReadFrom } from '../../../tests/support/query-plan.ts';
import { recordStatements, type Statement } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { saveProducts } from '../products/save-products.ts';
import { browseComments, type CommentFilter } from './browse-comments.ts';
import { listComments } from './list-comments.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    ['tide', 'ebb', 'many', 'spammed'].map((id) => buildProduct({ id })),
  );
  await database.query(
    `INSERT INTO comments (id, product_id, author_name, content, created_at, held_session, hidden_at, hidden_reason)
     VALUES (gen_random_uuid(), 'tide', 'Ada', 'Hidden wave', '2026-01-01T00:00:01Z', NULL, '2026-01-02T03:04:05.678Z', 'Off topic'),
       (gen_random_uuid(), 'tide', 'You', 'First', '2026-01-01T00:00:02Z', NULL, NULL, NULL),
       (gen_random_uuid(), 'tide', 'You', 'Straße 100%', '2026-01-01T00:00:03Z', NULL, NULL, NULL),
       (gen_random_uuid(), 'ebb', 'You', 'Wave held', '2026-01-01T00:00:04Z', 'session-a', NULL, NULL),
       (gen_random_uuid(), 'ebb', 'You', 'Another WAVE', '2026-01-01T00:00:05Z', NULL, NULL, NULL)`,
  );
});
afterAll(() => database.drop());

async function found(filter: Partial<CommentFilter>): Promise<string[]> {
  return (await browseComments(database, { limit: 99, ...filter })).map(({ content }) => content);
}

test('all comments are listed, newest first, up to the limit, including held and hidden ones', async () => {
  const all = ['Another WAVE', 'Wave held', 'Straße 100%', 'First', 'Hidden wave'];
  expect(await found({})).toEqual(all);
  expect(await found({ limit: 2 })).toEqual(all.slice(0, 2));
  expect(await found({ text: 'wave', limit: 1 })).toEqual(['Another WAVE']);
});

test('the filters for held, hidden, product and text select only matching comments, alone and together', async () => {
  expect(await found({ held: true })).toEqual(['Wave held']);
  expect(await found({ hidden: true })).toEqual(['Hidden wave']);
  expect(await found({ held: true, hidden: true })).toEqual([]);
  expect(await found({ productId: 'tide' })).toEqual(['Straße 100%', 'First', 'Hidden wave']);
  expect(await found({ productId: 'tide', text: 'WAVE' })).toEqual(['Hidden wave']);
  expect(await found({ productId: 'ebb', held: true, text: 'wave' })).toEqual(['Wave held']);
  expect(await found({ productId: 'nothing' })).toEqual([]);
});

test('a search text matches in any case, and each of its characters matches literally', async () => {
  expect(await found({ text: 'wAvE' })).toEqual(['Another WAVE', 'Wave held', 'Hidden wave']);
  expect(await found({ text: '0%' })).toEqual(['Straße 100%']);
  expect(await found({ text: '%' })).toEqual(['Straße 100%']);
  expect(await found({ text: '_' })).toEqual([]);
});

test('each comment shows whether it is held, and when and why it was hidden', async () => {
  const [held] = await browseComments(database, { held: true, limit: 1 });
  const [hidden] = await browseComments(database, { hidden: true, limit: 1 });
  expect(held).toMatchObject({ productId: 'ebb', authorName: 'You', likes: 0, held: true, hidden: null });
  expect(hidden).toMatchObject({ held: false, hidden: { reason: 'Off topic', since: '2026-01-02T03:04:05.678Z' } });
});

test('each statement of a search reads at most 2,000 rows, and the search ends once it has enough matches', async () => {
  // Inserts twice as many rows as one statement reads. All have the same time, so the second statement must continue
  // between rows of equal time.
  await database.query(
    `INSERT INTO comments (id, product_id, content, created_at)
     SELECT gen_random_uuid(), 'many', CASE WHEN n IN (1, 2000, 2001, 4000) THEN 'Rare pearl' ELSE 'Sand' END, '2020-01-01'
     FROM generate_series(1, 4000) AS n`,
  );
  const recorded = recordStatements(database);
  const scanned: number[] = [];
  const search = (text: string, limit: number) =>
    browseComments(recorded.database, { productId: 'many', text, limit }, (rows) => scanned.push(rows));
  expect(await search('pearl', 9)).toHaveLength(4);
  // The second window was full, so a third statement looks for more rows.
  expect(scanned).toEqual([2_000, 4_000, 4_000]);
  for (const { text } of recorded.statements) expect(text).toMatch(/LIMIT 2000$/);
  scanned.length = 0;
  expect(await search('sand', 3)).toHaveLength(3);
  expect(scanned).toEqual([2_000]);
  await database.query(
    "DELETE FROM comments WHERE product_id = 'many' AND id = (SELECT min(id::text)::uuid FROM comments WHERE product_id = 'many')",
  );
  scanned.length = 0;
  await search('nothing like it', 1);
  expect(scanned).toEqual([2_000, 3_999]);
});

// On Citus, the plans are those of the shards.
describe.skipIf(isCitus)('on a product with many held, hidden and public comments', () => {
  const LIMIT = 10;

  beforeAll(async () => {
    await database.query(
      `INSERT INTO comments (id, product_id, content, created_at, held_session, hidden_at)
       SELECT gen_random_uuid(), 'spammed', 'Comment ' || n, '2026-01-01'::timestamptz + n * interval '1 minute',
         CASE WHEN n % 3 = 0 THEN 'session-spam' END, CASE WHEN n % 3 = 1 THEN now() END
       FROM generate_series(1, 6000) AS n`,
    );
    // The newest comments are spam, and the oldest are public.
    await database.query(
      `UPDATE comments SET created_at = created_at + (CASE WHEN held_session IS NULL THEN 0 ELSE 5 END) * interval '1 year'
       WHERE product_id = 'spammed'`,
    );
    await database.query('ANALYZE comments');
  });

  test.each<[string, (sql: Sql) => Promise<unknown>, number]>([
    ['public, best', (sql) => listComments(sql, 'spammed', { sort: 'best', limit: LIMIT }, new Date()), LIMIT + 1],
    ['public, newest', (sql) => listComments(sql, 'spammed', { sort: 'newest', limit: LIMIT }, new Date()), LIMIT + 1],
    ['all', (sql) => browseComments(sql, { productId: 'spammed', limit: LIMIT }), 2 * LIMIT],
    ['held', (sql) => browseComments(sql, { productId: 'spammed', held: true, hidden: false, limit: LIMIT }), LIMIT],
  ])('a page of comments (%s) reads only about as many rows as it lists', async (_list, read, rows) => {
    const { database: recording, statements } = recordStatements(database);
    await read(recording);
    const [statement] = statements;
    expect(statements).toHaveLength(1);
    const rowsRead = await rowsReadFrom(database, 'comments', statement as Statement);
    expect(rowsRead).toBeGreaterThan(0);
    expect(rowsRead).toBeLessThanOrEqual(rows);
  });
});
