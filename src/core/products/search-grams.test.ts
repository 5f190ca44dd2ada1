import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { idsMatching, makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { planOf } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { PACKAGE_FOLDERS } from '../../settings/package-root.ts';
import type { Database } from '../database/database.ts';
import { foldText, searchTextOf } from '../search-text.ts';
import { listProducts } from './list-products.ts';
import { lookupGramsOf, searchGramsOf } from './search-grams.ts';

const code = (character: string) => character.codePointAt(0) ?? 0;
const pair = (first: string, second: string) => (code(first) << 16) ^ code(second);

describe('searchGramsOf', () => {
  test.each([
    ['exclude common English characters and pairs', 'the data of your team, every day.', []],
    ['include rare pairs of letters', 'zq', [pair('z', 'q')]],
    ['include rare symbols, and pairs with them', 'c++', [pair('c', '+'), code('+'), pair('+', '+')]],
    ['include characters and pairs of other scripts', '東京', [code('東'), code('京'), pair('東', '京')]],
    ['include no pairs with white space', 'a % é\n🌊', [code('%'), code('é'), code('🌊')]],
    ['are listed once each', '🌊🌊🌊 🌊', [code('🌊'), pair('🌊', '🌊')]],
    ['are an empty list if the text is empty', '', []],
  ])('the n-grams of a text %s', (_what, text, grams) => {
    expect(searchGramsOf(text).toSorted()).toEqual(grams.toSorted());
  });

  test.each(['\u{10ffff}\u{10ffff}', '\uffff\uffff', '\ud7ff\ue000', '\u{1f30a}\u{20000}'])(
    'n-grams fit into an integer of PostgreSQL (case %#)',
    (text) => {
      const grams = searchGramsOf(text);
      expect(Array.from(Int32Array.from(grams))).toEqual(grams);
    },
  );

  test('texts of the sample catalogue have fewer than two n-grams on average', () => {
    const products: { name: string; description: string }[] = JSON.parse(
      readFileSync(join(PACKAGE_FOLDERS.catalogue, 'products.json'), 'utf8'),
    );
    const sizes = products.map((product) => searchGramsOf(searchTextOf(product)).length);
    expect(sizes.length).toBeGreaterThan(50);
    expect(sizes.reduce((sum, size) => sum + size, 0) / sizes.length).toBeLessThan(2);
  });
});

describe('lookupGramsOf', () => {
  test.each([
    ['include a pair without its characters', '東京', [pair('東', '京')]],
    ['include a character that is in no pair', '京 c+', [code('京'), pair('c', '+')]],
    ['include a rare character', '§', [code('§')]],
    ['exclude a common pair', 'th', []],
    ['exclude a common character', 'e', []],
    ['include a pair that has the same number as its second character', '\u{20000}世', [code('世')]],
  ])('the n-grams to look up for a term %s', (_what, term, grams) => {
    expect(lookupGramsOf(term).toSorted()).toEqual(grams.toSorted());
  });

  test('the n-grams to look up for a term are among the n-grams of every text that contains the term', () => {
    const unit = fc.oneof(
      fc.constantFrom(...'abqxz 0%_\\+\n東京é\u0301🌊\u{20000}\u200d'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    );
    const part = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''));
    fc.assert(
      fc.property(part, part, part, (before, term, after) => {
        const text = foldText(before) + foldText(term) + foldText(after);
        expect(searchGramsOf(text)).toEqual(expect.arrayContaining(lookupGramsOf(foldText(term))));
      }),
      { numRuns: 2_000 },
    );
  });
});

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
  // Only the oldest products contain the searched characters, so a scan of the first window does not find all matches.
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

test('a term of three letters beyond ASCII is looked up by n-grams only if the locale has only ASCII letters', async () => {
  expect((await find(ascii, '京都数')).lookups).toBeGreaterThan(0);
  expect((await find(database, '京都数')).lookups).toBe(0);
});

test('terms of common characters are searched without n-grams', async () => {
  for (const term of ['ea', 'ab', 'a']) expect((await find(database, term)).lookups, term).toBe(0);
});

// On Citus, the plans are those of the shards.
describe.skipIf(isCitus)('the plan of a lookup', () => {
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
    // Flushes the pending entries of this index, as imports do.
    await fresh.query("SELECT gin_clean_pending_list('products_grams')");
    client = new pg.Client({ connectionString: fresh.url });
    await client.connect();
  });
  afterAll(async () => {
    await client.end();
    await fresh.drop();
  });

  test.each([['before the first ANALYZE'], ['after ANALYZE']])(
    'a lookup uses the index of n-grams %s',
    async (when) => {
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
    },
  );
});
