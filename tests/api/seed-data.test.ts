import { afterEach, expect, test } from 'vitest';
import { fillDatabase } from '../../bench/seed/fill.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

const SIZES = { products: 300, upvotes: 2_000, comments: 900, seed: 3 };

const opened: TestDatabase[] = [];

afterEach(async () => {
  for (const database of opened.splice(0)) await database.drop();
});

async function filled(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  opened.push(database);
  await fillDatabase(database.url, SIZES);
  return database;
}

const DIGEST = `SELECT (SELECT md5(string_agg(p::text, '' ORDER BY p.id)) FROM products p) AS products,
  (SELECT md5(string_agg(u::text, '' ORDER BY u.id)) FROM upvotes u) AS upvotes,
  (SELECT md5(string_agg(c::text, '' ORDER BY c.id)) FROM comments c) AS comments`;

test('the same options generate the same rows', async () => {
  const [first, second] = [await filled(), await filled()];
  expect(await first.query(DIGEST)).toEqual(await second.query(DIGEST));
});

test('the numbers of rows are as requested, counts match the rows, and a product has far more upvotes than average', async () => {
  const database = await filled();
  const [found] = await database.query<{ wrong: number; upvotes: number; comments: number; most: number }>(
    `SELECT count(*) FILTER (WHERE c.upvotes <> u.rows OR c.comments <> m.rows)::integer AS wrong,
       sum(u.rows)::integer AS upvotes, sum(m.rows)::integer AS comments, max(u.rows)::integer AS most
     FROM product_counts c,
       LATERAL (SELECT count(*) AS rows FROM upvotes WHERE product_id = c.product_id) u,
       LATERAL (SELECT count(*) AS rows FROM comments WHERE product_id = c.product_id) m`,
  );
  expect(found).toMatchObject({ wrong: 0, upvotes: SIZES.upvotes, comments: SIZES.comments });
  expect(found?.most).toBeGreaterThan((5 * SIZES.upvotes) / SIZES.products);
});

test('after a database is filled, it has the same indexes, keys and foreign keys as before', async () => {
  const database = await createTestDatabase();
  opened.push(database);
  const rules = () =>
    database.query(
      `SELECT indexdef AS rule FROM pg_indexes WHERE schemaname = 'public'
       UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace ORDER BY rule`,
    );
  const before = await rules();
  await fillDatabase(database.url, SIZES);
  expect(await rules()).toEqual(before);
});

test('a database with products is refused', async () => {
  const database = await filled();
  const before = await database.query(DIGEST);
  await expect(fillDatabase(database.url, { ...SIZES, seed: 4 })).rejects.toThrow('already contains products');
  expect(await database.query(DIGEST)).toEqual(before);
});
