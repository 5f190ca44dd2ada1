import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { withoutRowLocks } from '../../../tests/support/lockless-database.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { withinTransaction } from '../../../tests/support/within-transaction.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from './network-counts.ts';
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

/** Applies a change to a model of upvotes: a set of pairs of product and session. */
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

test('a batch excludes the same votes beyond the cap of a network as single votes would', async () => {
  const vote = fc.record({
    session: fc.constantFrom(...SESSIONS),
    network: fc.constantFrom(undefined, '00000000-0000-0000-0000-00000000000a', '00000000-0000-0000-0000-00000000000b'),
  });
  const ids = ['together', 'apart'] as const;
  const oneVote = { votesPerNetwork: 1, networkCounts: createNetworkCounts() };
  const now = new Date();
  const launched = ids.map((id) => buildProduct({ id, createdAt: new Date(now.getTime() - 60_000).toISOString() }));
  await saveProducts(database, launched);
  const verdictsOf = (id: string) =>
    database.query('SELECT user_session, network, verdict FROM upvotes WHERE product_id = $1 ORDER BY user_session', [
      id,
    ]);
  const countsOf = (id: string) =>
    database.query('SELECT upvotes, counted, excluded_network FROM product_counts WHERE product_id = $1', [id]);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(vote, { minLength: 1, maxLength: 6 }), { maxLength: 3 }), async (batches) => {
      await database.query('DELETE FROM upvotes WHERE product_id = ANY($1::text[])', [ids]);
      await database.query('UPDATE product_counts SET upvotes = 0, counted = 0, excluded_network = 0');
      for (const batch of batches) {
        const changes = (productId: string) => batch.map((one) => ({ ...one, productId, upvoted: true }));
        // If a session votes several times, a batch writes the last vote, but separate writes would keep the first.
        const distinct = new Map(changes('together').map((one) => [one.session, one]));
        const written = [...distinct.values()];
        await setUpvotes(database, systemRuntime, written, oneVote);
        for (const one of written) await setUpvotes(database, systemRuntime, [{ ...one, productId: 'apart' }], oneVote);
      }
      expect(await verdictsOf('together')).toEqual(await verdictsOf('apart'));
      expect(await countsOf('together')).toEqual(await countsOf('apart'));
    }),
    { numRuns: 25 },
  );
  await database.query('DELETE FROM products WHERE id = ANY($1::text[])', [ids]);
});

