import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { saveProducts } from './save-products.ts';
import { isIndexed, searchIndexOf } from './search-trigrams.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('a migrated database has a search index that supports letters of every script', async () => {
  expect(await searchIndexOf(database)).toBe('unicode');
});

test('the index is checked once a minute, so a dropped index is noticed', async () => {
  const { database: sql, statements } = recordStatements(database);
  expect(await Promise.all([searchIndexOf(sql), searchIndexOf(sql)])).toEqual(['unicode', 'unicode']);
  expect(statements).toHaveLength(2);
  await database.query('DROP INDEX products_search');
  vi.advanceTimersByTime(59_999);
  expect(await searchIndexOf(sql)).toBe('unicode');
  vi.advanceTimersByTime(1);
  expect(await searchIndexOf(sql)).toBe('none');
  expect(statements).toHaveLength(3);
  await database.query('CREATE INDEX products_search ON products USING gin (search_text gin_trgm_ops)');
});

test('an index whose build failed is not used', async () => {
  await saveProducts(database, [buildProduct()]);
  await database.query('DROP INDEX products_search');
  const building = database.query(
    'CREATE INDEX CONCURRENTLY products_search ON products ((1 / (length(id) - length(id))))',
  );
  await expect(building).rejects.toMatchObject({ code: '22012' });
  expect(await searchIndexOf(recordStatements(database).database)).toBe('none');
  await database.query('DROP INDEX IF EXISTS products_search');
  await database.query('CREATE INDEX products_search ON products USING gin (search_text gin_trgm_ops)');
});

test('in a database whose locale has only ASCII letters, the index supports only ASCII letters', async () => {
  const ascii = await createTestDatabase({ locale: 'C' });
  try {
    expect(await searchIndexOf(ascii)).toBe('ascii');
  } finally {
    await ascii.drop();
  }
});

test('the next request repeats a failed check', async () => {
  let fails = true;
  const sql: Sql = {
    query: (text, values) => (fails ? Promise.reject(new Error('away')) : database.query(text, values)),
  };
  await expect(searchIndexOf(sql)).rejects.toThrow('away');
  fails = false;
  expect(await searchIndexOf(sql)).toBe('unicode');
});

test.each([
  ['abc', [false, true, true]],
  ['ab', [false, false, false]],
  ['a b c', [false, false, false]],
  ['x ab1 y', [false, true, true]],
  ['ёжик', [false, false, true]],
  ['東京都', [false, false, true]],
  ['東京', [false, false, false]],
  ['c++', [false, false, false]],
  ['🌊🌊🌊', [false, false, false]],
] as const)('isIndexed of %s without an index, with an ASCII index and with a Unicode index is %j', (term, known) => {
  expect((['none', 'ascii', 'unicode'] as const).map((index) => isIndexed(term, index))).toEqual(known);
});
