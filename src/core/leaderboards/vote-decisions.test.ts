import { afterEach, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { CAP, differencesOf, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { withinTransaction } from '../../../tests/support/within-transaction.ts';
import { checkCounts } from '../counts/check-counts.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database } from '../database/database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createNetworkCounts } from '../upvotes/network-counts.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { changeVerdicts, undoVerdicts } from './change-verdicts.ts';
import { finalizeDue } from './finalize.ts';
import { voterOf } from './tally-file.ts';
import { readSecret } from './vote-networks.ts';

const DAY = '2026-06-01';
const DUE = '2026-06-04T00:00:00.000Z';
const NETWORK = '00000000-0000-0000-0000-00000000000a';
const SESSIONS = ['session-a', 'session-b', 'session-c'];

let database: TestDatabase;
let voters: string[];
beforeEach(async () => {
  database = await createTestDatabase();
  await launch(database, 'tide', `${DAY}T10:00:00.000Z`);
  const secret = await readSecret(database, DAY, systemRuntime);
  voters = SESSIONS.map((session) => voterOf(secret ?? Buffer.of(), session));
  await setAll(true, 11);
});
afterEach(async () => {
  expect(await differencesOf(database, DAY)).toEqual([]);
  expect((await checkCounts(database, { after: '', limit: 10 })).wrong).toEqual([]);
  await database.drop();
});

const at = (hour: number, minute = 0) => `${DAY}T${hour}:0${minute}:00.000Z`;

/** Casts or withdraws the votes of all sessions, which are in one network. The cap excludes the last vote. */
async function setAll(upvoted: boolean, hour: number): Promise<void> {
  for (const [minute, session] of SESSIONS.entries())
    await vote(database, 'tide', at(hour, minute), session, { upvoted, network: NETWORK });
}

const change = (
  action: 'exclude' | 'include',
  selection: { voters?: string[]; from?: Date },
  on: Database = database,
) => changeVerdicts(on, { productId: 'tide', action, reason: 'a test', selection }, systemRuntime, undefined, CAP);
const undo = () => undoVerdicts(database, 'tide', systemRuntime, CAP);

async function counts(): Promise<unknown> {
  const rows = await database.query<Record<'counted' | 'excluded_network' | 'excluded_operator', number>>(
    "SELECT counted, excluded_network, excluded_operator FROM product_counts WHERE product_id = 'tide'",
  );
  return rows.map((row) => [row.counted, row.excluded_network, row.excluded_operator])[0];
}

test.each([
  ['exclusion', 'exclude', [0, 1], [0, 1, 2]],
  ['inclusion', 'include', [2], [3, 0, 0]],
] as const)(
  'an %s holds if the votes are withdrawn and cast again, until it is undone',
  async (_what, action, indexes, expected) => {
    await change(action, { voters: indexes.map((index) => voters[index] ?? '') });
    expect(await counts()).toEqual(expected);
    for (const hour of [12, 14]) {
      await setAll(false, hour);
      expect(await counts()).toEqual([0, 0, 0]);
      const tally = await tallyOf(database, DAY, DUE);
      await setAll(true, hour + 1);
      expect(await counts()).toEqual(expected);
      expect(await tallyOf(database, DAY, DUE)).not.toBe(tally);
    }
    await undo();
    expect(await counts()).toEqual([2, 1, 0]);
    await setAll(false, 16);
    await setAll(true, 17);
    expect(await counts()).toEqual([2, 1, 0]);
  },
);

test.each([
  ['undone', undo],
  ['reversed', () => change('include', { voters: voters.slice(0, 2) })],
])(
  'excluded votes that are withdrawn still use up the cap of their network, until the exclusion is %s',
  async (_what, end) => {
    await change('exclude', { voters: voters.slice(0, 2) });
    for (const session of ['session-a', 'session-b'])
      await vote(database, 'tide', at(12), session, { upvoted: false, network: NETWORK });
    expect(await counts()).toEqual([0, 1, 0]);
    await vote(database, 'tide', at(13), 'session-d', { network: NETWORK });
    expect(await counts()).toEqual([0, 2, 0]);
    // The vote keeps its first position when it is cast again, although it is now the latest of its network.
    await vote(database, 'tide', at(14), 'session-a', { network: NETWORK });
    await removeProducts(database, ['tide']);
    await restoreProducts(database, { last: true });
    await vote(database, 'tide', at(15), 'session-d', { upvoted: false, network: NETWORK });
    expect(await counts()).toEqual([0, 1, 1]);
    await end();
    expect(await counts()).toEqual([2, 0, 0]);
  },
);

test('excluded votes that were withdrawn use up the cap of their network in the final result, too', async () => {
  await change('exclude', { voters: voters.slice(0, 2) });
  for (const session of ['session-a', 'session-b'])
    await vote(database, 'tide', at(12), session, { upvoted: false, network: NETWORK });
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: CAP });
  expect(await counts()).toEqual([0, 1, 0]);
});

