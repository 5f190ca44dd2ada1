import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { rarePartsOf, trigramFrequenciesOf, trigramsOf } from './search-trigrams.ts';

const shares = (known: Record<string, number>) => (trigram: string) => known[trigram] ?? 1 / 2_000;

test('trigrams are consecutive letters and digits, in characters', () => {
  const textsOf = (text: string) => Array.from(trigramsOf(text, 'unicode'), (trigram) => trigram.text);
  expect(textsOf('c++ for web2')).toEqual(['for', 'web', 'eb2']);
  expect(textsOf('𠮷野家𠮷野')).toEqual(['𠮷野家', '野家𠮷', '家𠮷野']);
  expect(Array.from(trigramsOf('ёжик abc', 'ascii'), (trigram) => trigram.text)).toEqual(['abc']);
  expect(Array.from(trigramsOf('abc', 'none'))).toEqual([]);
});

test('the rarest trigrams are chosen, in the order of the term, until few candidates are left', () => {
  const frequencyOf = shares({ the: 0.5, her: 0.3, erm: 0.02, rmo: 0.01, mos: 0.1, ost: 0.2, sta: 0.3, tat: 0.05 });
  const { parts, share } = rarePartsOf('thermostat', 'unicode', frequencyOf);
  expect(parts).toEqual(['ermo', 'tat']);
  expect(share).toBe(0.01);
});

test('adjacent trigrams are separate parts, and overlapping ones are one', () => {
  expect(rarePartsOf('abcxyz', 'unicode', shares({ bcx: 1, cxy: 1 })).parts).toEqual(['abc', 'xyz']);
  expect(rarePartsOf('abcde', 'unicode', shares({ bcd: 1 })).parts).toEqual(['abcde']);
});

test('if all trigrams are frequent, the whole term is used', () => {
  expect(rarePartsOf('is on the', 'unicode', shares({ the: 0.5 }))).toEqual({ parts: [], share: 0.5 });
});

test('a term without trigrams has an unknown frequency', () => {
  expect(rarePartsOf('c++', 'unicode', shares({}))).toEqual({ parts: [], share: 1 });
});

test('a repeated trigram in the term does not narrow the search further', () => {
  expect(rarePartsOf('aaaaaa', 'unicode', shares({ aaa: 0.01 }))).toEqual({ parts: [], share: 0.01 });
});

test('at most five trigrams are used, even if the sixth would narrow more', () => {
  // Five trigrams leave 19 of 100,000 products, which is too many; six would leave 3.
  expect(rarePartsOf('abcdefgh', 'unicode', () => 0.18)).toEqual({ parts: [], share: 0.18 });
});

test('the parts occur in the term in order', () => {
  const term = 'aaaa-bcbcbc 東京都東京都';
  const { parts } = rarePartsOf(term, 'unicode', shares({}));
  let end = 0;
  for (const part of parts) {
    const start = term.indexOf(part, end);
    expect(start).toBeGreaterThanOrEqual(end);
    end = start + part.length;
  }
  expect(parts.length).toBeGreaterThan(0);
});

const SAMPLE = 2_000;
const HALF_HOUR_MS = 30 * 60_000;

const products = makeProducts(SAMPLE + 500, (n) => ({
  // `every` counts once per text. `zonk` is only in the oldest products, which are not in the sample.
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

test('a frequency is the share of the newest products with a trigram; an unseen trigram counts as one product', async () => {
  const frequencyOf = await trigramFrequenciesOf(database);
  expect(['eve', 'qua', 'xyl', 'vrk', 'zon', 'abc'].map(frequencyOf)).toEqual([
    1,
    0.25,
    4 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
    1 / SAMPLE,
  ]);
});

test('a short list is always scanned, because reading all of it costs less than an index', async () => {
  const frequencyOf = await trigramFrequenciesOf(short);
  expect(['eve', 'abc'].map(frequencyOf)).toEqual([1, 1]);
});

test('frequencies are learnt every half hour; until then, and while learning, the last ones are used', async () => {
  const recorded = recordStatements(database);
  const first = trigramFrequenciesOf(recorded.database);
  expect(trigramFrequenciesOf(recorded.database)).toBe(first);
  const before = await first;
  vi.advanceTimersByTime(HALF_HOUR_MS - 1);
  expect(await trigramFrequenciesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(1);
  vi.advanceTimersByTime(1);
  expect(await trigramFrequenciesOf(recorded.database)).toBe(before);
  expect(recorded.statements).toHaveLength(2);
  await expect.poll(() => trigramFrequenciesOf(recorded.database)).not.toBe(before);
  expect(recorded.statements).toHaveLength(2);
});

test('failed learning is repeated by the next request', async () => {
  let fails = true;
  const failing = {
    ...database,
    query: ((text, values) =>
      fails ? Promise.reject(new Error('away')) : database.query(text, values)) as TestDatabase['query'],
  };
  await expect(trigramFrequenciesOf(failing)).rejects.toThrow('away');
  fails = false;
  expect((await trigramFrequenciesOf(failing))('eve')).toBe(1);
});

test('counting yields to other work', async () => {
  let turns = 0;
  let learning = true;
  const count = () => {
    turns += 1;
    if (learning) setImmediate(count);
  };
  const rows = await database.query('SELECT search_text FROM products ORDER BY created_at DESC, id DESC LIMIT 2000');
  const atOnce = { ...database, query: (async () => rows) as TestDatabase['query'] };
  const learnt = trigramFrequenciesOf(atOnce);
  setImmediate(count);
  await learnt;
  learning = false;
  expect(turns).toBeGreaterThanOrEqual(SAMPLE / 50 - 2);
});
