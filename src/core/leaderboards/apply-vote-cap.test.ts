import { afterEach, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { CAP, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database } from '../database/database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from '../upvotes/network-counts.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { applyCapToLaunches, applyCapToNetworks } from './apply-vote-cap.ts';
import { startBoardUpdater } from './board-updater.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import type { VoteNetwork } from './vote-networks.ts';

const DAY = '2026-06-01';
const NETWORK = '00000000-0000-0000-0000-00000000000a';
const at = (minute: number) => `${DAY}T11:${String(minute).padStart(2, '0')}:00.000Z`;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await launch(database, 'tide', `${DAY}T10:00:00.000Z`);
});
afterEach(() => database.drop());

const verdicts = async () =>
  (
    await database.query<{ user_session: string; verdict: string | null }>(
      'SELECT user_session, verdict FROM upvotes ORDER BY created_at, user_session',
    )
  ).map((row) => [row.user_session, row.verdict]);
const counts = async () =>
  (await database.query('SELECT upvotes, counted, excluded_network AS excluded FROM product_counts'))[0];
const voteFromNetwork = (minute: number, session: string, upvoted = true) =>
  vote(database, 'tide', at(minute), session, { upvoted, network: NETWORK });

test("when votes below the cap are withdrawn, the network's earliest votes beyond the cap count instead", async () => {
  for (const [minute, session] of ['session-a', 'session-b', 'session-c', 'session-d', 'session-e'].entries()) {
    await voteFromNetwork(minute, session);
  }
  expect(await counts()).toEqual({ upvotes: 5, counted: CAP, excluded: 3 });
  await voteFromNetwork(10, 'session-a', false);
  expect(await verdicts()).toEqual([
    ['session-b', null],
    ['session-c', null],
    ['session-d', 'network'],
    ['session-e', 'network'],
  ]);
  await voteFromNetwork(11, 'session-b', false);
  // A session that votes again gets the last position among the votes from its network.
  await voteFromNetwork(12, 'session-a');
  expect(await verdicts()).toEqual([
    ['session-c', null],
    ['session-d', null],
    ['session-e', 'network'],
    ['session-a', 'network'],
  ]);
  expect(await counts()).toEqual({ upvotes: 4, counted: CAP, excluded: 2 });
});

test('a vote withdrawn after the window still counts towards the cap, because it existed when the window ended', async () => {
  for (const session of ['session-a', 'session-b', 'session-c']) await voteFromNetwork(0, session);
  const before = await counts();
  const [first] = (await verdicts()).filter(([, verdict]) => verdict === null);
  await vote(database, 'tide', '2026-06-02T10:00:00.000Z', first?.[0] ?? '', { upvoted: false, network: NETWORK });
  expect(await counts()).toMatchObject({ counted: CAP, excluded: 1 });
  expect(before).toMatchObject({ counted: CAP, excluded: 1 });
});

test('if all verdicts are correct, applying the cap locks and writes no rows', async () => {
  await voteFromNetwork(0, 'session-a');
  const recorded = recordStatements(database);
  await applyCapToNetworks(recorded.database, [{ productId: 'tide', network: NETWORK }], CAP);
  expect(recorded.statements).toHaveLength(1);
});

/** Casts votes from one network in four processes. All their transactions start before any of them commits. */
async function voteAtOnce(): Promise<VoteNetwork[]> {
  const processes = [1, 2, 3, 4].map(() => joinTestDatabase(database));
  try {
    const runtime = { ...systemRuntime, now: () => new Date(at(0)) };
    let casting: Promise<VoteNetwork[]>[] = [];
    await database.transaction(async (sql) => {
      await lockCounts(sql, ['tide']);
      casting = processes.map(async (own, index) => {
        const changes = [1, 2].map((voter) => ({
          productId: 'tide',
          session: `session-${index}-${voter}`,
          upvoted: true,
          network: NETWORK,
        }));
        const rules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };
        return (await setUpvotes(own, runtime, changes, rules)).unchecked;
      });
      await expect.poll(async () => (await blockedStatements(database)).length).toBe(processes.length);
    });
    return (await Promise.all(casting)).flat();
  } finally {
    for (const own of processes) await own.drop();
  }
}

test('concurrent votes of one network in four processes exceed the cap, and applying the cap to the reported network corrects this', async () => {
  const unchecked = await voteAtOnce();
  // Each process counts the votes as of the start of its statement, so each accepts as many votes as the cap permits.
  expect(await counts()).toEqual({ upvotes: 8, counted: 8, excluded: 0 });
  expect(unchecked).toContainEqual({ productId: 'tide', network: NETWORK });
  await applyCapToNetworks(database, unchecked, CAP);
  expect(await counts()).toEqual({ upvotes: 8, counted: CAP, excluded: 6 });
});

