import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { declaredDefaults } from '../../../tests/support/declared-defaults.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { idsMatching, makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements, withoutTimeouts } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { ProductSort } from '../../contract/products/schema.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { type Search, searchProducts } from './search-products.ts';

const SORTS: ProductSort[] = ['newest', 'top', 'discussed'];
const PEARLS = [3, 2_500, 5_499];

const products = makeProducts(5_500, (n) => ({
  description: [
    'Common words',
    ...(n % 10 === 0 ? ['tenth'] : []),
    ...(PEARLS.includes(n) ? ['pearl'] : []),
    // Matches some products, but none of the newest 500.
    ...(n % 30 === 0 && n > 4_000 && n <= 4_900 ? ['coral'] : []),
    ...(n % 900 === 0 ? ['🌊 by'] : []),
    ...(n % 1_100 === 0 ? ['zq mp'] : []),
    // Wildcards of LIKE, and texts that they would match if they were not escaped.
    ...(n % 1_300 === 0 ? ['50%_\\ off'] : n % 1_300 === 1 ? ['50xyz off'] : []),
    // Matches many products, but no new ones.
    ...(n <= 3_300 ? ['ancient'] : []),
  ].join(' '),
  tags: [...(n % 3 === 0 ? ['ai'] : []), ...(n <= 3_300 ? ['late'] : []), ...(PEARLS.includes(n) ? ['scarce'] : [])],
}));

let database: TestDatabase;
let recorded: ReturnType<typeof recordStatements>;

beforeAll(async () => {
  database = await createTestDatabase();
  await storeProducts(database, products);
  recorded = recordStatements(withoutTimeouts(database));
});
afterAll(() => database.drop());

beforeEach(async () => {
  // Loads the trigram frequencies before the test records statements.
  await ask({ term: 'pearl' });
  recorded.statements.length = 0;
});

/** Searches with enough time for scans, unless the test sets `scanTimeoutMs`. */
function ask(search: Partial<Search>, sql: Database = recorded.database, scanTimeoutMs = 60_000) {
  return searchProducts(
    sql,
    { term: '', tag: '', sort: 'newest', cursor: '', limit: 100, ...search },
    { scanTimeoutMs },
  );
}

/** Reads all pages and checks that none is too long. @returns the ids of each page, in order. */
async function everyPage(search: Partial<Search>, sql?: Database, scanTimeoutMs?: number): Promise<string[][]> {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await ask({ ...search, cursor }, sql, scanTimeoutMs);
    expect(page.items.length).toBeLessThanOrEqual(search.limit ?? 100);
    pages.push(page.items.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return pages;
}

const all = (sort: ProductSort, term: string, tag = '') => idsMatching(products, { term, tag, sort });

const CASES: [what: string, term: string, tag: string, limit: number][] = [
  ['a common word', 'common', '', 1_000],
  ['a frequent word', 'tenth', '', 100],
  ['a rare word', 'pearl', '', 2],
  ['a less rare word', 'coral', '', 7],
  ['part of a word', 'ear', '', 2],
  ['a word of old products', 'ancient', '', 1_100],
  ['two words', 'words pearl', '', 2],
  ['two rare characters', 'zq', '', 2],
  ['two characters that are common in English', 'mp', '', 2],
  ['an emoji', '🌊', '', 4],
  ['a word and an emoji', 'words 🌊', '', 4],
  ['a percent sign', '0%', '', 2],
  ['an underscore and a backslash', '_\\', '', 2],
  ['a word, a percent sign and an underscore', 'words 50%_', '', 2],
  ['a word that no product contains', 'qqqqq', '', 2],
  ['a symbol that no product contains', '§', '', 2],
  ['a frequent tag', '', 'ai', 700],
  ['a rare tag', '', 'scarce', 2],
  ['a tag of old products', '', 'late', 1_100],
  ['a word and a tag', 'tenth', 'ai', 50],
  ['a rare word and a tag', 'pearl', 'ai', 2],
];

describe.each(SORTS)('sorted by %s', (sort) => {
  test.each(CASES)(
    'the pages of a search for %s together contain exactly the matches, in order',
    async (_what, term, tag, limit) => {
      expect((await everyPage({ term, tag, sort, limit })).flat()).toEqual(all(sort, term, tag));
    },
  );
});

test.each(SORTS)('sorted by %s, no cursor of a search points to a product that has not launched', async (sort) => {
  const launched = products.filter(({ id }) => id <= 'p-00399');
  const now = new Date(launched.at(-1)?.created_at ?? '');
  const scheduled = new Set(products.filter((product) => new Date(product.created_at) > now).map(({ id }) => id));
  const found: string[] = [];
  // With no time for further scans, each page ends with its first window.
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await ask({ term: 'nc', sort, cursor, now }, undefined, 0);
    found.push(...page.items.map(({ id }) => id));
    cursor = page.nextCursor;
    const keys: unknown[] = cursor === null ? [] : JSON.parse(Buffer.from(cursor, 'base64url').toString());
    expect(keys.filter((key) => scheduled.has(String(key)))).toEqual([]);
  }
  expect(found).toEqual(all(sort, 'nc').filter((id) => !scheduled.has(id)));
});

