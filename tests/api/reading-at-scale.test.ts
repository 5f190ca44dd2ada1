import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fillDatabase } from '../../bench/seed/fill.ts';
import type { ProductListQuery, ProductPage, ProductSort } from '../../src/contract/products/schema.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import type { Database } from '../../src/core/database/database.ts';
import { listProducts } from '../../src/core/products/list-products.ts';
import { searchProducts } from '../../src/core/products/search-products.ts';
import { foldText } from '../../src/core/search-text.ts';
import { planOf } from '../support/query-plan.ts';
import { recordStatements, withoutTimeouts } from '../support/recording-database.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../support/test-database.ts';

const PRODUCTS = 20_000;
const SORTS: ProductSort[] = ['newest', 'top', 'discussed'];

let database: TestDatabase;
let hottest: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await fillDatabase(database.url, { products: PRODUCTS, upvotes: PRODUCTS, comments: PRODUCTS, seed: 7 });
  const [row] = await database.query<{ product_id: string }>(
    'SELECT product_id FROM product_counts ORDER BY comments DESC, product_id DESC LIMIT 1',
  );
  hottest = row?.product_id ?? '';
}, 300_000);

afterAll(() => database.drop());

const ORDER: Record<ProductSort, string> = {
  newest: 'p.created_at DESC, p.id DESC',
  top: 'c.upvotes DESC, c.product_id DESC',
  discussed: 'c.comments DESC, c.product_id DESC',
};

/** Returns the expected result of a search, from a full scan. */
async function matching(sort: ProductSort, term: string, tag = ''): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    `SELECT p.id FROM products p JOIN product_counts c ON c.product_id = p.id
     WHERE position($1 IN p.search_text) > 0 AND ($2 = '' OR $2 = ANY(p.tag_keys)) ORDER BY ${ORDER[sort]}`,
    [term, tag],
  );
  return rows.map(({ id }) => id);
}

/** Returns all pages of a list, in order. */
async function followed(ask: (cursor: string) => Promise<ProductPage>): Promise<ProductPage[]> {
  const pages: ProductPage[] = [];
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)?.nextCursor ?? null) {
    pages.push(await ask(cursor));
  }
  return pages;
}

const idsOf = (pages: readonly ProductPage[]) => pages.flatMap(({ items }) => items.map(({ id }) => id));

describe('Searches', () => {
  const cases: [kind: string, query: { q: string; tag?: string }][] = [
    ['a frequent word', { q: 'dashboard' }],
    ['a rare part of words', { q: 'trest' }],
    ['another script', { q: 'данные' }],
    ['two words', { q: 'to be' }],
    ['two characters', { q: 'zc' }],
    ['characters and white space', { q: 'e q' }],
    ['two Han characters', { q: '数据' }],
    ['an emoji', { q: '🌊' }],
    ['a term without matches', { q: 'zxqvw' }],
    ['a character without matches', { q: '§' }],
    ['a tag', { q: '', tag: 'topic 300' }],
    ['a term and a tag', { q: 'data', tag: 'ai' }],
  ];
  for (const sort of SORTS) {
    test.each(cases)(
      `find exactly the products that a full scan finds, for %s, with sort=${sort}`,
      async (_kind, { q, tag = '' }) => {
        const pages = await followed((cursor) =>
          listProducts(database, { q, tag, sort, cursor, limit: 100 }, new Date()),
        );
        expect(idsOf(pages)).toEqual(await matching(sort, q, tag));
      },
    );
  }

  test('find exactly the products that a full scan finds, for the names of products', async () => {
    const named = await database.query<{ word: string }>(
      "SELECT lower(name) AS word FROM products WHERE name !~ '[ A-Z].*[A-Z]' ORDER BY md5(id) LIMIT 40",
    );
    expect(named).toHaveLength(40);
    for (const { word } of named) {
      const pages = await followed((cursor) => listProducts(database, { q: word, cursor, limit: 100 }, new Date()));
      expect(idsOf(pages), word).toEqual(await matching('newest', foldText(word)));
    }
  });

  test('find exactly the products that a full scan finds, even without the pg_trgm extension', async () => {
    const copy = joinTestDatabase(database);
    // Simulates a server without the extension: the check for the search index finds none on this connection.
    const bare = {
      ...copy,
      query: ((text, values) =>
        text.includes('products_search') ? Promise.resolve([]) : copy.query(text, values)) as TestDatabase['query'],
    };
    for (const q of ['trest', 'zxqvw']) {
      const pages = await followed((cursor) => listProducts(bare, { q, cursor, limit: 100 }, new Date()));
      expect(idsOf(pages)).toEqual(await matching('newest', q));
    }
    await copy.drop();
  });
});

test('a search that runs out of time returns a cursor, and the next pages continue from there', async () => {
  // No index supports this term, which consists of common characters and a space.
  const search = { term: 'e q', tag: '', sort: 'newest' as const, limit: 100 };
  const pages = await followed((cursor) => searchProducts(database, { ...search, cursor }, { scanTimeoutMs: 0 }));
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.some(({ items, nextCursor }) => items.length < search.limit && nextCursor !== null)).toBe(true);
  expect(idsOf(pages)).toEqual(await matching('newest', search.term));
});

