import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { searchFrequenciesOf } from './search-frequencies.ts';

const SAMPLE = 2_000;
const HALF_HOUR_MS = 30 * 60_000;

const products = makeProducts(SAMPLE + 500, (n) => ({
  // `every` counts once per text. `zonk` is only in the oldest products, which are not in the sample.
  description: ['every every', ...(n % 4 === 0 ? ['quart §'] : []), ...(n <= 500 ? ['zonk'] : [])].join(' '),
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

test('a frequency is the share of the newest products with a trigram or n-gram; rare and unseen ones count as occurring in one product', async () => {
  const frequencyOf = await searchFrequenciesOf(database);
  expect(['eve', 'qua', 'xyl', 'vrk', 'zon', 'abc'].map(frequencyOf)).toEqual([
    1,
    0.25,
    4 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
  ]);
  expect(['§', '東'].map((character) => frequencyOf(character.charCodeAt(0)))).toEqual([0.25, 1 / SAMPLE]);
});

test('on a site with fewer products than a sample, every frequency is 1, so searches scan the list', async () => {
  const frequencyOf = await searchFrequenciesOf(short);
  expect(['eve', 'abc'].map(frequencyOf)).toEqual([1, 1]);
});

test('frequencies are sampled again after half an hour, and the previous ones are used until the sampling ends', async () => {
  const recorded = recordStatements(database);
  const first = searchFrequenciesOf(recorded.database);
  expect(searchFrequenciesOf(recorded.database)).toBe(first);
  const before = await first;
  vi.advanceTimersByTime(HALF_HOUR_MS - 1);
  expect(await searchFrequenciesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await searchFrequenciesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(2);
  await expect.poll(() => searchFrequenciesOf(recorded.database)).not.toBe(before);
  expect(recorded.statements).toHaveLength(2);
});

test('the next request repeats a failed sampling', async () => {
  let fails = true;
  const failing = {
    ...database,
    query: ((text, values) =>
      fails ? Promise.reject(new Error('away')) : database.query(text, values)) as TestDatabase['query'],
  };
  await expect(searchFrequenciesOf(failing)).rejects.toThrow('away');
  fails = false;
  expect((await searchFrequenciesOf(failing))('eve')).toBe(1);
});

test('sampling yields to other work', async () => {
  let turns = 0;
  let isSampling = true;
  const count = () => {
    turns += 1;
    if (isSampling) setImmediate(count);
  };
  const rows = await database.query(
    'SELECT search_text, search_grams FROM products ORDER BY created_at DESC, id DESC LIMIT 2000',
  );
  const atOnce = { ...database, query: (async () => rows) as TestDatabase['query'] };
  const sampling = searchFrequenciesOf(atOnce);
  setImmediate(count);
  await sampling;
  isSampling = false;
  expect(turns).toBeGreaterThanOrEqual(SAMPLE / 50 - 2);
});
