import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Change } from '../changes/change-feed.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { writeProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from '../upvotes/network-counts.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { applyCapToLaunches } from './apply-vote-cap.ts';
import { startBoardUpdater } from './board-updater.ts';
import { getStandings } from './get-standings.ts';
import { refreshLaunches } from './launch-votes.ts';
import type { VoteNetwork } from './vote-networks.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

/** A part of the query that starts the cap check of all launches. */
const CAP_CHECK = 'c.counted + c.excluded_network > 0';

const RULES = { votesPerNetwork: 20, networkCounts: createNetworkCounts() };

const startUpdater = (
  now: string,
  votesPerNetwork: number,
  connection: Database = database,
  options: Partial<Parameters<typeof startBoardUpdater>[1]> = {},
) =>
  startBoardUpdater(connection, {
    ...rulesAt(now),
    runtime: { ...systemRuntime, now: () => new Date(now) },
    votesPerNetwork,
    log: silentLog,
    publish: () => {},
    ...options,
  });

test('the board of a launch whose window ended hours ago gets the votes that a killed process did not add', async () => {
  const now = '2026-09-03T12:00:00.000Z';
  await launch(database, 'unfinished', '2026-09-01T10:00:00.000Z');
  // Writes the vote without refreshing the board.
  const voter = { productId: 'unfinished', session: 'session-voter', upvoted: true };
  await setUpvotes(database, { ...systemRuntime, now: () => new Date('2026-09-01T11:00:00.000Z') }, [voter], RULES);
  const votes = async () => (await getStandings(database, 'unfinished', rulesAt(now)))?.day.votes;
  expect(await votes()).toBe(0);
  const updater = startUpdater(now, 20);
  await expect.poll(votes).toBe(1);
  await updater.close();
});

test('the updater deletes histogram rows that no longer have launches', async () => {
  await launch(database, 'rising', '2026-09-01T10:00:00.000Z');
  for (const session of ['session-a', 'session-b']) await vote(database, 'rising', '2026-09-01T11:00:00.000Z', session);
  const votes = () => database.query('SELECT DISTINCT votes FROM leaderboard_counts');
  expect(await votes()).toHaveLength(3);
  const updater = startUpdater('2026-09-01T12:00:00.000Z', 20);
  await expect.poll(votes).toEqual([{ votes: 2 }]);
  await updater.close();
});

test('a lower cap applies to a launch in review after a restart, before its day is final', async () => {
  const now = '2026-09-03T12:00:00.000Z';
  await launch(database, 'reviewed', '2026-09-01T10:00:00.000Z');
  const network = '00000000-0000-0000-0000-00000000000a';
  for (const session of ['session-a', 'session-b']) {
    await vote(database, 'reviewed', '2026-09-01T11:00:00.000Z', session, { network });
  }
  const standing = async () => (await getStandings(database, 'reviewed', rulesAt(now)))?.day;
  expect(await standing()).toMatchObject({ votes: 2, excluded: [] });
  const updater = startUpdater(now, 1);
  const capped = { status: 'provisional', votes: 1, excluded: [{ reason: 'network', votes: 1 }] };
  await expect.poll(standing).toMatchObject(capped);
  await updater.close();
});

