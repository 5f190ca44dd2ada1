import { afterEach, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { differencesOf, launch, rulesAt } from '../../../tests/support/launch-site.ts';
import { rowsReadFrom } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { writeProducts } from '../products/save-products.ts';
import { deleteEmptyCounts, refreshAvailableLaunches, refreshLaunches } from './launch-votes.ts';
import { placeLaunches } from './update-boards.ts';

const DAY = '2026-06-01';

let database: TestDatabase;
/** Connections of another process. */
let other: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  other = joinTestDatabase(database);
  await launch(database, 'tide', `${DAY}T10:00:00.000Z`);
});
afterEach(async () => {
  await other.drop();
  await database.drop();
});

const setCounted = (counted: number) => database.query('UPDATE product_counts SET counted = $1', [counted]);
const boardVotes = () => database.query("SELECT votes FROM launches WHERE product_id = 'tide'");

/**
 * Runs `refresh` while the launch has two counted votes and none on its board, but blocks its update until another
 * process has set the votes on the board to one.
 */
async function refreshDuringAnother<Result>(refresh: () => Promise<Result>): Promise<Result | undefined> {
  let refreshing: Promise<Result> | undefined;
  await setCounted(1);
  await database.transaction(async (sql) => {
    await refreshLaunches(sql, ['tide']);
    await setCounted(2);
    refreshing = refresh();
    await expect.poll(() => blockedStatements(database)).toHaveLength(1);
  });
  return refreshing;
}

test('a board that two processes refresh concurrently gets the newer votes', async () => {
  await refreshDuringAnother(() => refreshLaunches(other, ['tide']));
  expect(await boardVotes()).toEqual([{ votes: 2 }]);
  expect((await differencesOf(database, DAY))?.filter((text) => text.includes('products with'))).toEqual([]);
});

test('a refresh that skips locked launches reports them, so the caller can try again', async () => {
  await setCounted(1);
  await database.transaction(async (sql) => {
    await refreshLaunches(sql, ['tide']);
    await setCounted(2);
    expect(await refreshAvailableLaunches(other, ['tide'])).toEqual({ refreshed: [], skipped: ['tide'] });
  });
  expect(await refreshAvailableLaunches(other, ['tide'])).toEqual({ refreshed: ['tide'], skipped: [] });
  expect(await refreshAvailableLaunches(other, ['tide'])).toEqual({ refreshed: [], skipped: [] });
  expect(await boardVotes()).toEqual([{ votes: 2 }]);
});

test('empty histogram rows of open boards are deleted, unless another transaction is changing them', async () => {
  const countedVotes = async () => {
    const rows = await other.query<{ votes: number }>('SELECT DISTINCT votes FROM leaderboard_counts ORDER BY votes');
    return rows.map(({ votes }) => votes);
  };
  await launch(database, 'rising', `${DAY}T10:00:00.000Z`);
  for (const counted of [1, 2, 3]) {
    await database.query("UPDATE product_counts SET counted = $1 WHERE product_id = 'rising'", [counted]);
    await refreshLaunches(database, ['rising']);
  }
  await database.transaction(async (sql) => {
    await sql.query("UPDATE product_counts SET counted = 1 WHERE product_id = 'tide'");
    await refreshLaunches(sql, ['tide']);
    await deleteEmptyCounts(other);
    expect(await countedVotes()).toEqual([0, 1, 3]);
  });
  expect(await countedVotes()).toEqual([0, 1, 3]);
  await deleteEmptyCounts(other);
  expect(await countedVotes()).toEqual([1, 3]);
  expect((await differencesOf(database, DAY))?.filter((text) => text.includes('products with'))).toEqual([]);
});

test('if one launch has most of the votes, placing other launches does not read its votes', async () => {
  const now = `${DAY}T12:00:00.000Z`;
  const vote =
    "'tide', 'session-' || n, now(), gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 2000) AS n";
  const columns = 'product_id, user_session, created_at, network';
  await database.query(`INSERT INTO upvotes (${columns}, id) SELECT ${vote}`);
  await database.query(`INSERT INTO retracted_upvotes (${columns}, id) SELECT ${vote}`);
  await database.query(`INSERT INTO vote_decisions (verdict, ${columns}, vote_id) SELECT 'operator', ${vote}`);
  await database.query('ANALYZE upvotes, retracted_upvotes, vote_decisions');
  const createdAt = `${DAY}T11:00:00.000Z`;
  await writeProducts(
    database,
    Array.from({ length: 20 }, (_, n) => buildProduct({ id: `new-${n}`, createdAt })),
  );
  const recorded = recordStatements(database);
  expect((await placeLaunches(recorded.database, rulesAt(now))).productIds).toHaveLength(20);
  const read: number[] = [];
  for (const table of ['upvotes', 'retracted_upvotes', 'vote_decisions']) {
    const statements = recorded.statements.filter(({ text }) => text.includes(` ${table} `));
    for (const statement of statements) read.push(await rowsReadFrom(database, table, statement));
  }
  expect(read.length).toBeGreaterThan(3);
  expect(read.filter((rows) => rows > 0)).toEqual([]);
});