test('the exclusion of an included vote beyond the cap affects no other vote, even if the excluded vote is withdrawn', async () => {
  await change('include', { voters: voters.slice(2) });
  await change('exclude', { voters: voters.slice(2) });
  expect(await counts()).toEqual([2, 0, 1]);
  await vote(database, 'tide', at(12), 'session-c', { upvoted: false, network: NETWORK });
  await vote(database, 'tide', at(13), 'session-d', { network: NETWORK });
  expect(await counts()).toEqual([2, 1, 0]);
});

test('the undo of an inclusion restores the position that the vote had when it was excluded', async () => {
  const selection = { voters: voters.slice(0, 1) };
  await change('exclude', selection);
  await vote(database, 'tide', at(12), 'session-a', { upvoted: false, network: NETWORK });
  await vote(database, 'tide', at(14), 'session-a', { network: NETWORK });
  expect(await counts()).toEqual([1, 1, 1]);
  await change('include', selection);
  await undo();
  expect(await counts()).toEqual([1, 1, 1]);
});

test('the exclusion of a vote that was withdrawn while it was included affects no other vote', async () => {
  const selection = { voters: voters.slice(2) };
  await change('include', selection);
  for (const session of ['session-a', 'session-c'])
    await vote(database, 'tide', at(12), session, { upvoted: false, network: NETWORK });
  await vote(database, 'tide', at(13), 'session-d', { network: NETWORK });
  await change('exclude', selection);
  expect(await counts()).toEqual([2, 0, 0]);
});

test('an exclusion that is undone while its votes are withdrawn does not apply when they are cast again', async () => {
  await change('exclude', { voters });
  await setAll(false, 12);
  expect(await undo()).toMatchObject({ votes: 2 });
  await setAll(true, 13);
  expect(await counts()).toEqual([2, 1, 0]);
});

test('an exclusion can be reversed for a voter who has withdrawn the vote, and the reversal can be undone', async () => {
  const [first = ''] = voters;
  await change('exclude', { voters: [first] });
  await setAll(false, 12);
  expect(await change('exclude', { voters: [first] })).toMatchObject({ votes: 0, auditId: null });
  expect(await change('include', { from: new Date(at(10)) })).toMatchObject({ votes: 0, auditId: null });
  expect(await change('include', { voters: [first] })).toMatchObject({ votes: 1 });
  await setAll(true, 13);
  expect(await counts()).toEqual([2, 1, 0]);
  await setAll(false, 14);
  expect(await undo()).toMatchObject({ votes: 1 });
  await setAll(true, 15);
  expect(await counts()).toEqual([1, 1, 1]);
});

test('an exclusion holds if the product is removed and restored while the votes are withdrawn', async () => {
  await change('exclude', { voters });
  await setAll(false, 12);
  await removeProducts(database, ['tide']);
  await restoreProducts(database, { last: true });
  await setAll(true, 13);
  expect(await counts()).toEqual([0, 1, 2]);
});

test('an exclusion holds for votes after the window if the launch is moved so that they are in the window', async () => {
  await change('exclude', { voters });
  const next = '2026-06-02T11:00:00.000Z';
  await vote(database, 'tide', next, 'session-a', { upvoted: false });
  await vote(database, 'tide', next, 'session-a');
  expect(await counts()).toEqual([0, 1, 2]);
  await launch(database, 'tide', '2026-06-02T10:30:00.000Z', '2026-06-02T12:00:00.000Z');
  expect(await counts()).toEqual([0, 0, 1]);
});

test('when a day becomes final, its decisions are deleted, and later votes do not change the result', async () => {
  await change('exclude', { voters });
  await setAll(false, 12);
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: CAP });
  expect(await database.query('SELECT FROM vote_decisions')).toEqual([]);
  expect(await database.query('SELECT FROM product_counts WHERE has_decisions')).toEqual([]);
  await vote(database, 'tide', DUE, 'session-a');
  expect(await counts()).toEqual([0, 0, 0]);
});