// On Citus, votes beyond the cap count until the cap is applied.
const testUndeferred = test.skipIf(isCitus);
testUndeferred('applying the cap does not change the verdicts of votes that were written together', async () => {
  const sessions = Array.from({ length: 20 }, (_, place) => `session-${String(place).padStart(2, '0')}`);
  const changes = sessions.map((session) => ({ productId: 'tide', session, upvoted: true, network: NETWORK }));
  const rules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };
  await setUpvotes(database, { ...systemRuntime, now: () => new Date(at(0)) }, changes, rules);
  const cast = await verdicts();
  expect(cast.filter(([, verdict]) => verdict === null)).toEqual([
    ['session-00', null],
    ['session-01', null],
  ]);
  expect(await applyCapToLaunches(database, ['tide'], CAP)).toEqual([]);
  expect(await verdicts()).toEqual(cast);
});

test('a process reports a network as unchecked only after another process has written to the product', async () => {
  const rules = { votesPerNetwork: CAP, networkCounts: createNetworkCounts() };
  const cast = (session: string) =>
    setUpvotes(
      database,
      { ...systemRuntime, now: () => new Date(at(0)) },
      [{ productId: 'tide', session, upvoted: true, network: NETWORK }],
      rules,
    );
  expect((await cast('session-first')).unchecked).toEqual([]);
  expect((await cast('session-second')).unchecked).toEqual([]);
  await voteFromNetwork(0, 'session-of-another-process');
  expect((await cast('session-third')).unchecked).toEqual([{ productId: 'tide', network: NETWORK }]);
});

test('a final result respects the cap even if processes were killed before they applied it', async () => {
  await voteAtOnce();
  const rules = { now: new Date('2026-06-05T00:00:00.000Z'), timeZone: 'UTC', reviewHours: 24 };
  await finalizeDue(database, { rules, votesPerNetwork: CAP });
  expect(await counts()).toEqual({ upvotes: 8, counted: CAP, excluded: 6 });
});

test('the votes of a product that is restored to a final day are counted with the cap of that day', async () => {
  for (const [minute, session] of ['session-a', 'session-b', 'session-c'].entries())
    await voteFromNetwork(minute, session);
  await removeProducts(database, ['tide']);
  await launch(database, 'reef', `${DAY}T10:00:00.000Z`);
  const rules = rulesAt('2026-06-05T00:00:00.000Z');
  await finalizeDue(database, { rules, votesPerNetwork: 1 });
  await restoreProducts(database, { last: true });
  const board = await getLeaderboard(database, DAY, {}, rules);
  expect(board?.items).toMatchObject([{ productId: 'tide', votes: 1, excluded: 2 }, { productId: 'reef' }]);
  const tally = (await tallyOf(database, DAY, '2026-06-05T00:00:00.000Z')).trimEnd().split('\n').slice(1);
  expect(tally.map((line) => JSON.parse(line).reason)).toEqual([null, 'network', 'network']);
});

test('a vote in the last millisecond of the window counts, a vote in the next one does not, and one before the launch is refused', async () => {
  await vote(database, 'tide', `${DAY}T09:59:59.999Z`, 'session-before');
  await vote(database, 'tide', `${DAY}T10:00:00.000Z`, 'session-first');
  await vote(database, 'tide', '2026-06-02T09:59:59.999Z', 'session-last');
  await vote(database, 'tide', '2026-06-02T10:00:00.000Z', 'session-after');
  expect(await counts()).toEqual({ upvotes: 3, counted: 2, excluded: 0 });
});

test('votes from processes with different clocks are ordered by their stored times', async () => {
  await voteFromNetwork(5, 'session-a');
  await voteFromNetwork(6, 'session-b');
  // This vote comes from another process, whose clock is behind.
  await voteFromNetwork(4, 'session-c');
  expect(await counts()).toEqual({ upvotes: 3, counted: CAP, excluded: 1 });
  await finalizeDue(database, {
    rules: { now: new Date('2026-06-05T00:00:00.000Z'), timeZone: 'UTC', reviewHours: 24 },
    votesPerNetwork: CAP,
  });
  expect(await verdicts()).toEqual([
    ['session-c', null],
    ['session-a', null],
    ['session-b', 'network'],
  ]);
  expect(await counts()).toEqual({ upvotes: 3, counted: CAP, excluded: 1 });
});

test('the cap check at the start is repeated if it timed out while another transaction had locked the counts', async () => {
  for (const session of ['session-a', 'session-b']) await voteFromNetwork(0, session);
  let timeoutMs = 200;
  const impatient: Database = {
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        await sql.query(`SET LOCAL statement_timeout = ${timeoutMs}`);
        return work(sql);
      }),
  };
  const { log, lines } = createLogLines();
  const runtime = { ...systemRuntime, now: () => new Date(at(1)) };
  const options = { ...rulesAt(at(1)), runtime, votesPerNetwork: 1, log, publish: () => {} };
  const updater = await database.transaction(async (sql) => {
    await lockCounts(sql, ['tide']);
    const started = startBoardUpdater(impatient, options);
    await expect.poll(lines).toHaveLength(1);
    timeoutMs = 0;
    return started;
  });
  await expect.poll(counts).toEqual({ upvotes: 2, counted: 1, excluded: 1 });
  await updater.close();
});
