import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { withoutRowLocks } from '../../../tests/support/lockless-database.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemSources } from '../sources.ts';
import { setUpvotes, type UpvoteChange } from './set-upvotes.ts';

const PRODUCTS = ['ebb', 'flow', 'tide'];
const SESSIONS = ['session-a', 'session-b', 'session-c', 'session-d'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    PRODUCTS.map((id) => buildProduct({ id })),
  );
});
afterAll(() => database.drop());

/** What upvotes are, in the simplest words: a set of pairs. */
function applyToModel(model: Set<string>, { productId, session, upvoted }: UpvoteChange) {
  if (!PRODUCTS.includes(productId)) return 'product_not_found';
  if (upvoted) model.add(`${productId} ${session}`);
  else model.delete(`${productId} ${session}`);
  return { upvoted, upvotes: [...model].filter((pair) => pair.startsWith(`${productId} `)).length };
}

const change = fc.record<UpvoteChange>({
  productId: fc.constantFrom(...PRODUCTS, 'unknown', 'Not an id'),
  session: fc.constantFrom(...SESSIONS),
  upvoted: fc.boolean(),
});

test('batches of changes answer and store what the same changes would one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 25 }), { maxLength: 6 }), async (batches) => {
      await database.query('DELETE FROM upvotes');
      await database.query('UPDATE product_counts SET upvotes = 0');
      const model = new Set<string>();
      for (const batch of batches) {
        const outcomes = await setUpvotes(database, systemSources, batch);
        const expected = batch.map((one) => applyToModel(model, one));
        expect(outcomes.map((outcome) => (outcome instanceof CoreError ? outcome.code : outcome))).toEqual(expected);
      }
      const rows = await database.query<{ pair: string }>(
        "SELECT product_id || ' ' || user_session AS pair FROM upvotes",
      );
      expect(new Set(rows.map(({ pair }) => pair))).toEqual(model);
      const counts = await database.query<{ product_id: string; upvotes: number }>(
        'SELECT product_id, upvotes FROM product_counts ORDER BY product_id',
      );
      expect(counts).toEqual(
        PRODUCTS.map((id) => ({
          product_id: id,
          upvotes: [...model].filter((pair) => pair.startsWith(`${id} `)).length,
        })),
      );
    }),
    { numRuns: 60 },
  );
});

const upvote = (productId: string, session = 'session-of-one', upvoted = true): UpvoteChange => ({
  productId,
  session,
  upvoted,
});

test('an id that no database could store is of no product, and spoils nothing for the others', async () => {
  await saveProducts(database, [buildProduct({ id: 'beside' })]);
  const outcomes = await setUpvotes(database, systemSources, [upvote('x\0y'), upvote('beside')]);
  expect(outcomes).toEqual([
    expect.objectContaining({ code: 'product_not_found', message: 'Product not found' }),
    { upvoted: true, upvotes: 1 },
  ]);
});

test('a batch that changes every count is one statement; only counts that stay as they were are asked for after it', async () => {
  const recorded = recordStatements(database);
  const statementsOf = async (...changes: UpvoteChange[]) => {
    recorded.statements.length = 0;
    await setUpvotes(recorded.database, systemSources, changes);
    return recorded.statements.filter(({ text }) => !text.includes('pg_extension'));
  };
  expect(await statementsOf(upvote('flow'), upvote('tide'))).toHaveLength(1);
  const [, asked] = await statementsOf(upvote('flow'), upvote('tide', 'session-other'));
  expect(asked?.values).toEqual([['flow']]);
});

// Citus locks rows in no order; what meets crosswise there is found out and tried again (docs/scaling.md).
if (inject('citusWorkers').length === 0) {
  test('who waits for a product holds nothing yet that another could wait for', async () => {
    const id = 'harbour';
    await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof setUpvotes> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [id]);
      waiting = setUpvotes(database, systemSources, [upvote(id)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // The same upvote, by another process: had the other written it already, the two would now stand crosswise.
      const [outcome] = await setUpvotes(sql, systemSources, [upvote(id)]);
      expect(outcome).toEqual({ upvoted: true, upvotes: 1 });
    });
    expect(await waiting).toEqual([{ upvoted: true, upvotes: 1 }]);
    expect(await database.query('SELECT FROM upvotes WHERE product_id = $1', [id])).toHaveLength(1);
  });

  test('products are waited for in the order of their ids, so that two who write the same ones never stand crosswise', async () => {
    // As they lie in the table, the other comes first.
    for (const id of ['quay-2', 'quay-1']) await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof setUpvotes> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("SELECT FROM product_counts WHERE product_id = 'quay-1' FOR UPDATE");
      waiting = setUpvotes(database, systemSources, [upvote('quay-2'), upvote('quay-1')]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query("UPDATE product_counts SET comments = comments + 1 WHERE product_id = 'quay-2'");
    });
    expect(await waiting).toEqual([1, 1].map((upvotes) => ({ upvoted: true, upvotes })));
  });
}

test('a product that is being removed is unknown already, to those who upvoted it before too', async () => {
  await saveProducts(database, [buildProduct({ id: 'leaving' })]);
  await setUpvotes(database, systemSources, [upvote('leaving')]);
  await database.query(
    "UPDATE product_counts SET closed_until = now() + interval '1 hour' WHERE product_id = 'leaving'",
  );
  for (const upvoted of [true, false]) {
    const [outcome] = await setUpvotes(database, systemSources, [upvote('leaving', 'session-of-one', upvoted)]);
    expect(outcome).toMatchObject({ code: 'product_not_found' });
  }
});

describe('where rows are not locked first, a product that is removed while it is upvoted', () => {
  async function upvoteWhileRemoved(changes: UpvoteChange[]): Promise<PromiseSettledResult<unknown> | undefined> {
    await saveProducts(database, [buildProduct({ id: 'shoal' })]);
    let writing: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("DELETE FROM products WHERE id = 'shoal'");
      writing = Promise.allSettled([setUpvotes(withoutRowLocks(database), systemSources, changes)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    return (await writing)?.[0];
  }

  test('is unknown to the one who did', async () => {
    expect(await upvoteWhileRemoved([upvote('shoal')])).toEqual({
      status: 'fulfilled',
      value: [expect.objectContaining({ code: 'product_not_found' })],
    });
  });

  test('undoes the whole batch, so that each of it is tried by itself', async () => {
    const outcome = await upvoteWhileRemoved([upvote('shoal'), upvote('ebb', 'session-undone')]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '23503' } });
    expect(await database.query("SELECT FROM upvotes WHERE user_session = 'session-undone'")).toEqual([]);
  });
});

test('another failure of the database is no matter of the product', async () => {
  const broken = { query: () => Promise.reject(new CoreError('unavailable', 'away')) };
  await expect(setUpvotes(broken, systemSources, [upvote('ebb')])).rejects.toMatchObject({ code: 'unavailable' });
});
