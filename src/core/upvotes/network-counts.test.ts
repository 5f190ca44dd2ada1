import { afterEach, beforeEach, expect, test } from 'vitest';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { CAP, launch } from '../../../tests/support/launch-site.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts, type NetworkCounts } from './network-counts.ts';
import { setUpvotes } from './set-upvotes.ts';

const NETWORK = '00000000-0000-0000-0000-00000000000a';
const OTHER = '00000000-0000-0000-0000-00000000000b';
const runtime = { ...systemRuntime, now: () => new Date('2026-06-01T11:00:00.000Z') };

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await launch(database, 'tide', '2026-06-01T10:00:00.000Z');
});
afterEach(() => database.drop());

/** Casts or withdraws a vote. @returns the statements that were sent. */
async function cast(
  networkCounts: NetworkCounts,
  session: string,
  { network = NETWORK, upvoted = true }: { network?: string; upvoted?: boolean } = {},
) {
  const recorded = recordStatements(database);
  const change = { productId: 'tide', session, upvoted, ...(upvoted && { network }) };
  await setUpvotes(recorded.database, runtime, [change], { votesPerNetwork: CAP, networkCounts });
  return recorded.statements.map(({ text }) => text).filter((text) => !text.includes('pg_extension'));
}
const excluded = async () =>
  (
    await database.query<{ user_session: string }>(
      "SELECT user_session FROM upvotes WHERE verdict = 'network' ORDER BY user_session",
    )
  ).map((row) => row.user_session);
const checksCap = (statement: string | undefined) => statement?.includes('AS earlier') ?? false;

// On Citus, votes beyond the cap count until the cap is applied.
const testUndeferred = test.skipIf(isCitus);

testUndeferred(
  'votes within the cap are compared with it without a query, and the first vote beyond it is excluded',
  async () => {
    const counts = createNetworkCounts();
    await cast(counts, 'session-a');
    const second = await cast(counts, 'session-b');
    expect(second).toHaveLength(1);
    expect(checksCap(second[0])).toBe(false);
    expect(checksCap((await cast(counts, 'session-c'))[0])).toBe(true);
    expect(checksCap((await cast(counts, 'session-d', { network: OTHER }))[0])).toBe(false);
    expect(await excluded()).toEqual(['session-c']);
  },
);

testUndeferred('a restarted process counts the votes cast before its start towards the cap', async () => {
  await cast(createNetworkCounts(), 'session-a');
  await cast(createNetworkCounts(), 'session-b');
  await cast(createNetworkCounts(), 'session-c');
  expect(await excluded()).toEqual(['session-c']);
});

test('a repeated upvote is counted once, and a withdrawn upvote is no longer counted', async () => {
  const counts = createNetworkCounts();
  await cast(counts, 'session-a');
  await cast(counts, 'session-a');
  await cast(counts, 'session-a', { upvoted: false });
  await cast(counts, 'session-b');
  expect(checksCap((await cast(counts, 'session-c'))[0])).toBe(false);
  expect(await excluded()).toEqual([]);
});

testUndeferred(
  'votes are compared with the cap by a query for a minute after another process has written to the product',
  async () => {
    let nowMs = 1_000;
    const [own, others] = [createNetworkCounts(() => nowMs), createNetworkCounts()];
    await cast(own, 'session-a', { network: OTHER });
    await cast(others, 'session-b');
    await cast(others, 'session-c');
    // This process compared the vote with stale counts, so the vote is reported as unchecked.
    await cast(own, 'session-d', { network: OTHER });
    expect(checksCap((await cast(own, 'session-e'))[0])).toBe(true);
    expect(await excluded()).toEqual(['session-e']);
    nowMs += 60_001;
    const statements = await cast(own, 'session-f', { network: '00000000-0000-0000-0000-00000000000c' });
    expect(checksCap(statements.at(-1))).toBe(false);
  },
);

testUndeferred(
  'the votes of a product with more than 20,000 votes are not cached, so the database checks the cap for each vote',
  async () => {
    await database.query("UPDATE product_counts SET counted = 20001 WHERE product_id = 'tide'");
    const counts = createNetworkCounts();
    const [, write] = await cast(counts, 'session-a');
    expect(checksCap(write)).toBe(true);
    expect(checksCap((await cast(counts, 'session-b'))[0])).toBe(true);
  },
);

test('at most 100,000 pairs of product and network are cached, even if the networks were added by later votes', async () => {
  const counts = createNetworkCounts();
  const ids = ['tide', 'ebb'];
  const sizes = ids.map((product_id) => ({ product_id, window_changes: 0, votes: 0 }));
  await counts.load({ query: async () => sizes as never }, ids);
  const networks = Array.from({ length: 60_000 }, (_, index) => `network-${index}`);
  for (const id of ids) expect(counts.record(id, 1, networks, [])).toBe(true);
  const isCached = (productId: string) => counts.areWithinCap([{ productId, network: NETWORK }], CAP);
  expect(ids.filter(isCached)).toEqual(['ebb']);
});
