import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { holdSnapshot } from '../database/transactions.ts';
import { readRows, readTableShapes, type TableShape, writeRows } from './site-tables.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await database.query(`CREATE TABLE oddities (
    id text COLLATE "C" PRIMARY KEY, words text, list text[], document jsonb, moment timestamptz, amount numeric, flag boolean)`);
});
afterAll(() => database.drop());
beforeEach(() => database.query('TRUNCATE oddities'));

async function shapeOf(name: string): Promise<TableShape> {
  const [shape] = await readTableShapes(database, [name]);
  if (shape === undefined) throw new Error('No shape');
  return shape;
}

function batchesOf(shape: TableShape, batchRows?: number): Promise<string[][]> {
  return database.transaction(async (sql) => {
    await holdSnapshot(sql);
    const batches: string[][] = [];
    for await (const batch of readRows(sql, shape, batchRows)) batches.push(batch);
    return batches;
  });
}

async function linesOf(shape: TableShape, batchRows?: number): Promise<string[]> {
  return (await batchesOf(shape, batchRows)).flat();
}

test('columns and keys are read from the database, in order', async () => {
  await database.query('CREATE TABLE pairs (a integer, gone text, z integer, b uuid, PRIMARY KEY (z, a))');
  await database.query('ALTER TABLE pairs DROP COLUMN gone');
  const [pairs, upvotes] = await readTableShapes(database, ['pairs', 'upvotes']);
  expect(pairs).toEqual({ name: 'pairs', columns: ['a', 'z', 'b'], key: ['z', 'a'] });
  expect(upvotes?.key).toEqual(['product_id', 'user_session']);
  await expect(readTableShapes(database, ['nothing'])).rejects.toThrow('Table nothing does not exist');
});

test('values that JavaScript cannot represent are copied exactly', async () => {
  await database.query(`INSERT INTO oddities VALUES
    ('a', NULL, '{}', '{"n": 12345678901234567890.000100, "e": 1e400}', '2026-01-02 03:04:05.678901+00', 0.10000000000000000000001, true),
    ('b', '', '{NULL,"","NULL","a,b","{}"}', NULL, 'infinity', 'NaN', NULL),
    ('c', E'\\\\ " \\b\\f\\n\\r\\t\\u0001\\u007f\\u2028\\u202e', '{"\\\\ \\" x"}', '[[], {}, null, "\\\\u0001"]', '0001-01-01 00:00:00+00', -0, false)`);
  const shape = await shapeOf('oddities');
  const lines = await linesOf(shape);
  expect(lines).toHaveLength(3);
  expect(lines.join('')).not.toContain('\n');
  expect(lines[0]).toContain('"2026-01-02T03:04:05.678901+00:00"');
  const before = await database.query('SELECT oddities::text FROM oddities ORDER BY id');

  await database.query('TRUNCATE oddities');
  await writeRows(database, shape, lines);
  expect(await database.query('SELECT oddities::text FROM oddities ORDER BY id')).toEqual(before);
  expect(await linesOf(shape, 1)).toEqual(lines);
});

test('large parts of tallies are read in small batches, which bounds the memory of a backup', async () => {
  await database.query("INSERT INTO products (id) VALUES ('a')");
  await database.query(`INSERT INTO tally_parts (product_id, part, day, votes, content)
    SELECT 'a', part, '2026-11-21', 5000, decode(repeat('ab', 120000), 'hex') FROM generate_series(1, 50) AS part`);
  const batches = await batchesOf(await shapeOf('tally_parts'));
  expect(batches.flat()).toHaveLength(50);
  expect(Math.max(...batches.map((batch) => batch.join('').length))).toBeLessThan(4_000_000);
});

test('any text that PostgreSQL can store is copied exactly', async () => {
  const shape = await shapeOf('oddities');
  const anyText = fc.string({ unit: 'binary', maxLength: 40 }).filter((text) => !text.includes('\0'));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(anyText, fc.array(anyText)), { minLength: 1, maxLength: 8 }), async (rows) => {
      await database.query('TRUNCATE oddities');
      const made = rows.map(([words, list], index) => ({ id: `${index}`, words, list, document: { [words]: list } }));
      await database.query(
        `INSERT INTO oddities (id, words, list, document)
         SELECT id, words, list, document FROM jsonb_to_recordset($1::jsonb) AS row (id text, words text, list text[], document jsonb)`,
        [JSON.stringify(made)],
      );
      const lines = await linesOf(shape);
      await database.query('TRUNCATE oddities');
      await writeRows(database, shape, lines);
      expect(await database.query('SELECT id, words, list, document FROM oddities ORDER BY id')).toEqual(made);
      expect(await linesOf(shape)).toEqual(lines);
    }),
    { numRuns: 100 },
  );
});
