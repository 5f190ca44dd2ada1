import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { differencesOf, launch, vote } from '../../../tests/support/launch-site.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createCore } from '../core.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { checkCounts, createDriftSampler, repairCounts, type WrongCount } from './check-counts.ts';

let database: TestDatabase;
/** Separate connections, which the database treats as those of another process. */
let other: TestDatabase;
const ids = Array.from({ length: 25 }, (_, index) => `p-${String(index).padStart(2, '0')}`);

beforeEach(async () => {
  database = await createTestDatabase();
  other = joinTestDatabase(database);
  await saveProducts(
    database,
    ids.map((id) => buildProduct({ id })),
  );
});
afterEach(async () => {
  await other.drop();
  await database.drop();
});

const upvote = (productId: string, upvoted = true, session = `session-${randomUUID()}`) =>
  createCore(other).setUpvote({ productId, session, upvoted });

/** Ignores a timeout, because a busy machine may exceed the site's timeouts. */
function ignoreTimeout(error: unknown): void {
  if (!(error instanceof CoreError && error.code === 'unavailable')) throw error;
}

async function checkAll(limit = 10): Promise<{ checked: number; wrong: WrongCount[] }> {
  const result = { checked: 0, wrong: [] as WrongCount[] };
  for (let after: string | null = ''; after !== null; ) {
    const batch = await checkCounts(database, { after, limit });
    result.checked += batch.checked;
    result.wrong.push(...batch.wrong);
    after = batch.next;
  }
  return result;
}

const plantDrift = () =>
  database.query(
    `UPDATE product_counts SET upvotes = upvotes + 3, comments = comments + 1 WHERE product_id IN ('p-03', 'p-24')`,
  );

test.each([1, 10, 25, 100])(
  'every product is compared once, %i at a time, and correct counts are not reported',
  async (limit) => {
    await upvote('p-00');
    expect(await checkAll(limit)).toEqual({ checked: ids.length, wrong: [] });
  },
);

test('wrong counts are found, and repaired once', async () => {
  await upvote('p-03');
  await plantDrift();
  const { wrong } = await checkAll();
  expect(wrong).toEqual([
    { productId: 'p-03', upvotes: { stored: 4, rows: 1 }, comments: { stored: 1, rows: 0 } },
    { productId: 'p-24', upvotes: { stored: 3, rows: 0 }, comments: { stored: 1, rows: 0 } },
  ]);
  expect(await repairCounts(database, ['p-03', 'p-24'])).toEqual(wrong);
  expect(await repairCounts(database, ['p-03', 'p-24'])).toEqual([]);
  expect((await checkAll()).wrong).toEqual([]);
});

test('missing counts are found and created', async () => {
  await database.query("DELETE FROM product_counts WHERE product_id = 'p-05'");
  const missing = { productId: 'p-05', upvotes: { stored: null, rows: 0 }, comments: { stored: null, rows: 0 } };
  expect((await checkAll()).wrong).toEqual([missing]);
  expect(await repairCounts(database, ['p-05'])).toEqual([missing]);
  expect((await checkAll()).wrong).toEqual([]);
});

test('a launch whose counts are created again keeps its counted votes', async () => {
  const launchedAt = '2026-06-01T10:00:00.000Z';
  await launch(database, 'tide', launchedAt);
  await vote(database, 'tide', launchedAt, 'session-first');
  await database.query("DELETE FROM product_counts WHERE product_id = 'tide'");
  expect(await repairCounts(database, ['tide'])).toHaveLength(1);
  expect(await differencesOf(database, '2026-06-01')).toEqual([]);
});

test('concurrent writes cause no false alarm, and a repair does not lose any of them', async () => {
  const core = createCore(other);
  let writing = true;
  const writers = Array.from({ length: 8 }, async (_, writer) => {
    const session = `session-writer-${writer}`;
    for (let turn = 0; writing; turn += 1) {
      const productId = ids[turn % ids.length] ?? '';
      await core.setUpvote({ productId, session, upvoted: turn % 3 > 0 }).catch(ignoreTimeout);
      if (turn % 5 === 0) await core.addComment({ productId, content: 'Again' }, { session }).catch(ignoreTimeout);
    }
  });
  try {
    for (let round = 0; round < 15; round += 1) {
      expect((await checkAll()).wrong).toEqual([]);
      expect(await repairCounts(database, ids)).toEqual([]);
    }
    await plantDrift();
    expect((await checkAll()).wrong.map(({ productId }) => productId)).toEqual(['p-03', 'p-24']);
    expect((await repairCounts(database, ids)).map(({ productId }) => productId).sort()).toEqual(['p-03', 'p-24']);
  } finally {
    writing = false;
    await Promise.all(writers);
  }
  expect((await checkAll()).wrong).toEqual([]);
});

test('the sampler covers all products, reports drift immediately, and forgets it when the counts are correct', async () => {
  const sampler = createDriftSampler(database, silentLog, 10);
  await plantDrift();
  const found: number[] = [];
  for (let step = 0; step < 3; step += 1) found.push((await sampler.step()).length);
  expect([found, sampler.drift()]).toEqual([[1, 0, 1], 2]);
  await database.query('UPDATE product_counts SET upvotes = 0, comments = 0');
  await sampler.step();
  expect(sampler.drift()).toBe(1);
  for (let step = 0; step < 2; step += 1) await sampler.step();
  expect(sampler.drift()).toBe(0);
});

test('the sampler forgets only the products that another process has repaired, immediately, and finds later drift', async () => {
  const sampler = createDriftSampler(database, silentLog, 10);
  await plantDrift();
  for (let step = 0; step < 3; step += 1) await sampler.step();
  expect(sampler.drift()).toBe(2);
  await repairCounts(other, ['p-03']);
  await sampler.step();
  expect(sampler.drift()).toBe(1);
  await repairCounts(other, ['p-24']);
  await sampler.step();
  expect(sampler.drift()).toBe(0);
  await plantDrift();
  for (let step = 0; step < 5; step += 1) await sampler.step();
  expect(sampler.drift()).toBe(2);
});

test('the sampler skips a product whose rows take too long to count, and checks all others', async () => {
  const checked: string[] = [];
  /** A database in which a statement that counts the rows of `p-07` times out. */
  const slow: Pick<TestDatabase, 'query'> = {
    async query(text, values) {
      const rows = await database.query<{ product_id?: string }>(text, values);
      if (rows.some((row) => row.product_id === 'p-07')) {
        const timeout = Object.assign(new pg.DatabaseError('canceled', 0, 'error'), { code: '57014' });
        throw new CoreError('unavailable', 'The database is unavailable', { cause: timeout });
      }
      checked.push(...rows.flatMap((row) => row.product_id ?? []));
      return rows as never;
    },
  };
  const log = { warn: vi.fn() };
  const sampler = createDriftSampler(slow, log, 10);
  while (checked.at(-1) !== ids.at(-1)) expect(await sampler.step()).toEqual([]);
  expect(checked).toEqual(ids.filter((id) => id !== 'p-07'));
  expect(log.warn.mock.calls).toEqual([[{ productId: 'p-07' }, expect.stringContaining('takes too long')]]);
});
