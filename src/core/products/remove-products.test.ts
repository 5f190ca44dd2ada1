import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { deadlockOnce, interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { withoutTimeouts } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Sql } from '../database/database.ts';
import { finalizeDue } from '../leaderboards/finalize.ts';
import { getLeaderboard } from '../leaderboards/get-leaderboard.ts';
import { getStandings } from '../leaderboards/get-standings.ts';
import { placeLaunches } from '../leaderboards/update-boards.ts';
import { systemRuntime } from '../runtime.ts';
import { createSubmission } from '../submissions/create-submission.ts';
import { approveSubmission, undoDecision } from '../submissions/decide-submission.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { readProducts } from './product-row.ts';
import { removeProducts } from './remove-products.ts';
import { restoreProducts } from './restore-products.ts';
import { launchOf, saveProducts } from './save-products.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  // Makes the product large enough that writes are blocked during its removal.
  await database.query('UPDATE product_counts SET upvotes = 5000');
});
afterAll(() => database.drop());

const states = () =>
  database.query('SELECT product_id, writes_blocked_until > clock_timestamp() AS closed FROM product_counts');

/** Runs `work` in the transaction of a removal, before its products are deleted. */
const duringRemoval = (work: (sql: Sql) => Promise<unknown>) =>
  interruptTransactions(withoutTimeouts(database), 'DELETE FROM products', work);

test('a large product whose removal fails is unchanged, and accepts upvotes again immediately', async () => {
  let closed: unknown[] = [];
  const failing = duringRemoval(async (sql) => {
    closed = await states();
    await sql.query('SELECT 1 / 0');
  });
  await expect(removeProducts(failing, ['tide'])).rejects.toMatchObject({ code: '22012' });
  expect(closed, 'writes were blocked during the removal').toEqual([{ product_id: 'tide', closed: true }]);
  expect(await states()).toEqual([{ product_id: 'tide', closed: false }]);
  expect(await database.query('SELECT FROM removed_products')).toEqual([]);
  const vote = { productId: 'tide', session: 'session-of-a-voter', upvoted: true };
  expect((await setUpvotes(database, systemRuntime, [vote])).outcomes).toEqual([{ upvoted: true, upvotes: 5_001 }]);
});

test('a vote for one of many small products does not wait for the removal of the products', async () => {
  const ids = Array.from({ length: 500 }, (_, index) => `wave-${index}`);
  await saveProducts(
    database,
    ids.map((id) => buildProduct({ id })),
  );
  const vote = { productId: 'wave-7', session: 'session-of-a-voter', upvoted: true };
  let outcomes: unknown[] = [];
  const slow = duringRemoval(async () => {
    outcomes = (await setUpvotes(database, systemRuntime, [vote])).outcomes;
  });
  expect((await removeProducts(slow, ids)).removed).toHaveLength(500);
  expect(outcomes).toMatchObject([{ code: 'product_not_found' }]);
});

test('a product that is restored while others are being removed stays, because votes for it are not locked out', async () => {
  await saveProducts(database, [buildProduct({ id: 'ebb' }), buildProduct({ id: 'flow' })]);
  await removeProducts(database, ['flow']);
  const interrupted = interruptTransactions(database, 'FROM product_counts WHERE product_id = ANY', async () => {
    await restoreProducts(database, { last: true });
  });
  expect(await removeProducts(interrupted, ['ebb', 'flow'], undefined, { skipsUnknown: true })).toMatchObject({
    removed: [{ id: 'ebb' }],
    unknown: ['flow'],
  });
});

test('a removal that waits for an edit of its product delays no vote or launch, and stores the edit', async () => {
  const launched = { id: 'edited', createdAt: '2026-01-01T00:00:00.000Z' };
  await launch(database, 'edited', launched.createdAt);
  await saveProducts(database, [buildProduct({ ...launched, name: 'Before' })]);
  const vote = { productId: 'edited', session: 'session-of-a-voter', upvoted: true };
  let removal: Promise<unknown> = Promise.resolve();
  await database.transaction(async (sql) => {
    await saveProducts(sql, [buildProduct({ ...launched, name: 'After' })]);
    removal = removeProducts(withoutTimeouts(database), ['edited']);
    await expect.poll(async () => (await blockedStatements(database)).join()).toContain('products');
    expect((await setUpvotes(database, systemRuntime, [vote])).outcomes).toEqual([{ upvoted: true, upvotes: 1 }]);
    await launch(database, 'neighbour', launched.createdAt);
  });
  await removal;
  await restoreProducts(database, { productIds: ['edited'] });
  expect(await readProducts(database, ['edited'])).toMatchObject([{ name: 'After', upvotes: 1 }]);
});

