import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { differencesOf, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Database, Sql } from '../database/database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { type FinalizeOptions, finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { refreshLaunches } from './launch-votes.ts';
import { placeLaunches } from './update-boards.ts';
import { readSecret } from './vote-networks.ts';

const DAY = '2026-06-01';
const LAUNCH = `${DAY}T10:00:00.000Z`;
const CLOSED = '2026-06-02T12:00:00.000Z';
/** When the result of the day is due. */
const DUE = '2026-06-04T00:00:00.000Z';
const CAP = 2;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const finalize = (on: Database = database, now = DUE) => finalizeDue(on, { rules: rulesAt(now), votesPerNetwork: CAP });
const digestOfText = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const boardOf = (period: string, now = DUE) => getLeaderboard(database, period, {}, rulesAt(now));
const ranksOf = async (period: string, now = DUE) =>
  (await boardOf(period, now))?.items.map(({ productId, rank, votes, excluded }) => [productId, rank, votes, excluded]);

/**
 * Creates two launches: 'tide' with three counted votes, of which one is retracted after the window, and 'reef' with
 * one counted and one excluded vote.
 */
async function seed(): Promise<void> {
  await launch(database, 'tide', LAUNCH);
  await launch(database, 'reef', LAUNCH);
  await readSecret(database, DAY, systemRuntime);
  await vote(database, 'tide', `${DAY}T10:00:05.900Z`, 'session-a');
  await vote(database, 'tide', `${DAY}T10:00:05.100Z`, 'session-b');
  await vote(database, 'tide', `${DAY}T11:00:00.000Z`, 'session-c');
  await vote(database, 'reef', `${DAY}T12:00:00.000Z`, 'session-a');
  await vote(database, 'reef', `${DAY}T13:00:00.000Z`, 'session-d');
  await database.query("UPDATE upvotes SET verdict = 'operator' WHERE user_session = 'session-d'");
  await database.query("UPDATE product_counts SET counted = 1, excluded_operator = 1 WHERE product_id = 'reef'");
  await refreshLaunches(database, ['reef']);
  await vote(database, 'tide', CLOSED, 'session-c', { upvoted: false });
  await vote(database, 'tide', CLOSED, 'session-late');
}

const RANKS = [
  ['tide', 1, 3, 0],
  ['reef', 2, 1, 1],
];

test('a day becomes final after its review: the tally is stored, and its secret and retracted votes are deleted', async () => {
  await seed();
  expect(await finalize(database, '2026-06-03T23:59:59.999Z')).toEqual({ days: [], periods: [] });
  const provisional = await tallyOf(database, DAY, '2026-06-03T23:00:00.000Z');
  expect(await finalize()).toEqual({ days: [DAY], periods: [] });
  const board = await boardOf(DAY);
  const tally = await tallyOf(database, DAY, DUE);
  expect(board).toMatchObject({ status: 'final', finalAt: DUE, revision: 0, digest: digestOfText(tally) });
  expect(await ranksOf(DAY)).toEqual(RANKS);
  const [header, ...votes] = tally.trimEnd().split('\n');
  expect(JSON.parse(header ?? '')).toEqual({
    tally: 1,
    period: DAY,
    timeZone: 'UTC',
    from: '2026-06-01T00:00:00.000Z',
    to: '2026-06-02T00:00:00.000Z',
    status: 'final',
    revision: 0,
    products: ['reef', 'tide'].map((id) => ({ id, launchedAt: LAUNCH })),
  });
  // The final tally has the same votes as the tally that was public while the day was provisional.
  expect(votes).toEqual(provisional.trimEnd().split('\n').slice(1));
  expect(votes).toHaveLength(5);
  const keys = votes.map((line) => JSON.parse(line)).map(({ product, at, voter }) => `${product} ${at} ${voter}`);
  expect(keys).toEqual(keys.toSorted());
  expect(await database.query('SELECT FROM tally_secrets')).toEqual([]);
  expect(await database.query('SELECT FROM retracted_upvotes')).toEqual([]);
  expect(await database.query("SELECT FROM site_metadata WHERE name = 'tally secrets deleted'")).toEqual([]);
  expect(await finalize()).toEqual({ days: [], periods: [] });
});

test('a final result does not change when a voter withdraws an upvote or votes after the window', async () => {
  await seed();
  await finalize();
  const [tally, ranks] = [await tallyOf(database, DAY, DUE), await ranksOf(DAY)];
  await vote(database, 'tide', '2026-06-05T00:00:00.000Z', 'session-a', { upvoted: false });
  await vote(database, 'reef', '2026-06-05T00:00:00.000Z', 'session-new');
  await finalize(database, '2026-06-06T00:00:00.000Z');
  expect(await tallyOf(database, DAY, DUE)).toBe(tally);
  expect(await ranksOf(DAY)).toEqual(ranks);
  expect(await database.query('SELECT FROM retracted_upvotes')).toEqual([]);
});