describe('a correction that changes only the number of excluded votes is published', () => {
  const now = '2026-09-01T12:00:00.000Z';
  const network = '00000000-0000-0000-0000-00000000000a';
  const voteAt = (session: string, upvoted = true) =>
    setUpvotes(
      database,
      { ...systemRuntime, now: () => new Date(now) },
      [{ productId: 'tide', session, upvoted, network }],
      { votesPerNetwork: 2, networkCounts: createNetworkCounts() },
    );
  const excluded = () => database.query('SELECT counted, excluded_network AS excluded FROM product_counts');

  beforeEach(() => launch(database, 'tide', '2026-09-01T10:00:00.000Z'));

  /** Excludes the third vote from a network, then withdraws the first, without refreshing the board. */
  async function withdrawCountedVote() {
    for (const session of ['session-a', 'session-b', 'session-c']) await voteAt(session);
    // On Citus, the third vote counts until the cap is applied.
    await applyCapToLaunches(database, ['tide'], 2);
    await refreshLaunches(database, ['tide']);
    const { unchecked } = await voteAt('session-a', false);
    expect(await excluded()).toEqual([{ counted: 1, excluded: 1 }]);
    return unchecked;
  }

  test.each(['cap check of the written votes', 'cap check at the start', 'sweep'])('by the %s', async (what) => {
    let unchecked: VoteNetwork[] = [];
    if (what !== 'sweep') unchecked = await withdrawCountedVote();
    else {
      await database.query(
        `INSERT INTO retracted_upvotes (product_id, id, user_session, created_at, network, verdict)
         VALUES ('tide', gen_random_uuid(), 'session-a', $1, $2, 'network')`,
        [now, network],
      );
      await database.query('UPDATE product_counts SET excluded_network = 1');
    }
    const published: Change[] = [];
    // A refresh would also publish the launch if the sweep found its stale board before the cap check corrected it.
    const withoutRefreshes = without(database, 'l.votes <> c.counted');
    const checked = what === 'cap check at the start' ? withoutRefreshes : without(withoutRefreshes, CAP_CHECK);
    const updater = startUpdater(now, 2, checked, { publish: (change) => published.push(change) });
    if (what === 'cap check of the written votes') updater.onUnchecked(unchecked);
    await expect.poll(() => published).toEqual([{ productIds: ['tide'], catalogue: false }]);
    expect(await excluded()).toEqual([{ counted: unchecked.length > 0 ? 2 : 0, excluded: 0 }]);
    await updater.close();
  });
});

/** Wraps a database on which queries that contain `part` return no rows. */
const without = (on: Database, part: string): Database => ({
  ...on,
  query: (text, ...rest) => (text.includes(part) ? Promise.resolve([]) : on.query(text, ...rest)),
});

test('the updater applies the cap to one launch while the counts of another are locked, and to the other once its counts are unlocked', async () => {
  const network = '00000000-0000-0000-0000-00000000000a';
  for (const id of ['free', 'locked']) {
    await launch(database, id, '2026-09-01T10:00:00.000Z');
    for (const session of ['session-a', 'session-b'])
      await vote(database, id, '2026-09-01T11:00:00.000Z', session, { network });
  }
  const now = '2026-09-01T12:00:00.000Z';
  let failures = 0;
  /** A database on which sweeps cannot find the launches whose boards are stale or whose caps must be checked. */
  const failing: Database = {
    ...database,
    query(text, ...rest) {
      if (!text.includes("b.kind = 'day' AND b.final_at IS NULL")) return database.query(text, ...rest);
      failures += 1;
      return Promise.reject(new Error('cancelled'));
    },
  };
  const standing = async (id: string) => (await getStandings(database, id, rulesAt(now)))?.day;
  const capped = { votes: 1, excluded: [{ reason: 'network', votes: 1 }] };
  const updater = startUpdater(now, 1, failing);
  await database.transaction(async (sql) => {
    await lockCounts(sql, ['locked']);
    updater.onUnchecked(['free', 'locked'].map((productId) => ({ productId, network })));
    updater.onWrite({ productIds: ['free', 'locked'], catalogue: false });
    await expect.poll(() => standing('free')).toMatchObject(capped);
  });
  await expect.poll(() => standing('locked')).toMatchObject(capped);
  await expect.poll(() => failures).toBeGreaterThan(0);
  await updater.close();
});

test('votes reach their board while launches are being placed', async () => {
  await launch(database, 'steady', '2026-09-01T10:00:00.000Z');
  await writeProducts(database, [buildProduct({ id: 'placing', createdAt: '2026-09-01T11:00:00.000Z' })]);
  let transactions = 0;
  let resume = () => {};
  const resumed = new Promise<void>((resolve) => (resume = resolve));
  const delayed: Database = {
    ...database,
    async transaction(work) {
      if (++transactions === 1) await resumed;
      return database.transaction(work);
    },
  };
  const updater = startUpdater('2026-09-01T12:00:00.000Z', 20, delayed);
  await expect.poll(() => transactions).toBe(1);
  await expectVoteOnBoard(updater).finally(resume);
  await updater.close();
});

test('votes reach their board while every sweep fails', async () => {
  await launch(database, 'steady', '2026-09-01T10:00:00.000Z');
  let sweeps = 0;
  const failing: Database = {
    ...database,
    query(text, ...rest) {
      if (!text.includes('retracted_upvotes')) return database.query(text, ...rest);
      sweeps += 1;
      return Promise.reject(new Error('canceling statement due to statement timeout'));
    },
  };
  const updater = startUpdater('2026-09-01T12:00:00.000Z', 20, failing);
  await expect.poll(() => sweeps).toBeGreaterThan(0);
  await expectVoteOnBoard(updater);
  await updater.close();
});

