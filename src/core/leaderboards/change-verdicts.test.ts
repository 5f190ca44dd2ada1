import { afterEach, beforeEach, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { deadlockOnce, interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { CAP, differencesOf, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { parsePeriod } from '../../contract/leaderboards/period.ts';
import { listAudit } from '../audit/audit-log.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { listUpvoteBursts, saveUpvoteBursts } from '../stats/upvote-bursts.ts';
import { changeVerdicts, undoVerdicts } from './change-verdicts.ts';
import { checkBoard, repairBoard } from './check-board.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { refreshLaunches } from './launch-votes.ts';
import { listVotes } from './list-votes.ts';
import { placeLaunch } from './update-boards.ts';

const DAY = '2026-06-01';
const DUE = '2026-06-04T00:00:00.000Z';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await launch(database, 'tide', `${DAY}T10:00:00.000Z`);
  for (const hour of [11, 12, 13]) await vote(database, 'tide', `${DAY}T${hour}:00:00.000Z`, `session-${hour}`);
});
afterEach(() => database.drop());

const votesOf = async () => (await listVotes(database, 'tide', { limit: 10, runtime: systemRuntime })).votes;
const change = (action: 'exclude' | 'include', voters: string[]) =>
  changeVerdicts(
    database,
    { productId: 'tide', action, reason: 'bought', selection: { voters } },
    systemRuntime,
    undefined,
  );
const entry = async () => (await getLeaderboard(database, DAY, {}, rulesAt(DUE)))?.items[0];
const burst = async () => (await listUpvoteBursts(database, { since: new Date(0), limit: 1 }))[0];
const differences = () => differencesOf(database, DAY);

test.each(['open', 'final'])(
  'excluding votes, including votes and undoing either updates the boards of a day that is %s',
  async (status) => {
    const finalize = () => finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
    if (status === 'final') await finalize();
    await saveUpvoteBursts(database, [
      { hour: new Date().toISOString(), productId: 'tide', network: 'one', sessions: 20 },
    ]);
    const [first, second] = (await votesOf()).map(({ voter }) => voter);
    const revised = status === 'final' ? [DAY] : [];
    expect(await change('exclude', [first ?? '', second ?? ''])).toEqual({
      auditId: expect.any(String),
      productId: 'tide',
      day: DAY,
      votes: 2,
      revised,
    });
    expect(await entry()).toMatchObject({ votes: 1, excluded: 2, upvotes: 3 });
    expect(await burst()).toMatchObject({ excluded: 2 });
    expect(await differences()).toEqual([]);
    expect(await change('include', [first ?? ''])).toMatchObject({ votes: 1 });
    expect(await entry()).toMatchObject({ votes: 2, excluded: 1 });
    expect(await burst()).toMatchObject({ excluded: 1 });
    expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ votes: 1 });
    expect((await votesOf()).map(({ reason }) => reason)).toEqual(['operator', 'operator', null]);
    expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ votes: 2 });
    expect(await entry()).toMatchObject({ votes: 3, excluded: 0 });
    expect(await undoVerdicts(database, 'tide', systemRuntime)).toBeUndefined();
    expect(await differences()).toEqual([]);
    if (status === 'final') {
      expect(await getLeaderboard(database, DAY, {}, rulesAt(DUE))).toMatchObject({ status: 'final', revision: 4 });
      expect(await tallyOf(database, DAY, DUE)).toContain('"revision":4');
    }
    const actions = (await listAudit(database, { limit: 10 })).map(({ action }) => action);
    expect(actions).toEqual(['votes undo', 'votes undo', 'votes include', 'votes exclude']);
  },
);

test('bursts do not show excluded votes that were withdrawn, or that belong to a removed product with the same id', async () => {
  await saveUpvoteBursts(database, [
    { hour: new Date().toISOString(), productId: 'tide', network: 'one', sessions: 20 },
  ]);
  const [first, second] = (await votesOf()).map(({ voter }) => voter);
  await change('exclude', [first ?? '', second ?? '']);
  await vote(database, 'tide', `${DAY}T14:00:00.000Z`, 'session-11', { upvoted: false });
  expect(await burst()).toMatchObject({ excluded: 1 });
  await undoVerdicts(database, 'tide', systemRuntime);
  expect(await burst()).toMatchObject({ excluded: 0 });
  await change('exclude', [second ?? '']);
  await removeProducts(database, ['tide']);
  await saveProducts(database, [buildProduct({ id: 'tide', createdAt: `${DAY}T14:00:00.000Z` })]);
  expect(await burst()).toMatchObject({ excluded: 0 });
});

test('a new launch of the day can be placed while votes are listed', async () => {
  await saveProducts(database, [buildProduct({ id: 'reef', createdAt: `${DAY}T14:00:00.000Z` })]);
  const place = () => placeLaunch(database, 'reef', rulesAt(`${DAY}T14:00:00.000Z`));
  let placed: boolean | undefined;
  const watched = interruptTransactions(database, 'FETCH', async () => {
    placed ??= await place();
  });
  expect((await listVotes(watched, 'tide', { limit: 10, runtime: systemRuntime })).votes).toHaveLength(3);
  expect(placed).toBe(true);
});