test('a result that became final while the clock was ahead does not change when the clock is set back into the window', async () => {
  await seed();
  await finalize();
  const [tally, ranks] = [await tallyOf(database, DAY, DUE), await ranksOf(DAY)];
  await vote(database, 'reef', `${DAY}T15:00:00.000Z`, 'session-new');
  await vote(database, 'tide', `${DAY}T15:00:00.000Z`, 'session-a', { upvoted: false });
  await placeLaunches(database, { ...rulesAt(`${DAY}T15:00:00.000Z`), removesEarly: true });
  expect(await tallyOf(database, DAY, DUE)).toBe(tally);
  expect(await ranksOf(DAY)).toEqual(ranks);
  expect(await differencesOf(database, DAY)).toEqual([]);
});

test('votes beyond the cap that no process has excluded yet are excluded from the final result', async () => {
  await launch(database, 'tide', LAUNCH);
  const network = '00000000-0000-0000-0000-00000000000a';
  for (const minute of [1, 2, 3, 4]) {
    await database.query(
      `INSERT INTO upvotes (id, product_id, user_session, created_at, network)
       VALUES (gen_random_uuid(), 'tide', $1, $2::timestamptz, $3::uuid)`,
      [`session-${minute}`, `${DAY}T10:0${minute}:00Z`, network],
    );
  }
  await finalize();
  const lines = (await tallyOf(database, DAY, DUE)).trimEnd().split('\n').slice(1);
  expect(lines.map((line) => JSON.parse(line)).map(({ at, reason }) => [at, reason])).toEqual([
    [`${DAY}T10:01:00Z`, null],
    [`${DAY}T10:02:00Z`, null],
    [`${DAY}T10:03:00Z`, 'network'],
    [`${DAY}T10:04:00Z`, 'network'],
  ]);
  expect(await ranksOf(DAY)).toEqual([['tide', 1, 2, 2]]);
});

test('after a site was stopped for weeks, one run finalizes all due days, then weeks, months and years, and reports them in this order', async () => {
  const days = ['2025-12-30', '2025-12-31', '2026-01-01', '2026-01-20'];
  for (const [index, day] of days.entries()) {
    // `finalizeDue` places these launches, since no process ran when they began.
    await saveProducts(database, [buildProduct({ id: `product-${index}`, createdAt: `${day}T09:00:00.000Z` })]);
  }
  const reported: string[] = [];
  const recordEvents: FinalizeOptions['recordEvents'] = async (_sql, events) => {
    for (const { data } of events) if ('kind' in data) reported.push(data.period);
  };
  const rules = rulesAt('2026-01-23T12:00:00.000Z');
  const finalized = await finalizeDue(database, { rules, votesPerNetwork: CAP, recordEvents });
  expect(finalized).toEqual({ days, periods: expect.arrayContaining(['2025-12', '2025', '2026-W01']) });
  expect(reported).toEqual([...days, '2026-W01', '2025-12', '2025']);
  const open = await database.query<{ period: string }>(
    'SELECT period FROM leaderboards WHERE final_at IS NULL ORDER BY period',
  );
  expect(open.map((row) => row.period)).toEqual(['2026', '2026-01', '2026-W04']);
});

/** Returns a database that loses its connection before statement number `count`, as if the process were killed. */
function cutBefore(count: number): { database: Database; isCut(): boolean } {
  let left = count;
  const cutting = (sql: Sql): Sql => ({
    async query(text, values) {
      left -= 1;
      if (left > 0) return sql.query(text, values);
      await sql.query('SELECT pg_terminate_backend(pg_backend_pid())').catch(() => {});
      throw new Error('killed');
    },
  });
  return {
    isCut: () => left <= 0,
    database: {
      ...database,
      ...cutting(database),
      transaction: (work) => database.transaction((sql) => work(cutting(sql))),
    },
  };
}

test('if finalizing is killed before any of its statements, the day is either final or unchanged, and a later run completes it', async () => {
  await seed();
  const votes = (await tallyOf(database, DAY, DUE)).trimEnd().split('\n').slice(1);
  let cuts = 0;
  for (let count = 1; ; count += 1) {
    const killed = cutBefore(count);
    await finalize(killed.database).catch(() => {});
    if (!killed.isCut()) break;
    cuts += 1;
    const board = await boardOf(DAY);
    const parts = await database.query('SELECT FROM tally_parts');
    expect(parts).toHaveLength(board?.status === 'final' ? 2 : 0);
    expect(await ranksOf(DAY)).toEqual(RANKS);
  }
  expect(cuts).toBeGreaterThan(15);
  await finalize();
  const tally = await tallyOf(database, DAY, DUE);
  expect(tally.trimEnd().split('\n').slice(1)).toEqual(votes);
  expect(await boardOf(DAY)).toMatchObject({ status: 'final', revision: 0, digest: digestOfText(tally) });
  expect(await database.query('SELECT FROM tally_secrets')).toEqual([]);
  expect(await database.query("SELECT FROM site_metadata WHERE name = 'tally secrets deleted'")).toEqual([]);
});

test('two processes that finalize a day concurrently produce one result', async () => {
  await seed();
  const other = joinTestDatabase(database);
  try {
    const results = await Promise.all([finalize(), finalize(other)]);
    expect(results.flatMap(({ days }) => days)).toEqual([DAY]);
    expect(await boardOf(DAY)).toMatchObject({ revision: 0, digest: digestOfText(await tallyOf(database, DAY, DUE)) });
  } finally {
    await other.drop();
  }
});