test('a search returns whole products, with their counts', async () => {
  const [newest] = (await ask({ term: 'pearl' })).items;
  expect(newest).toEqual({
    ...declaredDefaults('p-05499', '2026-01-01T13:05:00.000Z'),
    name: 'Product 5499',
    description: 'Common words pearl',
    tags: ['ai', 'scarce'],
    upvotes: 4,
    comments: 3,
  });
});

test('a product whose row of counts is missing is found by lookup and by scan', async () => {
  const [counts] = await database.query<{ upvotes: number; comments: number }>(
    "DELETE FROM product_counts WHERE product_id = 'p-02500' RETURNING upvotes, comments",
  );
  try {
    for (const term of ['pearl', 'rl']) {
      const { items } = await ask({ term });
      expect(items.find(({ id }) => id === 'p-02500')).toMatchObject({ upvotes: 0, comments: 0 });
    }
    expect(new Set(kindsOfStatements())).toEqual(new Set([IN_TIME, 'look up', 'scan 2000', 'scan 4000']));
  } finally {
    await database.query("INSERT INTO product_counts (product_id, upvotes, comments) VALUES ('p-02500', $1, $2)", [
      counts?.upvotes,
      counts?.comments,
    ]);
  }
});

/** Describes a statement: a scan with its rows and those of its probe, a lookup, or the `SET` of its timeout. */
function kindOf(text: string): string {
  if (text.startsWith('SET LOCAL statement_timeout')) return text;
  if (text.includes('WITH found')) return 'look up';
  const probed = /LIMIT (\d+)\) AS probed/.exec(text)?.[1];
  return `scan ${/LIMIT (\d+)/.exec(text)?.[1]}${probed ? ` after ${probed}` : ''}`;
}

/** Describes the recorded statements, except the check of the index, which the site repeats every minute. */
const kindsOfStatements = () =>
  recorded.statements
    .map(({ text }) => text)
    .filter((text) => !/products_search|show_trgm/.test(text))
    .map(kindOf);

const IN_TIME = 'SET LOCAL statement_timeout = 150';

