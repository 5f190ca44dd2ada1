import { afterEach, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createCore } from '../core.ts';
import { repairCounts } from '../counts/check-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts, writeProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from '../upvotes/network-counts.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { getStandings, isPlaceable } from './get-standings.ts';
import { recountLaunches, refreshAvailableLaunches } from './launch-votes.ts';
import { placeLaunch, placeLaunches } from './update-boards.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

const NOW = new Date('2026-06-01T12:00:00.000Z');
const RULES = { votesPerNetwork: 20, networkCounts: createNetworkCounts() };

test.each(['UTC', 'America/New_York', 'Asia/Tokyo', 'Pacific/Kiritimati'])(
  'in %s, a product launched in the year 1 delays no other launch, and viewing it does not place it',
  async (timeZone) => {
    const at = (createdAt: string) =>
      saveProducts(database, [buildProduct({ id: 'zero', createdAt }), buildProduct({ id: 'today', createdAt })]);
    const placed = () =>
      database.query('SELECT product_id, day FROM launches WHERE day IS NOT NULL ORDER BY product_id');
    await at('2026-06-01T11:00:00.000Z');
    await placeLaunches(database, { now: NOW, timeZone, reviewHours: 24 });
    expect(await placed()).toHaveLength(2);

    await at('0001-01-01T00:00:00.000Z');
    await saveProducts(database, [buildProduct({ id: 'today', createdAt: '2026-05-30T11:00:00.000Z' })]);
    await placeLaunches(database, { now: NOW, timeZone, reviewHours: 24 });
    expect(await placed()).toEqual([{ product_id: 'today', day: expect.stringMatching(/^2026-05-3[01]$/) }]);
    expect(await placeLaunches(database, { now: NOW, timeZone, reviewHours: 24 })).toEqual({
      productIds: [],
      mayHaveMore: false,
      isBlocked: false,
    });
    expect(await isPlaceable(database, 'zero', { now: NOW, timeZone, reviewHours: 24 })).toBe(false);
  },
);

test('a launch is placed even while another transaction has locked its product', async () => {
  await saveProducts(database, [buildProduct({ id: 'held', createdAt: '2026-06-01T10:00:00.000Z' })]);
  await database.transaction(async (sql) => {
    // Locks the product, as a deletion that is waiting for the counts does. Placing must not wait for this lock.
    await sql.query("SELECT FROM products WHERE id = 'held' FOR UPDATE");
    expect((await placeLaunches(database, { now: NOW, timeZone: 'UTC', reviewHours: 24 })).productIds).toEqual([
      'held',
    ]);
  });
});

test('a launch whose counts another transaction has locked is placed later, and delays no other launch', async () => {
  const createdAt = '2026-06-01T10:30:00.000Z';
  await saveProducts(database, [buildProduct({ id: 'free', createdAt }), buildProduct({ id: 'leaving', createdAt })]);
  await database.transaction(async (sql) => {
    await sql.query("SELECT FROM product_counts WHERE product_id = 'leaving' FOR UPDATE");
    expect(await placeLaunches(database, { now: NOW, timeZone: 'UTC', reviewHours: 24 })).toMatchObject({
      productIds: ['free'],
      isBlocked: true,
    });
  });
  expect((await placeLaunches(database, { now: NOW, timeZone: 'UTC', reviewHours: 24 })).productIds).toEqual([
    'leaving',
  ]);
});

test('viewing a launch places it between two votes that follow each other without a pause', async () => {
  await saveProducts(database, [buildProduct({ id: 'popular', createdAt: '2026-06-01T10:00:00.000Z' })]);
  const view = () => placeLaunch(database, 'popular', { now: NOW, timeZone: 'UTC', reviewHours: 24 });
  const viewDuringVote = async () => {
    let viewing = Promise.resolve(false);
    await database.transaction(async (sql) => {
      await sql.query("SELECT FROM product_counts WHERE product_id = 'popular' FOR UPDATE");
      let isDone = false;
      viewing = view().finally(() => {
        isDone = true;
      });
      await expect.poll(async () => isDone || (await blockedStatements(database)).length > 0).toBe(true);
    });
    return viewing;
  };
  // On a busy machine, the view may wait longer than its lock timeout for the vote, and give up.
  await expect.poll(viewDuringVote).toBe(true);
});