test('finalizing a day with many votes uses statements of bounded size, and does not block upvotes', async () => {
  await launch(database, 'tide', LAUNCH);
  await database.query(
    `INSERT INTO upvotes (id, product_id, user_session, created_at)
     SELECT gen_random_uuid(), 'tide', 'session-' || n, $1::timestamptz + n * interval '1 second' FROM generate_series(1, 12000) AS n`,
    [LAUNCH],
  );
  let mostRows = 0;
  let mostBytes = 0;
  let written: Promise<void> | undefined;
  const watched = (sql: Sql): Sql => ({
    async query<Row extends object>(text: string, values: readonly unknown[] = []) {
      const rows = await sql.query<Row>(text, values);
      mostRows = Math.max(mostRows, rows.length);
      for (const value of values) if (Buffer.isBuffer(value)) mostBytes = Math.max(mostBytes, value.length);
      if (text.startsWith('INSERT INTO tally_parts')) {
        // A visitor upvotes and a voter withdraws an upvote while the transaction is open.
        written ??= vote(database, 'tide', DUE, 'session-visitor').then(() =>
          vote(database, 'tide', DUE, 'session-7', { upvoted: false }),
        );
        await written;
      }
      return rows;
    },
  });
  await finalize({ ...database, transaction: (work) => database.transaction((sql) => work(watched(sql))) });
  expect(written).toBeDefined();
  expect(mostRows).toBe(1_000);
  expect(mostBytes).toBeLessThan(300_000);
  expect(await ranksOf(DAY)).toEqual([['tide', 1, 12_000, 0]]);
  expect(await boardOf(DAY)).toMatchObject({ digest: digestOfText(await tallyOf(database, DAY, DUE)) });
});

test('removing a product from a final result creates a revision, and restoring it creates another with the same votes', async () => {
  await seed();
  await finalize(database, '2027-02-01T00:00:00.000Z');
  const votesOf = async () => (await tallyOf(database, DAY, DUE)).trimEnd().split('\n').slice(1);
  const before = await votesOf();
  await removeProducts(database, ['tide']);
  for (const period of [DAY, '2026-W23', '2026-06', '2026']) {
    expect(await boardOf(period, '2027-02-01T00:00:00.000Z')).toMatchObject({ status: 'final', revision: 1 });
  }
  expect(await ranksOf(DAY)).toEqual([['reef', 1, 1, 1]]);
  expect(await boardOf(DAY)).toMatchObject({ digest: digestOfText(await tallyOf(database, DAY, DUE)) });
  await restoreProducts(database, { last: true });
  expect(await boardOf(DAY)).toMatchObject({ revision: 2, digest: digestOfText(await tallyOf(database, DAY, DUE)) });
  expect(await ranksOf(DAY)).toEqual(RANKS);
  expect(await votesOf()).toEqual(before);
});

test('a product removed before its day was final is restored into a new revision with its votes', async () => {
  await seed();
  await removeProducts(database, ['tide']);
  await finalize();
  expect(await ranksOf(DAY)).toEqual([['reef', 1, 1, 1]]);
  await restoreProducts(database, { last: true });
  expect(await ranksOf(DAY)).toEqual(RANKS);
  expect(await boardOf(DAY)).toMatchObject({ revision: 1, digest: digestOfText(await tallyOf(database, DAY, DUE)) });
  expect((await tallyOf(database, DAY, DUE)).match(/"product":"tide"/g)).toHaveLength(3);
});

test('a launch moves with createdAt until its day is final; after that, the boards stay unchanged', async () => {
  await seed();
  await saveProducts(database, [buildProduct({ id: 'reef', createdAt: '2026-06-02T00:30:00.000Z' })]);
  await finalize();
  expect(await ranksOf(DAY)).toEqual([['tide', 1, 3, 0]]);
  const final = await tallyOf(database, DAY, DUE);
  await saveProducts(database, [buildProduct({ id: 'tide', createdAt: '2026-06-03T00:00:00.000Z' })]);
  await placeLaunches(database, rulesAt(DUE));
  await finalize(database, '2026-06-08T00:00:00.000Z');
  expect(await ranksOf(DAY)).toEqual([['tide', 1, 3, 0]]);
  expect(await tallyOf(database, DAY, DUE)).toBe(final);
  expect((await boardOf(DAY))?.items[0]).toMatchObject({ launchedAt: LAUNCH });
});

test('adding a product to a finalized day creates a revision with a new digest', async () => {
  await seed();
  await finalize();
  const digest = (await boardOf(DAY))?.digest;
  await launch(database, 'late', `${DAY}T20:00:00.000Z`, DUE);
  const board = await boardOf(DAY);
  expect(board).toMatchObject({ status: 'final', revision: 1, launches: 3 });
  expect(board?.digest).not.toBe(digest);
  expect(board?.digest).toBe(digestOfText(await tallyOf(database, DAY, DUE)));
});