describe('the statements of a search', () => {
  test.each<[what: string, search: Partial<Search>, statements: string[]]>([
    ['a common term is found at the head of the list', { term: 'common' }, ['scan 2000']],
    [
      'sorted by upvotes, a common term is found at the head of the list',
      { term: 'common', sort: 'top' },
      ['scan 1000'],
    ],
    [
      'sorted by comments, a common term is found at the head of the list',
      { term: 'common', sort: 'discussed' },
      ['scan 1000'],
    ],
    ['a frequent tag is found at the head of the list', { tag: 'ai' }, ['scan 2000']],
    ['a rare term is looked up by index without a scan', { term: 'pearl' }, [IN_TIME, 'look up']],
    [
      'sorted by upvotes, a rare term is looked up by index without a scan',
      { term: 'pearl', sort: 'top' },
      [IN_TIME, 'look up'],
    ],
    [
      'a rare tag is looked up if the first window has few matches',
      { tag: 'scarce' },
      ['scan 2000', IN_TIME, 'look up'],
    ],
    [
      'a term with too many matches to sort is scanned after the lookup',
      { term: 'ancient' },
      [IN_TIME, 'look up', 'scan 2000', 'scan 4000'],
    ],
    [
      'a term with few enough matches to sort is only looked up',
      { term: 'ancient', sort: 'top' },
      [IN_TIME, 'look up'],
    ],
    [
      'a tag with too many products to sort is scanned after the lookup',
      { tag: 'late' },
      ['scan 2000', IN_TIME, 'look up', 'scan 4000'],
    ],
    ['a rare pair of characters is looked up by index without a scan', { term: 'zq' }, [IN_TIME, 'look up']],
    ['a rare term that no index supports is scanned', { term: 'mp' }, ['scan 2000', 'scan 4000']],
    ['a common term that no index supports is found at the head of the list', { term: 'wo' }, ['scan 2000']],
    [
      'a frequent term is scanned until the page is full',
      { term: 'tenth', limit: 500 },
      ['scan 2000 after 500', 'scan 4000'],
    ],
    [
      'a term without matches at the head of the list is looked up',
      { term: 'coral' },
      ['scan 2000 after 500', IN_TIME, 'look up'],
    ],
  ])('%s', async (_what, search, statements) => {
    await ask(search);
    expect(kindsOfStatements()).toEqual(statements);
  });

  test('a lookup that takes too long is replaced by a scan; other failures are reported', async () => {
    const { log, lines } = createLogLines();
    const single = openDatabase({ url: database.url, log, maxConnections: 1 });
    const connection = async () => (await single.query<{ pid: number }>('SELECT pg_backend_pid() AS pid'))[0]?.pid;
    // Runs a failing statement instead of the lookup.
    const failingBy = (statement: string, timeoutMs = 0): Database => ({
      ...recorded.database,
      transaction: (work) =>
        single.transaction((sql) =>
          work({
            query: (text) =>
              sql.query(text.startsWith('SET') ? `SET LOCAL statement_timeout = ${timeoutMs}` : statement),
          }),
        ),
    });
    const before = await connection();
    const slow = failingBy('SELECT pg_sleep(60)', 20);
    expect((await everyPage({ term: 'pearl', limit: 2 }, slow)).flat()).toEqual(all('newest', 'pearl'));
    await expect(ask({ term: 'pearl' }, failingBy('SELECT 1 / 0'))).rejects.toMatchObject({ code: '22012' });
    // A timeout is not logged as an error, and the connection stays open.
    expect(lines().filter(({ level }) => Number(level) >= 50)).toEqual([]);
    expect(await connection()).toBe(before);
    await single.close();
  });

  test('without the trigram index, a search only scans, and finds the same products', async () => {
    const bare: Database = {
      ...recorded.database,
      query: (text, values) =>
        text.includes('products_search') ? Promise.resolve([]) : recorded.database.query(text, values),
    };
    expect((await everyPage({ term: 'pearl', limit: 2 }, bare)).flat()).toEqual(all('newest', 'pearl'));
    expect(kindsOfStatements()).not.toContain('look up');
  });
});

describe('the scan timeout', () => {
  test.each(SORTS)('a search that times out returns a cursor to continue from (%s)', async (sort) => {
    const pages = await everyPage({ term: 'by', sort, limit: 4 }, undefined, 0);
    expect(pages.flat()).toEqual(all(sort, 'by'));
    // Each request scans only its first window.
    expect(pages.length).toBe(sort === 'newest' ? 3 : 6);
  });

  test('each search releases its slot for later searches', async () => {
    for (let searches = 0; searches < 5; searches += 1) {
      expect(await ask({ term: 'ju' })).toEqual({ items: [], nextCursor: null });
      expect(await ask({ tag: 'late', term: 'ju' })).toEqual({ items: [], nextCursor: null });
    }
  });

  test('a search that times out while it waits for a slot returns a cursor, too', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    let held = 0;
    const stopped: Database = {
      ...database,
      async query(text, values) {
        if (text.includes('LIMIT 4000')) {
          held += 1;
          await gate;
        }
        return database.query(text, values);
      },
    };
    const scanning = [1, 2].map(() => ask({ term: 'ju' }, stopped));
    await expect.poll(() => held).toBe(2);
    const late = await ask({ term: 'ju' }, undefined, 1);
    expect(late.items).toEqual([]);
    expect(late.nextCursor).not.toBeNull();
    open();
    expect(await Promise.all(scanning)).toEqual([1, 2].map(() => ({ items: [], nextCursor: null })));
  });
});