test('if a launch moves to another day while its votes are listed, the voters are the hashes of the new day', async () => {
  let isFirst = true;
  const moving = interruptTransactions(database, 'READ ONLY', async () => {
    if (isFirst) await launch(database, 'tide', '2026-05-31T23:30:00.000Z', `${DAY}T14:00:00.000Z`);
    isFirst = false;
  });
  const list = await listVotes(moving, 'tide', { limit: 10, runtime: systemRuntime });
  expect(list).toEqual({ day: '2026-05-31', votes: await votesOf() });
});

test('a selection by time does not affect other votes', async () => {
  const selection = { from: new Date(`${DAY}T11:30:00Z`), to: new Date(`${DAY}T12:30:00Z`) };
  const wanted = { productId: 'tide', action: 'exclude', reason: 'a burst', selection } as const;
  expect(await changeVerdicts(database, wanted, systemRuntime, undefined)).toMatchObject({ votes: 1 });
  expect((await votesOf()).map(({ reason }) => reason)).toEqual([null, 'operator', null]);
});

test('excluding a vote for a launch whose month is final, but whose day is not, revises the month', async () => {
  await database.query("UPDATE leaderboards SET final_at = to_at WHERE period = '2026-06'");
  const [first] = await votesOf();
  expect(await change('exclude', [first?.voter ?? ''])).toMatchObject({ votes: 1, revised: ['2026-06'] });
});

test('an exclusion can be undone after the launch has moved to another day', async () => {
  await change(
    'exclude',
    (await votesOf()).slice(1).map(({ voter }) => voter),
  );
  await launch(database, 'tide', '2026-05-31T23:30:00.000Z', `${DAY}T14:00:00.000Z`);
  expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ day: '2026-05-31', votes: 2 });
  expect((await votesOf()).map(({ reason }) => reason)).toEqual([null, null, null]);
});

test('an exclusion whose votes were all withdrawn can be undone, and so can the exclusion before it', async () => {
  const [first, second] = (await votesOf()).map(({ voter }) => voter);
  await change('exclude', [first ?? '']);
  await change('exclude', [second ?? '']);
  await vote(database, 'tide', `${DAY}T14:00:00.000Z`, 'session-12', { upvoted: false });
  expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ votes: 1 });
  expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ votes: 1 });
  expect((await votesOf()).map(({ reason }) => reason)).toEqual([null, null]);
});

test.each([
  ['that was made before the day was final excludes the vote as `operator`, not as `network`', 'operator'],
  ['that was made on a final day restores the exclusion by the cap', 'network'],
])('undoing an inclusion %s', async (_when, reason) => {
  const network = '00000000-0000-0000-0000-00000000000a';
  await launch(database, 'reef', `${DAY}T10:00:00.000Z`);
  for (const hour of [11, 12, 13])
    await vote(database, 'reef', `${DAY}T${hour}:00:00.000Z`, `session-${hour}`, { network });
  const finalize = () => finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: CAP });
  const reasons = async () =>
    (await listVotes(database, 'reef', { limit: 10, runtime: systemRuntime })).votes.map((each) => each.reason);
  if (reason === 'network') await finalize();
  expect(await reasons()).toEqual([null, null, 'network']);
  const selection = { from: new Date(`${DAY}T13:00:00.000Z`) };
  const wanted = { productId: 'reef', action: 'include', reason: 'a family', selection } as const;
  await changeVerdicts(database, wanted, systemRuntime, undefined, CAP);
  expect(await reasons()).toEqual([null, null, null]);
  if (reason === 'operator') await finalize();
  await undoVerdicts(database, 'reef', systemRuntime, CAP);
  expect(await reasons()).toEqual([null, null, reason]);
});

test('undoing an exclusion also restores votes outside the window of a moved launch, which count when it moves back', async () => {
  await change(
    'exclude',
    (await votesOf()).map(({ voter }) => voter),
  );
  const moveTo = (createdAt: string) => launch(database, 'tide', createdAt, '2026-06-02T15:00:00.000Z');
  await moveTo('2026-06-02T14:00:00.000Z');
  expect(await undoVerdicts(database, 'tide', systemRuntime)).toMatchObject({ day: '2026-06-02', votes: 3 });
  await moveTo(`${DAY}T10:00:00.000Z`);
  expect(await entry()).toMatchObject({ votes: 3, excluded: 0 });
});

test.each(['open', 'final'])(
  'undoing an exclusion is refused if the secret of its day was lost and the day is %s',
  async (status) => {
    await change(
      'exclude',
      (await votesOf()).map(({ voter }) => voter),
    );
    await database.query('DELETE FROM tally_secrets');
    if (status === 'final') await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
    await expect(undoVerdicts(database, 'tide', systemRuntime)).rejects.toMatchObject({ code: 'not_undoable' });
    expect(await listAudit(database, { limit: 10 })).toMatchObject([{ action: 'votes exclude' }]);
    expect(await entry()).toMatchObject({ votes: 0, excluded: 3 });
    await change(
      'include',
      (await votesOf()).map(({ voter }) => voter),
    );
    expect(await entry()).toMatchObject({ votes: 3, excluded: 0 });
  },
);

