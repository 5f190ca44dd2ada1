import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idsMatching, makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { planOf } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Database } from '../database/database.ts';
import { foldText } from '../search-text.ts';
import { listProducts } from './list-products.ts';

/** Creates a reproducible generator of random numbers: the multiplicative congruential generator of Park and Miller. */
function createRandom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const random = createRandom(17);
/** Common and rare characters: other scripts, surrogate pairs, combining characters, wildcards of LIKE. */
const CHARACTERS = [
  ...'aaeqzxjß%_\\+§#東京都数Жжéñ한',
  'e\u0301',
  '\u0302',
  '🌊',
  '👩\u200d💻',
  '\u{20000}',
  'ﬁ',
  'İ',
  ' ',
  ' ',
];
const pick = () => CHARACTERS[random(CHARACTERS.length)] ?? '';
const textOf = (length: number) => Array.from({ length }, pick).join('');

const products = makeProducts(3_000, (n) => ({
  // Old products have all characters, so a scan of the first window does not find all matches.
  description: n < 700 ? `Ab ${textOf(4)} ${textOf(random(8))}` : 'Ab',
  tags: n % 2 === 0 ? ['even'] : [],
}));
const TERMS = [
  ...Array.from({ length: 60 }, () => textOf(1 + random(3)).trim()),
  ...[
    'c++',
    '++',
    '%',
    '_',
    '\\',
    '%_',
    '\\%',
    '§§',
    '🌊🌊',
    '東',
    '東京',
    '京都数',
    'é',
    'e\u0301',
    '\u0301',
    'ss',
    'b',
  ],
].filter((term) => term !== '');

let database: TestDatabase;
let ascii: TestDatabase;
beforeAll(async () => {
  [database, ascii] = await Promise.all([createTestDatabase(), createTestDatabase({ locale: 'C' })]);
  for (const each of [database, ascii]) await storeProducts(each, products);
});
afterAll(() => Promise.all([database.drop(), ascii.drop()]));

/** Reads all pages of a search. @returns the ids, and the number of lookups by n-grams. */
async function find(sql: Database, q: string, tag = '') {
  const recorded = recordStatements(sql);
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await listProducts(recorded.database, { q, tag, cursor, limit: 100 }, new Date());
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  const lookups = recorded.statements.filter(({ text }) => text.includes('search_grams @>')).length;
  return { ids, lookups };
}

describe.each([
  ['C.UTF-8', () => database],
  ['C', () => ascii],
])('in a database with locale %s', (_locale, databaseOf) => {
  test('searches by n-grams find exactly the products that contain the term', async () => {
    let lookups = 0;
    let found = 0;
    for (const term of TERMS) {
      const result = await find(databaseOf(), term);
      expect(result.ids, JSON.stringify(term)).toEqual(
        idsMatching(products, { term: foldText(term), tag: '', sort: 'newest' }),
      );
      lookups += result.lookups;
      found += result.ids.length;
    }
    expect(lookups).toBeGreaterThan(TERMS.length / 2);
    expect(found).toBeGreaterThan(TERMS.length);
  });

  test('a tag narrows searches by n-grams', async () => {
    for (const term of ['東', '§', '+', 'zq']) {
      const { ids, lookups } = await find(databaseOf(), term, 'even');
      expect(ids, term).toEqual(idsMatching(products, { term, tag: 'even', sort: 'newest' }));
      expect(lookups).toBeGreaterThan(0);
    }
  });
});

test('terms of three letters are looked up by n-grams if the locale knows only ASCII letters', async () => {
  expect((await find(ascii, '京都数')).lookups).toBeGreaterThan(0);
  expect((await find(database, '京都数')).lookups).toBe(0);
});

test('terms of common characters are searched without n-grams', async () => {
  for (const term of ['ea', 'ab', 'a']) expect((await find(database, term)).lookups, term).toBe(0);
});

describe('the lookup uses the index of n-grams', () => {
  let fresh: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    fresh = await createTestDatabase();
    // The server must not analyze the table during the test.
    await fresh.query('ALTER TABLE products SET (autovacuum_enabled = off)');
    const many = makeProducts(20_000, (n) => ({
      description: n % 4_000 === 0 ? 'Wave 🌊東' : 'Plain words',
      tags: [],
    }));
    await storeProducts(fresh, many);
    // Imports flush the pending entries of this index, too.
    await fresh.query("SELECT gin_clean_pending_list('products_grams')");
    client = new pg.Client({ connectionString: fresh.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await fresh.drop();
  });

  test.each([['before the first ANALYZE'], ['after ANALYZE']])('%s', async (when) => {
    if (when.startsWith('after')) await fresh.query('ANALYZE products');
    for (const q of ['🌊', '🌊東', '§']) {
      const recorded = recordStatements(fresh);
      await listProducts(recorded.database, { q }, new Date());
      const lookup = recorded.statements.find(({ text }) => text.includes('search_grams @>'));
      if (lookup === undefined) return expect.unreachable(`no lookup of ${q}`);
      for (const mode of ['custom', 'generic'] as const) {
        const plan = await planOf(client, lookup, mode);
        const indexes = plan.map((node) => node['Index Name']);
        expect(indexes, `${mode}, ${q}`).toContain('products_grams');
        expect(plan.map((node) => node['Node Type'])).not.toContain('Seq Scan');
      }
    }
  });
});
