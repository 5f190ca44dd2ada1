import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { systemRuntime } from '../runtime.ts';
import { cacheNewestProducts, getRelatedProducts, groupByWeight, weightOf } from './related-products.ts';
import { removeProducts } from './remove-products.ts';
import { saveProducts } from './save-products.ts';

const NOW = new Date('2026-06-01T12:00:00.000Z');

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** Replaces the products of the site. @param products their tags by id. */
async function site(products: Record<string, string[]>): Promise<void> {
  await database.query('DELETE FROM products');
  await saveProducts(
    database,
    Object.entries(products).map(([id, tags]) => buildProduct({ id, tags, createdAt: '2026-05-01T00:00:00.000Z' })),
  );
}

async function relatedTo(id: string): Promise<string[] | undefined> {
  const related = await getRelatedProducts(database, id, NOW);
  return related?.items.map((item) => item.id);
}

describe('getRelatedProducts', () => {
  test('related products share tags, and a rare tag weighs more than a common one', async () => {
    await site({
      tide: ['Sea', 'Tables'],
      'common-1': ['Sea'],
      'common-2': ['Sea'],
      rare: ['Tables'],
      both: ['Tables', 'Sea'],
      stranger: ['Mountains'],
    });
    expect(await relatedTo('tide')).toEqual(['both', 'rare', 'common-1', 'common-2']);
  });

  test('related products that share the same tags are ordered by upvotes and then by id', async () => {
    await site({ tide: ['Sea'], b: ['Sea'], a: ['Sea'], d: ['Sea'], c: ['Sea'] });
    await database.query("UPDATE product_counts SET upvotes = 2 WHERE product_id = 'd'");
    expect(await relatedTo('tide')).toEqual(['d', 'a', 'b', 'c']);
  });

  test('shared tags are found regardless of case, and listed rarest first in the spelling of the related product', async () => {
    await site({ tide: ['sea', 'TABLES'], near: ['Other', 'Sea', 'Tables'], far: ['SEA'] });
    const related = await getRelatedProducts(database, 'tide', NOW);
    expect(related?.items).toEqual([
      { id: 'near', name: expect.any(String), image: expect.any(String), sharedTags: ['Tables', 'Sea'] },
      { id: 'far', name: expect.any(String), image: expect.any(String), sharedTags: ['SEA'] },
    ]);
  });

  test('at most six related products are listed', async () => {
    await site(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`tide-${index}`, ['Sea']])));
    expect(await relatedTo('tide-3')).toEqual(['tide-0', 'tide-1', 'tide-2', 'tide-4', 'tide-5', 'tide-6']);
  });

  test('the list is empty for a product without shared tags, and undefined for an unknown product', async () => {
    await site({ bare: [], lonely: ['Sea'], other: ['Mountains'] });
    expect(await relatedTo('bare')).toEqual([]);
    expect(await relatedTo('lonely')).toEqual([]);
    expect(await relatedTo('unknown')).toBeUndefined();
    expect(await relatedTo('Not an id')).toBeUndefined();
  });

  test('scheduled and removed products are not listed', async () => {
    await site({ tide: ['Sea'], near: ['Sea'], removed: ['Sea'] });
    const createdAt = new Date(NOW.getTime() + 1).toISOString();
    await saveProducts(database, [buildProduct({ id: 'scheduled', tags: ['Sea'], createdAt })]);
    await removeProducts(database, ['removed']);
    expect(await relatedTo('tide')).toEqual(['near']);
    expect(await relatedTo('scheduled')).toBeUndefined();
    const later = await getRelatedProducts(database, 'tide', new Date(createdAt));
    expect(later?.items.map(({ id }) => id)).toEqual(['near', 'scheduled']);
  });
});