// On Citus, rows are not locked first, and the cap is applied after the votes are written.
if (!isCitus) {
  test.each([
    ['has no decisions yet', false, [1, 1, 1]],
    ['has another decision', true, [0, 1, 2]],
  ])(
    'a vote that waits while an earlier vote of the session is excluded and withdrawn is excluded, if the launch %s',
    async (_what, hasOther, expected) => {
      if (hasOther) await change('exclude', { voters: voters.slice(1, 2) });
      const other = joinTestDatabase(database);
      const waiting = { ...systemRuntime, now: () => new Date(at(13)) };
      const recast = { productId: 'tide', session: 'session-a', upvoted: true };
      let casting: ReturnType<typeof setUpvotes> | undefined;
      try {
        await database.transaction(async (sql) => {
          const within = withinTransaction(database, sql);
          await change('exclude', { voters: voters.slice(0, 1) }, within);
          casting = setUpvotes(other, waiting, [recast]);
          await expect.poll(() => blockedStatements(database)).toHaveLength(1);
          await setUpvotes(within, waiting, [{ ...recast, upvoted: false }]);
        });
        expect((await casting)?.outcomes).toEqual([{ upvoted: true, upvotes: 3 }]);
      } finally {
        await other.drop();
      }
      expect(await counts()).toEqual(expected);
    },
  );

  test('a vote that waits while the exclusion of an earlier vote of the session is undone counts', async () => {
    await change('exclude', { voters: voters.slice(0, 2) });
    await vote(database, 'tide', at(12), 'session-a', { upvoted: false });
    const other = joinTestDatabase(database);
    let casting: Promise<void> | undefined;
    try {
      await database.transaction(async (sql) => {
        await undoVerdicts(withinTransaction(database, sql), 'tide', systemRuntime, CAP);
        casting = vote(other, 'tide', at(13), 'session-a', { network: NETWORK });
        await expect.poll(() => blockedStatements(database)).toHaveLength(1);
      });
      await casting;
    } finally {
      await other.drop();
    }
    expect(await counts()).toEqual([2, 1, 0]);
  });

  test('a batch with a repeated vote and a vote for a launch with decisions waits for a transaction that locks both launches, without a deadlock', async () => {
    await launch(database, 'reef', at(10));
    await vote(database, 'reef', at(11), 'session-d');
    await change('exclude', { voters: voters.slice(0, 1) });
    const other = joinTestDatabase(database);
    const waiting = { ...systemRuntime, now: () => new Date(at(13)) };
    const changes = ['reef', 'tide'].map((productId) => ({ productId, session: 'session-d', upvoted: true }));
    let casting: ReturnType<typeof setUpvotes> | undefined;
    try {
      await database.transaction(async (sql) => {
        const interrupted: Database = {
          ...other,
          async transaction(work) {
            await lockCounts(sql, ['reef']);
            return other.transaction(work);
          },
        };
        casting = setUpvotes(interrupted, waiting, changes);
        await expect.poll(() => blockedStatements(database)).toHaveLength(1);
        await lockCounts(sql, ['tide']);
      });
      expect((await casting)?.outcomes).toMatchObject([{ upvotes: 1 }, { upvotes: 4 }]);
    } finally {
      await casting?.catch(() => {});
      await other.drop();
    }
  });

  test('in a batch, decisions override the cap, and votes with decisions use up the cap', async () => {
    const [, second = '', third = ''] = voters;
    await change('include', { voters: [third] });
    await change('exclude', { voters: [second] });
    const rules = { votesPerNetwork: 1, networkCounts: createNetworkCounts() };
    const setInBatch = (upvoted: boolean) =>
      setUpvotes(
        database,
        { ...systemRuntime, now: () => new Date(at(13)) },
        [...SESSIONS, 'session-d'].map((session) => ({ productId: 'tide', session, upvoted, network: NETWORK })),
        rules,
      );
    await setInBatch(false);
    await setInBatch(true);
    const rows = await database.query('SELECT user_session AS session, verdict FROM upvotes ORDER BY user_session');
    expect(rows).toEqual([
      { session: 'session-a', verdict: null },
      { session: 'session-b', verdict: 'operator' },
      { session: 'session-c', verdict: 'included' },
      { session: 'session-d', verdict: 'network' },
    ]);
    expect(await counts()).toEqual([2, 1, 1]);
  });
}