test('slow searches are queued without delaying other reads', async () => {
  const searches = 30;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let windows = 0;
  const slow: Database = {
    ...database,
    // Delays every search after its first window: the next statement holds a connection until the test releases it.
    async query(text, values) {
      if (!text.includes('search_text')) return database.query(text, values);
      windows += 1;
      if (windows <= searches) return database.query(text, values);
      return database.transaction(async (sql) => {
        await released;
        return sql.query(text, values);
      });
    },
  };
  let finished = 0;
  const long = Array.from({ length: searches }, async () => {
    await listProducts(slow, { q: 'q z' }, new Date());
    finished += 1;
  });
  try {
    // Two searches continue to scan. The others end, because they get no slot in time.
    await expect.poll(() => finished).toBe(searches - 2);
    await createCore(database).getProduct(hottest);
  } finally {
    release();
  }
  await Promise.all(long);
});

/** The read operations, each with the number of statements that it runs. */
const READS: [name: string, statements: number, ask: (core: Core) => Promise<unknown>][] = [
  ...SORTS.flatMap((sort): typeof READS => [
    [`list, ${sort}`, 1, (core) => core.listProducts({ sort, limit: 100 })],
    [
      `list, ${sort}, a later page`,
      1,
      async (core) => core.listProducts({ sort, cursor: await laterCursor({ sort }) }),
    ],
    [`search, ${sort}, common`, 1, (core) => core.listProducts({ sort, q: 'the' })],
    // Two statements: `SET LOCAL statement_timeout`, then the search.
    [`search, ${sort}, rare`, 2, (core) => core.listProducts({ sort, q: 'zxqvw' })],
    [
      `search, ${sort}, rare, a later page`,
      2,
      async (core) => core.listProducts({ sort, q: 'zxqvw', cursor: await laterCursor({ sort }) }),
    ],
    [`search, ${sort}, two rare characters`, 2, (core) => core.listProducts({ sort, q: '§§' })],
    [`tag, ${sort}, rare`, 3, (core) => core.listProducts({ sort, tag: 'topic 4000' })],
  ]),
  ['product', 2, (core) => core.getProduct(hottest)],
  ['no product', 1, (core) => core.getProduct('nothing')],
  ...(['best', 'newest', 'oldest'] as const).map((sort): (typeof READS)[number] => [
    `comments, ${sort}`,
    1,
    (core) => core.listComments(hottest, { sort, limit: 100 }),
  ]),
  [
    'comments, a later page',
    1,
    async (core) =>
      core.listComments(hottest, {
        cursor: cursorOf(await createCore(database).listComments(hottest, { limit: 1 })),
      }),
  ],
  ['upvoted', 1, (core) => core.getUpvoted([hottest, 'nothing'], 'session-0f8fad5b')],
  ['related products, without a cache', 4, (core) => core.getRelatedProducts(hottest)],
  ['standing', 2, (core) => core.getStandings(hottest)],
  ['leaderboard', 4, (core) => core.getLeaderboard('2024', {})],
];

async function laterCursor(query: ProductListQuery): Promise<string> {
  return cursorOf(await listProducts(database, query, new Date()));
}

function cursorOf({ nextCursor }: { nextCursor: string | null }): string {
  return nextCursor ?? expect.unreachable('the page is the last one');
}

const BIG_TABLES = ['products', 'product_counts', 'upvotes', 'comments', 'launches'];
/** The maximum number of rows that may be sorted for one page: rows that an index found, but never a whole table. */
const MAX_SORTED = 5_000;

describe('Reads', () => {
  let client: pg.Client;

  beforeAll(async () => {
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(() => client.end());

  test.each(READS)('%s runs %d statement(s), which use indexes even in generic plans', async (_name, count, ask) => {
    const recorded = recordStatements(withoutTimeouts(database));
    const core = createCore(recorded.database);
    // Runs the check for the search index and the reads of statistics in advance, because their results are reused for
    // at least a minute.
    await core.listProducts({ q: 'zxqvw' });
    await core.getRelatedProducts(hottest);
    recorded.statements.length = 0;
    await ask(core);
    expect(recorded.statements.map(({ text }) => text)).toHaveLength(count);

    for (const statement of recorded.statements.filter(({ text }) => !text.startsWith('SET'))) {
      for (const mode of ['custom', 'generic'] as const) {
        const plan = await planOf(client, statement, mode);
        const scanned = plan.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name']);
        expect(
          scanned.filter((table) => BIG_TABLES.includes(table ?? '')),
          `${mode}: ${statement.text}`,
        ).toEqual([]);
        // To combine indexes, PostgreSQL reads all matches of each, which may be a large part of the table.
        expect(
          plan.filter((node) => node['Node Type'] === 'BitmapAnd'),
          `${mode}: ${statement.text}`,
        ).toEqual([]);
        const sorted = plan.filter((node) => node['Node Type'] === 'Sort').map((node) => node['Plan Rows']);
        expect(Math.max(0, ...sorted), `${mode}: ${statement.text}`).toBeLessThanOrEqual(MAX_SORTED);
      }
    }
  });

  test('of pages use prepared statements, unless the client sets a limit', async () => {
    const recorded = recordStatements(database);
    const core = createCore(recorded.database);
    await core.getRelatedProducts(hottest);
    recorded.statements.length = 0;
    await core.listProducts({});
    await core.getProduct(hottest);
    await core.getRelatedProducts(hottest);
    await core.getStandings(hottest);
    await core.listComments(hottest, {});
    await core.getUpvoted([hottest], 'session-0f8fad5b');
    await core.getLeaderboard('2024', {});
    expect(recorded.statements.filter(({ isPrepared }) => !isPrepared)).toEqual([]);

    // Each limit would need another prepared statement, and a connection keeps them all.
    recorded.statements.length = 0;
    await core.listProducts({ limit: 7 });
    expect(recorded.statements.map(({ isPrepared }) => isPrepared)).toEqual([false]);
  });
});
