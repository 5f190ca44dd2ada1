import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { trigramSharesOf } from './search-shares.ts';

const SAMPLE = 2_000;
const HALF_HOUR_MS = 30 * 60_000;

const products = makeProducts(SAMPLE + 500, (n) => ({
  // The oldest are not among those that are looked at; a word twice in a text counts once.
  description: ['every every', ...(n % 4 === 0 ? ['quart'] : []), ...(n <= 500 ? ['zonk'] : [])].join(' '),
  tags: [],
}));
const withWord = (word: string, from: number, count: number) =>
  products.slice(from, from + count).map((product) => ({ ...product, description: `${product.description} ${word}` }));
products.splice(600, 7, ...withWord('xyl', 600, 4), ...withWord('vrk', 604, 3));

let database: TestDatabase;
let short: TestDatabase;
beforeAll(async () => {
  [database, short] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await storeProducts(database, products);
  await storeProducts(short, products.slice(0, SAMPLE - 1));
});
afterAll(() => Promise.all([database.drop(), short.drop()]));

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

test('the share of the newest products that hold a trigram; of one that is hardly seen, of one product', async () => {
  const shareOf = await trigramSharesOf(database);
  expect(['eve', 'qua', 'xyl', 'vrk', 'zon', 'abc'].map(shareOf)).toEqual([
    1,
    0.25,
    4 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
  ]);
});

test('in a short list nothing is rare: looking at all of it costs less than an index', async () => {
  const shareOf = await trigramSharesOf(short);
  expect(['eve', 'abc'].map(shareOf)).toEqual([1, 1]);
});

test('it is learnt once in half an hour; meanwhile, and while it is learnt again, the last is good enough', async () => {
  const recorded = recordStatements(database);
  const first = trigramSharesOf(recorded.database);
  expect(trigramSharesOf(recorded.database)).toBe(first);
  const before = await first;
  vi.advanceTimersByTime(HALF_HOUR_MS - 1);
  expect(await trigramSharesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await trigramSharesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(2);
  await expect.poll(() => trigramSharesOf(recorded.database)).not.toBe(before);
  expect(recorded.statements).toHaveLength(2);
});

test('what could not be learnt is learnt at the next question', async () => {
  let fails = true;
  const failing = {
    ...database,
    query: ((text, values) =>
      fails ? Promise.reject(new Error('away')) : database.query(text, values)) as TestDatabase['query'],
  };
  await expect(trigramSharesOf(failing)).rejects.toThrow('away');
  fails = false;
  expect((await trigramSharesOf(failing))('eve')).toBe(1);
});

test('others have their turn while much is counted', async () => {
  let turns = 0;
  let learning = true;
  const count = () => {
    turns += 1;
    if (learning) setImmediate(count);
  };
  const rows = await database.query('SELECT search_text FROM products ORDER BY created_at DESC, id DESC LIMIT 2000');
  const atOnce = { ...database, query: (async () => rows) as TestDatabase['query'] };
  const learnt = trigramSharesOf(atOnce);
  setImmediate(count);
  await learnt;
  learning = false;
  expect(turns).toBeGreaterThanOrEqual(SAMPLE / 50 - 2);
});