test('a day with a locked launch becomes final only after the launch is placed, so its result needs no revision; other days do not wait', async () => {
  const rules = rulesAt('2026-03-20T00:00:00.000Z');
  const finalize = () => finalizeDue(database, { rules, votesPerNetwork: 20 });
  await launch(database, 'placed', '2026-03-02T10:00:00.000Z');
  await launch(database, 'other-day', '2026-03-03T10:00:00.000Z');
  await launch(database, 'other-week', '2026-02-25T10:00:00.000Z');
  await writeProducts(database, [buildProduct({ id: 'overdue', createdAt: '2026-03-02T11:00:00.000Z' })]);
  await database.transaction(async (sql) => {
    await sql.query("SELECT FROM product_counts WHERE product_id = 'overdue' FOR UPDATE");
    expect(await finalize()).toEqual({
      days: ['2026-02-25', '2026-03-03'],
      periods: expect.not.arrayContaining(['2026-W10']),
    });
  });
  expect(await finalize()).toEqual({ days: ['2026-03-02'], periods: ['2026-W10'] });
  expect(await getLeaderboard(database, '2026-03-02', {}, rules)).toMatchObject({ launches: 2, revision: 0 });
});

test('a launch without a row of counts delays only the results of its own periods', async () => {
  const rules = rulesAt('2025-03-20T00:00:00.000Z');
  const finalize = () => finalizeDue(database, { rules, votesPerNetwork: 20 });
  await launch(database, 'complete', '2025-03-03T10:00:00.000Z');
  await writeProducts(database, [buildProduct({ id: 'broken', createdAt: '2025-03-04T10:00:00.000Z' })]);
  await database.query("DELETE FROM product_counts WHERE product_id = 'broken'");
  expect(await finalize()).toEqual({ days: ['2025-03-03'], periods: [] });
  await repairCounts(database, ['broken']);
  expect(await finalize()).toEqual({ days: ['2025-03-04'], periods: ['2025-W10'] });
});

test('concurrent views of a launch place only that launch, and only once; other launches have no standing yet', async () => {
  const createdAt = '2026-06-01T09:30:00.000Z';
  await saveProducts(database, [buildProduct({ id: 'viewed', createdAt }), buildProduct({ id: 'other', createdAt })]);
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  let transactions = 0;
  const delayed: Database = {
    ...database,
    async transaction(work) {
      transactions += 1;
      await begun;
      return database.transaction(work);
    },
  };
  const core = createCore(delayed, { runtime: { ...systemRuntime, now: () => NOW } });
  const views = [core.getStandings('viewed'), core.getStandings('viewed')];
  await expect.poll(() => transactions).toBeGreaterThan(0);
  expect(await core.getStandings('other')).toBeNull();
  begin();
  const standings = { day: { period: '2026-06-01' } };
  expect(await Promise.all(views)).toMatchObject([standings, standings]);
  expect(transactions).toBe(1);
  expect(await isPlaceable(database, 'other', rulesAt(NOW.toISOString()))).toBe(true);
});

test('a launch that is placed while a visitor views it has a standing', async () => {
  await saveProducts(database, [buildProduct({ id: 'viewed', createdAt: '2026-06-01T09:30:00.000Z' })]);
  const interrupted: Database = {
    ...database,
    async query(text, ...rest) {
      if (text.startsWith('SELECT launched_at FROM launches'))
        await placeLaunches(database, rulesAt(NOW.toISOString()));
      return database.query(text, ...rest);
    },
  };
  const core = createCore(interrupted, { runtime: { ...systemRuntime, now: () => NOW } });
  expect(await core.getStandings('viewed')).toMatchObject({ day: { period: '2026-06-01' } });
});

test('launches that the finalizer places are recorded as a change for every process', async () => {
  await writeProducts(database, [buildProduct({ id: 'overslept', createdAt: '2026-06-01T09:00:00.000Z' })]);
  await finalizeDue(database, { rules: rulesAt(NOW.toISOString()), votesPerNetwork: 20 });
  expect(await database.query("SELECT catalogue FROM changes WHERE 'overslept' = ANY(product_ids)")).toEqual([
    { catalogue: true },
  ]);
});

test('a launch that began while the clock was ahead leaves its boards when the clock is set back, and begins again with its votes', async () => {
  const launchedAt = '2026-06-08T00:30:00.000Z';
  const rules = { timeZone: 'UTC', reviewHours: 24, removesEarly: true };
  const boards = () =>
    database.query(
      `SELECT period, votes, products FROM leaderboard_counts WHERE products <> 0
       AND period IN ('2026-06-08', '2026-W24') ORDER BY period`,
    );
  const begun = [
    { period: '2026-06-08', votes: 1, products: 1 },
    { period: '2026-W24', votes: 1, products: 1 },
  ];
  await launch(database, 'early', launchedAt);
  await vote(database, 'early', '2026-06-08T01:00:00.000Z', 'session-early');
  expect(await boards()).toEqual(begun);

  // Placed launches stay on their boards if the clock goes back by at most two minutes, because processes' clocks may
  // differ.
  const justBefore = new Date('2026-06-08T00:29:00.000Z');
  expect((await placeLaunches(database, { ...rules, now: justBefore })).productIds).toEqual([]);
  expect((await placeLaunches(database, { ...rules, now: NOW })).productIds).toEqual(['early']);
  expect(await boards()).toEqual([]);
  expect(await database.query("SELECT day, votes FROM launches WHERE product_id = 'early'")).toEqual([
    { day: null, votes: 0 },
  ]);
  expect((await placeLaunches(database, { ...rules, now: NOW })).productIds).toEqual([]);

  await placeLaunches(database, { ...rules, now: new Date(launchedAt) });
  expect(await boards()).toEqual(begun);
});