test('a batch of changes returns and stores the same as single changes', async () => {
  const batch = fc.array(change, { minLength: 1, maxLength: 25, size: 'max' });
  await fc.assert(
    fc.asyncProperty(fc.array(batch, { maxLength: 6 }), async (batches) => {
      await database.query('DELETE FROM upvotes');
      await database.query('UPDATE product_counts SET upvotes = 0');
      const model = new Set<string>();
      for (const batch of batches) {
        const { outcomes } = await setUpvotes(database, systemRuntime, batch);
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

test('an id that cannot be stored belongs to no product, and does not affect other changes of the batch', async () => {
  await saveProducts(database, [buildProduct({ id: 'beside' })]);
  const { outcomes } = await setUpvotes(database, systemRuntime, [upvote('x\0y'), upvote('beside')]);
  expect(outcomes).toEqual([
    expect.objectContaining({ code: 'product_not_found', message: 'Product not found' }),
    { upvoted: true, upvotes: 1 },
  ]);
});

test('a batch that changes every count is one statement; only products with unchanged counts are locked, written again and read', async () => {
  const recorded = recordStatements(database);
  const statementsOf = async (...changes: UpvoteChange[]) => {
    recorded.statements.length = 0;
    await setUpvotes(recorded.database, systemRuntime, changes);
    return recorded.statements.filter(({ text }) => !text.includes('pg_extension'));
  };
  expect(await statementsOf(upvote('flow'), upvote('tide'))).toHaveLength(1);
  const [, ...others] = await statementsOf(upvote('flow'), upvote('tide', 'session-other'));
  expect(others.map(({ values }) => values?.[0])).toEqual([['flow'], ['flow'], ['flow']]);
});

// On Citus, rows are locked in no particular order; deadlocks are detected and transactions retried (decision 18).
if (!isCitus) {
  test('a writer that waits for the lock on a product has not yet written its upvote', async () => {
    const id = 'harbour';
    await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof setUpvotes> | undefined;
    await database.transaction(async (sql) => {
      await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [id]);
      waiting = setUpvotes(database, systemRuntime, [upvote(id)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      // Another process writes the same upvote. If the waiting writer had already written it, the two would deadlock.
      const {
        outcomes: [outcome],
      } = await setUpvotes(withinTransaction(database, sql), systemRuntime, [upvote(id)]);
      expect(outcome).toEqual({ upvoted: true, upvotes: 1 });
    });
    expect((await waiting)?.outcomes).toEqual([{ upvoted: true, upvotes: 1 }]);
    expect(await database.query('SELECT FROM upvotes WHERE product_id = $1', [id])).toHaveLength(1);
  });

  test('products are locked in the order of their ids, so two writers of the same products never deadlock', async () => {
    // The product with the greater id comes first in physical order.
    for (const id of ['quay-2', 'quay-1']) await saveProducts(database, [buildProduct({ id })]);
    let waiting: ReturnType<typeof setUpvotes> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("SELECT FROM product_counts WHERE product_id = 'quay-1' FOR UPDATE");
      waiting = setUpvotes(database, systemRuntime, [upvote('quay-2'), upvote('quay-1')]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      await sql.query("UPDATE product_counts SET comments = comments + 1 WHERE product_id = 'quay-2'");
    });
    expect((await waiting)?.outcomes).toEqual([1, 1].map((upvotes) => ({ upvoted: true, upvotes })));
  });
}

test('a product that is being removed is not found, even by sessions that upvoted it before', async () => {
  await saveProducts(database, [buildProduct({ id: 'leaving' })]);
  await setUpvotes(database, systemRuntime, [upvote('leaving')]);
  await database.query(
    "UPDATE product_counts SET writes_blocked_until = now() + interval '1 hour' WHERE product_id = 'leaving'",
  );
  for (const upvoted of [true, false]) {
    const {
      outcomes: [outcome],
    } = await setUpvotes(database, systemRuntime, [upvote('leaving', 'session-of-one', upvoted)]);
    expect(outcome).toMatchObject({ code: 'product_not_found' });
  }
});

test('a request that changes no vote succeeds as soon as a pause of writes has ended', async () => {
  await saveProducts(database, [buildProduct({ id: 'paused' })]);
  await setUpvotes(database, systemRuntime, [upvote('paused')]);
  const repeat = async (pausedUntil: string) => {
    await database.query(`UPDATE product_counts SET writes_paused_until = ${pausedUntil} WHERE product_id = 'paused'`);
    return (await setUpvotes(database, systemRuntime, [upvote('paused')])).outcomes;
  };
  expect(await repeat("now() + interval '1 hour'")).toMatchObject([{ code: 'unavailable' }]);
  expect(await repeat('now()')).toEqual([{ upvoted: true, upvotes: 1 }]);
});

describe('removing a product while it is upvoted, in a database without row locks', () => {
  async function upvoteWhileRemoved(changes: UpvoteChange[]): Promise<PromiseSettledResult<unknown> | undefined> {
    await saveProducts(database, [buildProduct({ id: 'shoal' })]);
    let writing: Promise<PromiseSettledResult<unknown>[]> | undefined;
    await database.transaction(async (sql) => {
      await sql.query("DELETE FROM products WHERE id = 'shoal'");
      writing = Promise.allSettled([setUpvotes(withoutRowLocks(database), systemRuntime, changes)]);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    return (await writing)?.[0];
  }

  test('a single upvote of a product that is removed at the same time gets product_not_found', async () => {
    expect(await upvoteWhileRemoved([upvote('shoal')])).toEqual({
      status: 'fulfilled',
      value: {
        outcomes: [expect.objectContaining({ code: 'product_not_found' })],
        productIds: [],
        commentIds: [],
        unchecked: [],
      },
    });
  });

  test('a batch of several upvotes fails as a whole if one of their products is removed at the same time', async () => {
    const outcome = await upvoteWhileRemoved([upvote('shoal'), upvote('ebb', 'session-undone')]);
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: '23503' } });
    expect(await database.query("SELECT FROM upvotes WHERE user_session = 'session-undone'")).toEqual([]);
  });
});

test('an unavailable database is not reported as an unknown product', async () => {
  const broken = { ...database, query: () => Promise.reject(new CoreError('unavailable', 'away')) };
  await expect(setUpvotes(broken, systemRuntime, [upvote('ebb')])).rejects.toMatchObject({ code: 'unavailable' });
});

test.each([
  ['postponed', 3_600_000, 7_200_000],
  ['moved to an earlier time', 7_200_000, 3_600_000],
])('a launch that is %s before it begins accepts votes from its new time on', async (_change, firstMs, thenMs) => {
  const launchAt = (ms: number) => saveProducts(database, [buildProduct({ id: 'late', createdAt: at(ms) })]);
  const at = (ms: number) => new Date(ms).toISOString();
  const voteAt = async (ms: number) => {
    const runtime = { ...systemRuntime, now: () => new Date(ms) };
    const { outcomes } = await setUpvotes(database, runtime, [{ productId: 'late', session: 'a', upvoted: true }]);
    return outcomes;
  };
  const now = Date.now();
  await launchAt(now + firstMs);
  await launchAt(now + thenMs);
  expect(await voteAt(now + thenMs - 1)).toMatchObject([{ code: 'product_not_found' }]);
  expect(await voteAt(now + thenMs)).toEqual([{ upvoted: true, upvotes: 1 }]);
  await database.query("DELETE FROM products WHERE id = 'late'");
});