describe('on a site with more products than are compared', () => {
  /** Every third product is about the sea; an old and a new one are about tide tables, and 700 old ones about maps. */
  const PRODUCTS = makeProducts(2_400, (n) => ({
    description: '',
    tags: [
      ...(n % 3 === 0 ? ['sea'] : ['land']),
      ...(n === 3 || n === 2_400 ? ['tables'] : []),
      ...(n <= 700 ? ['maps'] : []),
    ],
  }));
  let large: TestDatabase;
  beforeAll(async () => {
    large = await createTestDatabase();
    // Without autovacuum, statistics change only when a test runs ANALYZE.
    await large.query('ALTER TABLE products SET (autovacuum_enabled = false)');
    await storeProducts(large, PRODUCTS);
  });
  afterAll(() => large.drop());

  /** Reads related products like a process that has just started, and records its statements. */
  async function ask(id: string) {
    const queries: { text: string; values: readonly unknown[] }[] = [];
    const sql: Sql = {
      query(text, values = [], options) {
        queries.push({ text, values });
        return large.query(text, values, options);
      },
    };
    const related = await getRelatedProducts(sql, id, NOW);
    const lookUps = queries.filter(({ text }) => text.includes('tag_keys && $1'));
    return { ids: related?.items.map((item) => item.id) ?? [], lookUps: lookUps.map(({ values }) => values[0]) };
  }

  test('without statistics, the newest products are compared, and no tag is looked up', async () => {
    const { ids, lookUps } = await ask('p-02400');
    expect(lookUps).toEqual([]);
    expect(ids).toHaveLength(6);
    expect(ids).not.toContain('p-00003');
  });

  // The coordinator of Citus has no statistics.
  const testStatistics = test.skipIf(isCitus);

  testStatistics('with statistics, a rare tag is looked up by the index, and a frequent tag is not', async () => {
    await large.query('ANALYZE products');
    expect(await ask('p-02400')).toMatchObject({
      ids: [
        'p-00003',
        expect.any(String),
        expect.any(String),
        expect.any(String),
        expect.any(String),
        expect.any(String),
      ],
      lookUps: [['tables']],
    });
    // One tag has 700 products, none of them among the newest, and the other has 1,600: neither is rare.
    expect((await ask('p-00004')).lookUps).toEqual([]);
  });

  testStatistics(
    'if a tag has become frequent since the last ANALYZE, only the newest products are compared',
    async () => {
      await large.query('ANALYZE products');
      await large.query(
        "UPDATE products SET tag_keys = tag_keys || '{tables}' WHERE id < 'p-00700' AND id <> 'p-00003'",
      );
      const { ids, lookUps } = await ask('p-02400');
      expect(lookUps).toEqual([['tables']]);
      expect(ids).toHaveLength(6);
      expect(ids.filter((id) => id < 'p-01400')).toEqual([]);
    },
  );
});

test('the newest products are read once until the catalogue changes or a minute has passed', async () => {
  await site({ tide: ['Sea'], near: ['Sea'], far: ['Mountains'] });
  const recorded = recordStatements(database);
  let minutes = 0;
  const newest = cacheNewestProducts(recorded.database, {
    ...systemRuntime,
    now: () => NOW,
    monotonicMs: () => minutes * 60_000,
  });
  const relatedIds = async () => {
    recorded.statements.length = 0;
    const related = await getRelatedProducts(recorded.database, 'tide', NOW, { newest });
    const reads = recorded.statements.filter(({ text }) => text.includes('LIMIT 1000'));
    return { ids: related?.items.map((item) => item.id), reads: reads.length };
  };
  expect(await relatedIds()).toEqual({ ids: ['near'], reads: 1 });
  expect(await relatedIds()).toEqual({ ids: ['near'], reads: 0 });

  await database.query("UPDATE products SET tags = '{Sea}', tag_keys = '{sea}' WHERE id = 'far'");
  newest.onChange({ productIds: ['tide'], catalogue: false });
  expect(await relatedIds()).toEqual({ ids: ['near'], reads: 0 });
  newest.onChange({ productIds: ['far'], catalogue: true });
  expect(await relatedIds()).toEqual({ ids: ['far', 'near'], reads: 1 });

  minutes = 1;
  expect(await relatedIds()).toEqual({ ids: ['far', 'near'], reads: 1 });
  newest.onGap();
  expect(await relatedIds()).toEqual({ ids: ['far', 'near'], reads: 1 });
});

test('products that were removed after the newest products were read are not listed', async () => {
  await site({ tide: ['Sea'], near: ['Sea'], removed: ['Sea'] });
  const newest = cacheNewestProducts(database, { ...systemRuntime, now: () => NOW });
  await newest.read();
  await removeProducts(database, ['removed']);
  const related = await getRelatedProducts(database, 'tide', NOW, { newest });
  expect(related?.items.map((item) => item.id)).toEqual(['near']);
});

describe('weights and levels', () => {
  test('every tag has a positive weight, and a rarer tag has a greater one', () => {
    const weights = [1, 0.5, 0.01, 1e-6].map(weightOf);
    expect(weights).toEqual(weights.toSorted((one, other) => one - other));
    expect(weights[0]).toBeGreaterThan(0);
  });

  test('products of equal weight form one level despite rounding errors, and levels end once there are enough products', () => {
    const weights = new Map(Object.entries({ a: 0.1, b: 0.2, c: 0.3, d: 0.6 }));
    const ids = (start: string) => Array.from({ length: 5 }, (_, index) => `${start}${index}`);
    const tagsOf = (id: string) => (id < 'y' ? ['a', 'b', 'c'] : id < 'z' ? ['d'] : ['a']);
    const shared = new Map([...ids('x'), ...ids('z'), ...ids('y')].map((id) => [id, tagsOf(id)]));
    expect(groupByWeight(shared, weights)).toEqual([[...ids('x'), ...ids('y')]]);
    expect(groupByWeight(new Map(), weights)).toEqual([]);
  });
});