/** Wraps a database on which statements that contain `text` time out for these products. */
function timeOut(text: string, isTooMuch: (productIds: string[]) => boolean): Database {
  const limited = (sql: Sql): Sql => ({
    query(statement, values, options) {
      if (!statement.includes(text) || !isTooMuch(values?.[0] as string[]))
        return sql.query(statement, values, options);
      const cause = Object.assign(new pg.DatabaseError('canceled', 0, 'error'), { code: '57014' });
      return Promise.reject(new CoreError('unavailable', 'The database is unavailable', { cause }));
    },
  });
  const transaction: Database['transaction'] = (work) => database.transaction((sql) => work(limited(sql)));
  return { ...database, ...limited(database), transaction };
}

test('the cap check skips a launch that takes too long, checks all others, and does not delay new launches', async () => {
  const now = '2026-09-01T12:00:00.000Z';
  const network = '00000000-0000-0000-0000-00000000000a';
  for (const id of ['first', 'huge', 'last']) {
    await launch(database, id, '2026-09-01T10:00:00.000Z');
    for (const session of ['session-a', 'session-b'])
      await vote(database, id, '2026-09-01T11:00:00.000Z', session, { network });
  }
  await writeProducts(database, [buildProduct({ id: 'new', createdAt: '2026-09-01T11:00:00.000Z' })]);
  let isNewPlaced = false;
  const slow = timeOut('SELECT DISTINCT product_id FROM', (ids) => ids.includes('huge'));
  const lines = createLogLines();
  const updater = startUpdater(
    now,
    1,
    {
      ...slow,
      async query(text, ...rest) {
        // Delays the cap check until the new launch has been placed.
        if (text.includes(CAP_CHECK)) await expect.poll(() => isNewPlaced).toBe(true);
        return slow.query(text, ...rest);
      },
    },
    {
      log: lines.log,
      publish: ({ productIds }) => {
        isNewPlaced ||= productIds.includes('new');
      },
    },
  );
  const votesOf = async (id: string) => (await getStandings(database, id, rulesAt(now)))?.day.votes;
  for (const id of ['first', 'last']) await expect.poll(() => votesOf(id)).toBe(1);
  expect(await votesOf('huge')).toBe(2);
  expect(lines.lines().map(({ productIds }) => productIds)).toEqual([['huge']]);
  await updater.close();
});

test('if placing many launches at once times out, fewer are placed at a time', async () => {
  const ids = Array.from({ length: 7 }, (_, n) => `new-${n}`);
  await writeProducts(
    database,
    ids.map((id) => buildProduct({ id, createdAt: '2026-09-01T11:00:00.000Z' })),
  );
  const placed: string[] = [];
  const updater = startUpdater(
    '2026-09-01T12:00:00.000Z',
    20,
    timeOut('SET window_from', ({ length }) => length > 2),
    {
      publish: ({ productIds }) => placed.push(...productIds),
    },
  );
  await expect.poll(() => placed.toSorted()).toEqual(ids);
  await updater.close();
});

test('a stop does not wait for further attempts to place fewer launches', async () => {
  const createdAt = '2026-09-01T11:00:00.000Z';
  await writeProducts(database, [buildProduct({ id: 'one', createdAt }), buildProduct({ id: 'two', createdAt })]);
  let attempts = 0;
  const slow = timeOut('SET window_from', () => {
    attempts += 1;
    void updater.close();
    return true;
  });
  const updater = startUpdater('2026-09-01T12:00:00.000Z', 20, slow);
  await expect.poll(() => attempts).toBeGreaterThan(0);
  await updater.close();
  expect(attempts).toBe(1);
});

/** Votes for the launch 'steady', and waits until the vote is on its board. */
async function expectVoteOnBoard(updater: Pick<ReturnType<typeof startUpdater>, 'onWrite'>): Promise<void> {
  const now = '2026-09-01T12:00:00.000Z';
  const voter = { productId: 'steady', session: 'session-voter', upvoted: true };
  await setUpvotes(database, { ...systemRuntime, now: () => new Date(now) }, [voter], RULES);
  updater.onWrite({ productIds: ['steady'], catalogue: false });
  await expect.poll(async () => (await getStandings(database, 'steady', rulesAt(now)))?.day.votes).toBe(1);
}