test('a check reports counts, histograms and digests that do not match the votes', async () => {
  await database.query('UPDATE product_counts SET counted = 2');
  expect(await differences()).toEqual(['tide: counted votes: recounted 3, stored 2']);
  await database.query('UPDATE product_counts SET counted = 3');
  expect(await differences()).toEqual([]);
  await database.query('UPDATE leaderboard_counts SET products = 2 WHERE votes = 3');
  expect(await differences()).toEqual(['products with 3 votes: recounted 1, stored 2']);
  await database.query('UPDATE leaderboard_counts SET products = 1 WHERE votes = 3');
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
  expect(await differences()).toEqual([]);
  await database.query("UPDATE launches SET launched_at = '2026-06-01T10:00:01Z'");
  expect(await differences()).toEqual([expect.stringMatching(/^2026-06-01: digest: recounted sha256:/)]);
});

test.each(['open', 'final'])(
  'a repair corrects the counts and ranks of a day that is %s, and is recorded in the audit log',
  async (status) => {
    if (status === 'final') await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
    await database.query('UPDATE product_counts SET counted = 1, excluded_operator = 9');
    await database.query('UPDATE leaderboard_counts SET products = 5');
    const period = parsePeriod(DAY);
    if (period === undefined) throw new Error('The period is invalid');
    const repaired = await repairBoard(database, period, 20);
    expect(repaired?.found.differences.length).toBeGreaterThan(2);
    expect(repaired?.left).toMatchObject({ votes: 3, differences: [] });
    expect(await entry()).toMatchObject({ rank: 1, votes: 3, excluded: 0 });
    expect((await listAudit(database, { limit: 1 }))[0]).toMatchObject({ action: 'leaderboards repair', target: DAY });
    expect((await repairBoard(database, period, 20))?.found.differences).toEqual([]);
  },
);

test('a repair does not deadlock with a transaction that updates the same board', async () => {
  // The board shows a vote that does not exist.
  await database.query('UPDATE product_counts SET counted = counted + 1');
  await refreshLaunches(database, ['tide']);
  let others: Promise<unknown> | undefined;
  const busy = interruptTransactions(database, 'LOCK TABLE leaderboard_counts', async () => {
    let isDone = false;
    others = database.query('UPDATE leaderboard_counts SET products = products').then(() => {
      isDone = true;
    });
    await expect.poll(async () => isDone || (await blockedStatements(database)).length > 0).toBe(true);
  });
  const period = parsePeriod(DAY);
  const repaired = period && (await repairBoard(busy, period, 20));
  if (others === undefined) throw new Error('The repair does not lock the histograms');
  await others;
  expect(repaired?.left).toMatchObject({ votes: 3, differences: [] });
});

test('a repair is retried after a deadlock, and recorded once', async () => {
  await database.query('UPDATE product_counts SET counted = 1');
  const period = parsePeriod(DAY) ?? expect.unreachable();
  const repaired = await repairBoard(deadlockOnce(database, 'LOCK TABLE leaderboard_counts'), period, 20);
  expect(repaired?.left).toMatchObject({ votes: 3, differences: [] });
  const repairs = (await listAudit(database, { limit: 10 })).filter(({ action }) => action === 'leaderboards repair');
  expect(repairs).toHaveLength(1);
});

test('a check reports a changed digest of a final day whose launches were all removed', async () => {
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
  await removeProducts(database, ['tide']);
  expect(await differences()).toEqual([]);
  await database.query("UPDATE leaderboards SET digest = 'sha256:00' WHERE kind = 'day'");
  expect(await differences()).toEqual([expect.stringMatching(/^2026-06-01: digest: recounted sha256:/)]);
});

test('a repair reports that it cannot restore a changed tally', async () => {
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
  await database.query("UPDATE launches SET launched_at = '2026-06-01T10:00:01Z'");
  const period = parsePeriod(DAY);
  const repaired = period && (await repairBoard(database, period, 20));
  expect(repaired?.left.differences).toEqual([expect.stringMatching(/^2026-06-01: digest: recounted sha256:/)]);
});

test('a check does not attribute the wrong digest of a day to a product whose id is that day', async () => {
  await launch(database, DAY, `${DAY}T14:00:00.000Z`);
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: 20 });
  await database.query("UPDATE leaderboards SET digest = 'sha256:00' WHERE kind = 'day'");
  await database.query("UPDATE product_counts SET counted = 1 WHERE product_id = 'tide'");
  const period = parsePeriod(DAY);
  const checked = period && (await checkBoard(database, period));
  expect(checked?.differences).toHaveLength(2);
  expect(checked?.wrong).toEqual(['tide']);
});