test('a restoration that deadlocks with another transaction is retried', async () => {
  await saveProducts(database, [buildProduct({ id: 'restored' })]);
  await removeProducts(database, ['restored']);
  const { restored } = await restoreProducts(deadlockOnce(database, 'INSERT INTO products'), {
    productIds: ['restored'],
  });
  expect(restored).toMatchObject([{ id: 'restored' }]);
});

test('a launch that is removed before its last vote reaches its boards is restored with that vote', async () => {
  const now = new Date().toISOString();
  await launch(database, 'reef', now);
  await setUpvotes(database, systemRuntime, [{ productId: 'reef', session: 'session-of-a-voter', upvoted: true }]);
  await removeProducts(database, ['reef']);
  await restoreProducts(database, { last: true });
  expect(await getStandings(database, 'reef', rulesAt(now))).toMatchObject({ day: { votes: 1, upvotes: 1 } });
});

test('a product that is removed before its launch and restored after the launch time launches immediately', async () => {
  const [launchAt, removedAt] = [new Date('2026-03-02T10:00:00.000Z'), '2026-03-01T10:00:00.000Z'];
  await saveProducts(database, [buildProduct({ id: 'missed', ...launchOf(launchAt, 'Asia/Tokyo') })]);
  await removeProducts(database, ['missed']);
  await database.query("UPDATE removed_products SET removed_at = $1 WHERE product_id = 'missed'", [removedAt]);
  const started = Date.now();
  await restoreProducts(database, { productIds: ['missed'] }, 'Asia/Tokyo');
  const [product] = await readProducts(database, ['missed']);
  const launchedAt = new Date(product?.createdAt ?? 0);
  // The clock may move back slightly.
  expect(launchedAt.getTime()).toBeGreaterThanOrEqual(started - 1_000);
  expect(product).toMatchObject(launchOf(launchedAt, 'Asia/Tokyo'));
  const windows = await database.query("SELECT window_from FROM product_counts WHERE product_id = 'missed'");
  expect(windows).toEqual([{ window_from: launchedAt }]);
  const rules = rulesAt(launchedAt.toISOString());
  await placeLaunches(database, rules);
  const day = launchedAt.toISOString().slice(0, 10);
  expect(await getStandings(database, 'missed', rules)).toMatchObject({ day: { period: day, status: 'open' } });
});

test('a launch that is removed before it moves, and restored after its previous day became final, gets a result on its new day', async () => {
  const createdAt = '2026-06-05T10:00:00.000Z';
  await launch(database, 'moving', '2026-06-01T10:00:00.000Z');
  await saveProducts(database, [buildProduct({ id: 'moving', createdAt })]);
  await removeProducts(database, ['moving']);
  const before = rulesAt('2026-06-04T00:00:00.000Z');
  const { days } = await finalizeDue(database, { rules: before, votesPerNetwork: 20 });
  expect(days).toContain('2026-06-01');
  await restoreProducts(database, { productIds: ['moving'] });
  await placeLaunches(database, rulesAt(createdAt));
  await vote(database, 'moving', '2026-06-05T11:00:00.000Z', 'session-of-a-voter');
  expect(await getStandings(database, 'moving', rulesAt(createdAt))).toMatchObject({
    day: { period: '2026-06-05', status: 'open', votes: 1 },
  });
  expect(await getLeaderboard(database, '2026-06-01', {}, before)).toMatchObject({ revision: 0, launches: 0 });
});

test('an approval can be undone after its removed product was restored and launched late', async () => {
  const before = new Date('2026-03-01T10:00:00.000Z');
  const sent = { name: 'Late', launchAt: '2026-03-02T10:00:00.000Z' };
  const runtime = { ...systemRuntime, now: () => before };
  const { row } = await createSubmission(database, runtime, sent, { submitter: { session: 'session-of-a-maker' } });
  await approveSubmission(database, { id: row.id }, { now: before, timeZone: 'UTC' });
  await removeProducts(database, [row.id]);
  await database.query('UPDATE removed_products SET removed_at = $2 WHERE product_id = $1', [
    row.id,
    before.toISOString(),
  ]);
  await restoreProducts(database, { productIds: [row.id] });
  expect(await undoDecision(database, { id: row.id }, { now: new Date(), timeZone: 'UTC' })).toMatchObject({
    status: 'waiting',
    launch_at: new Date(sent.launchAt),
  });
  expect(await readProducts(database, [row.id])).toEqual([]);
});