test('while an import moves launches, other launches are placed and refreshed, and a vote does not wait', async () => {
  await launch(database, 'moving', '2026-06-01T10:00:00.000Z');
  await launch(database, 'steady', '2026-06-01T10:00:00.000Z');
  await saveProducts(
    database,
    ['due', 'punctual'].map((id) => buildProduct({ id, createdAt: '2026-06-01T11:00:00.000Z' })),
  );
  await database.query("UPDATE product_counts SET counted = 3 WHERE product_id IN ('moving', 'steady')");
  await database.transaction(async (sql) => {
    const createdAt = '2026-06-01T13:00:00.000Z';
    await writeProducts(sql, [buildProduct({ id: 'moving', createdAt }), buildProduct({ id: 'due', createdAt })]);
    expect(await placeLaunches(database, { now: NOW, timeZone: 'UTC', reviewHours: 24 })).toMatchObject({
      productIds: ['punctual'],
      isBlocked: true,
    });
    expect(await refreshAvailableLaunches(database, ['moving', 'steady'])).toEqual({
      refreshed: ['steady'],
      skipped: ['moving'],
    });
    const voter = { productId: 'due', session: 'session-voter', upvoted: true };
    expect((await setUpvotes(database, { ...systemRuntime, now: () => NOW }, [voter], RULES)).outcomes).toMatchObject([
      { upvotes: 1 },
    ]);
  });
});

test('a month becomes final only after a concurrent change of its launches has committed', async () => {
  for (const id of ['stays', 'leaves']) await launch(database, id, '2028-06-10T10:00:00.000Z');
  const finalize = (now: string) => finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: 20 });
  const june = () => getLeaderboard(database, '2028-06', {}, rulesAt('2028-07-04T00:00:00.000Z'));
  await finalize('2028-06-14T00:00:00.000Z');
  let finalizing: Promise<unknown> | undefined;
  const delayed: Database = {
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        const result = await work(sql);
        finalizing = finalize('2028-07-04T00:00:00.000Z');
        await Promise.race([finalizing, expect.poll(() => blockedStatements(database)).not.toEqual([])]);
        expect(await june()).toMatchObject({ status: 'provisional', launches: 2 });
        return result;
      }),
  };
  await removeProducts(delayed, ['leaves']);
  await finalizing;
  expect(await june()).toMatchObject({ status: 'final', revision: 0, launches: 1 });
});

test('votes in the first and the last millisecond of a window count, and a vote at its end does not, when cast and when recounted', async () => {
  const start = Date.parse('2026-08-08T10:00:00.000Z');
  await launch(database, 'edges', new Date(start).toISOString());
  const counted = async () =>
    (await database.query("SELECT counted, upvotes FROM product_counts WHERE product_id = 'edges'"))[0];
  const end = start + 24 * 3_600_000;
  for (const [at, votes] of [
    [start, 1],
    [end - 1, 2],
    [end, 2],
  ] as const) {
    await vote(database, 'edges', new Date(at).toISOString(), `session-at-${at}`);
    expect(await counted()).toMatchObject({ counted: votes });
  }
  await database.query("UPDATE product_counts SET counted = 0 WHERE product_id = 'edges'");
  await recountLaunches(database, ['edges']);
  expect(await counted()).toEqual({ counted: 2, upvotes: 3 });
});

test('a standing that is read while the launch gets a vote has the new number of votes and its rank', async () => {
  await launch(database, 'tide', '2026-06-01T10:00:00.000Z');
  const cast = (session: string) => vote(database, 'tide', '2026-06-01T11:00:00.000Z', session);
  await cast('of-ann');
  let statements = 0;
  /** Casts a vote after each of the first statements. */
  const readDuringVotes = (votes: number) => {
    statements = 0;
    const sql: Sql = {
      query: async (...parameters) => {
        const rows = await database.query(...parameters);
        statements += 1;
        if (statements <= votes) await cast(`of-${votes}-${statements}`);
        return rows as never;
      },
    };
    return getStandings(sql, 'tide', rulesAt('2026-06-01T12:00:00.000Z'));
  };
  const standings = await readDuringVotes(1);
  for (const standing of Object.values(standings ?? {})) {
    expect(standing).toMatchObject({ rank: 1, launches: 1, votes: 2, above: null, below: null });
  }
  expect(Object.keys(standings ?? {})).toEqual(['day', 'week', 'month', 'year']);
  // A launch that gets votes all the time is read three times, with two statements each.
  expect((await readDuringVotes(100))?.day).toMatchObject({ votes: 6 });
  expect(statements).toBe(6);
});
