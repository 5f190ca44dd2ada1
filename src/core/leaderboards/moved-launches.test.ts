import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { lines, openImportHarness } from '../../../tests/support/import-harness.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { differencesOf, launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { undo } from '../../../tests/support/undo.ts';
import { parsePeriod } from '../../contract/leaderboards/period.ts';
import { listAudit } from '../audit/audit-log.ts';
import { createCore } from '../core.ts';
import type { Database } from '../database/database.ts';
import { editProduct } from '../products/edit-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { repairBoard } from './check-board.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { getStandings } from './get-standings.ts';
import { placeLaunch, placeLaunches } from './update-boards.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test.each([
  ['final', '2026-05-10T09:00:00.000Z'],
  ['due and has no launches', '2026-05-11T09:00:00.000Z'],
])(
  'a launch with votes stays on its board when its time is changed to a day that is %s, and when the change is undone',
  async (_status, createdAt) => {
    const id = `running-${createdAt.slice(0, 10)}`;
    const rules = rulesAt('2026-06-10T12:00:00.000Z');
    const finalize = () => finalizeDue(database, { rules, votesPerNetwork: 20 });
    await launch(database, 'finished', '2026-05-10T08:00:00.000Z', rules.now.toISOString());
    await launch(database, id, '2026-06-10T10:00:00.000Z');
    await vote(database, id, '2026-06-10T11:00:00.000Z', 'session-first');
    await finalize();
    const day = async () => (await getStandings(database, id, rules))?.day;
    const before = await day();
    expect(before).toMatchObject({ period: '2026-06-10', votes: 1, status: 'open' });

    const values = { createdAt };
    const { auditId } = await editProduct(database, id, { values }, rules);
    await placeLaunches(database, rules);
    await finalize();
    expect(await day()).toEqual(before);
    expect(await database.query("SELECT FROM leaderboards WHERE period = '2026-05-11'")).toEqual([]);
    await vote(database, id, '2026-06-10T11:30:00.000Z', 'session-later');
    expect(await day()).toMatchObject({ votes: 2 });

    await undo(database, auditId);
    await placeLaunches(database, rules);
    expect(await day()).toMatchObject({ period: '2026-06-10', votes: 2, windowEndsAt: '2026-06-11T10:00:00.000Z' });
  },
);

test('launches without votes move to days that are final or due, for example when a second import adds missing dates', async () => {
  const rules = rulesAt('2026-04-20T12:00:00.000Z');
  const finalize = () => finalizeDue(database, { rules, votesPerNetwork: 20 });
  await launch(database, 'finished-april', '2026-04-01T08:00:00.000Z', rules.now.toISOString());
  await finalize();
  const products = (dates: string[]) =>
    dates.map((createdAt, index) => buildProduct({ id: `old-${index}`, createdAt }));
  await saveProducts(database, products(Array(2).fill('2026-04-20T11:00:00.000Z')));
  await placeLaunches(database, rules);
  await saveProducts(database, products(['2026-04-01T09:00:00.000Z', '2026-04-02T09:00:00.000Z']));
  expect((await placeLaunches(database, rules)).productIds.toSorted()).toEqual(['old-0', 'old-1']);
  await finalize();
  expect(await getLeaderboard(database, '2026-04-01', {}, rules)).toMatchObject({ launches: 2, revision: 1 });
  expect(await getLeaderboard(database, '2026-04-02', {}, rules)).toMatchObject({ launches: 1, status: 'final' });
  expect(await getLeaderboard(database, '2026-04-20', {}, rules)).toMatchObject({ launches: 0 });
});

test('a launch that gets its first vote while it moves to a day that is due stays on its board', async () => {
  const rules = rulesAt('2026-03-20T12:00:00.000Z');
  await launch(database, 'surprised', '2026-03-20T10:00:00.000Z');
  await saveProducts(database, [buildProduct({ id: 'surprised', createdAt: '2026-03-01T10:00:00.000Z' })]);
  // The vote is cast before the counts are locked.
  const meanwhile = interruptTransactions(database, 'INSERT INTO leaderboards', () =>
    vote(database, 'surprised', '2026-03-20T11:00:00.000Z', 'session-first'),
  );
  expect(await placeLaunches(meanwhile, rules)).toMatchObject({ productIds: [], isBlocked: true });
  await placeLaunches(database, rules);
  expect((await getStandings(database, 'surprised', rules))?.day).toMatchObject({ period: '2026-03-20', votes: 1 });
});

test('a final month gets a revision when a launch is added to it, and another when the launch moves to a later month', async () => {
  const now = '2027-07-20T12:00:00.000Z';
  const june = () => getLeaderboard(database, '2027-06', {}, rulesAt(now));
  await launch(database, 'early', '2027-06-10T10:00:00.000Z');
  await finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: 20 });
  expect(await june()).toMatchObject({ status: 'final', revision: 0, launches: 1 });
  await launch(database, 'moved', '2027-06-15T10:00:00.000Z', now);
  expect(await june()).toMatchObject({ revision: 1, launches: 2 });
  await launch(database, 'moved', '2027-07-20T10:00:00.000Z', now);
  expect(await june()).toMatchObject({ revision: 2, launches: 1 });
});

test('a final period without launches gets a revision when one is added to it, but a period before the first launch does not', async () => {
  const harness = await openImportHarness();
  const on = harness.database;
  const now = '2026-06-20T00:00:00.000Z';
  const boardOf = (period: string) => getLeaderboard(on, period, {}, rulesAt(now));
  const add = async (id: string, createdAt: string) => {
    await launch(on, id, createdAt, now);
    await finalizeDue(on, { rules: rulesAt(now), votesPerNetwork: 20 });
  };
  await add('first', '2026-06-01T10:00:00.000Z');
  const before = await boardOf('2026-06-03');
  expect(before).toMatchObject({ status: 'final', revision: 0, revisedAt: null, launches: 0 });
  await add('late', '2026-06-03T10:00:00.000Z');
  const after = await boardOf('2026-06-03');
  expect(after).toMatchObject({ status: 'final', revision: 1, revisedAt: expect.any(String), launches: 1 });
  expect(after?.digest).not.toBe(before?.digest);
  await add('earlier', '2026-05-03T10:00:00.000Z');
  expect(await boardOf('2026-05-03')).toMatchObject({ status: 'final', revision: 0, revisedAt: null, launches: 1 });
  await harness.close();
});

test('periods before the first launch get no revision when the first launch moves to an earlier time', async () => {
  const harness = await openImportHarness();
  const on = harness.database;
  const now = '2026-06-20T12:00:00.000Z';
  await launch(on, 'first', '2026-06-20T10:00:00.000Z');
  await launch(on, 'second', '2026-06-20T11:00:00.000Z');
  await launch(on, 'first', '2026-05-03T10:00:00.000Z', now);
  expect(await getLeaderboard(on, '2026-05-03', {}, rulesAt(now))).toMatchObject({ revision: 0, launches: 1 });
  expect(await on.query('SELECT period FROM leaderboards WHERE revision > 0')).toEqual([]);
  await harness.close();
});

test('viewing an old launch right after an import into a new site creates no revision of results that were never shown', async () => {
  const harness = await openImportHarness();
  const rules = rulesAt('2026-06-20T12:00:00.000Z');
  const core = createCore(harness.database, { runtime: { ...systemRuntime, now: () => rules.now } });
  const days = { oldest: '2020-01-10', middle: '2023-04-05', today: '2026-06-20' };
  await harness.run(lines(...Object.entries(days).map(([id, day]) => ({ id, createdAt: `${day}T10:00:00.000Z` }))));
  expect(await core.getStandings('oldest')).toBeNull();
  expect((await core.getStandings('today'))?.day).toMatchObject({ period: days.today, rank: 1 });
  await placeLaunches(harness.database, rules);
  expect((await core.getStandings('oldest'))?.day).toMatchObject({ period: days.oldest, rank: 1 });
  expect(await harness.database.query('SELECT period FROM leaderboards WHERE revision > 0')).toEqual([]);
  await harness.close();
});

test('launches of today can be placed while a removal or a restoration computes the digest of a final day of the same year', async () => {
  const now = '2026-08-20T12:00:00.000Z';
  // Without an earlier launch, August 1 would have no leaderboard after the removal.
  await launch(database, 'first-of-all', '2026-07-01T10:00:00.000Z');
  await launch(database, 'withdrawn', '2026-08-01T10:00:00.000Z');
  await finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: 20 });
  const august = () => getLeaderboard(database, '2026-08-01', {}, rulesAt(now));
  const placedDuring = async (change: (digesting: Database) => Promise<unknown>) => {
    const id = randomUUID();
    await saveProducts(database, [buildProduct({ id, createdAt: now })]);
    let placed: boolean | undefined;
    const digesting = interruptTransactions(database, 'SET digest', async () => {
      placed = await placeLaunch(database, id, rulesAt(now));
    });
    await change(digesting);
    return placed;
  };
  expect(await placedDuring((digesting) => removeProducts(digesting, ['withdrawn']))).toBe(true);
  expect(await august()).toMatchObject({ revision: 1, launches: 0 });
  expect(await placedDuring((digesting) => restoreProducts(digesting, { last: true }))).toBe(true);
  expect(await august()).toMatchObject({ revision: 2, launches: 1 });
  for (const period of ['2026-08-01', '2026-08-20', '2026']) expect(await differencesOf(database, period)).toEqual([]);
});

test('a product with a final result cannot be scheduled, because its leaderboards would show it before its launch', async () => {
  const harness = await openImportHarness();
  const on = harness.database;
  const future = '2999-01-01T00:00:00.000Z';
  const [final, open] = ['2026-01-01T10:00:00.000Z', '2026-01-03T10:00:00.000Z'];
  const rules = rulesAt('2026-01-04T00:00:00.000Z');
  for (const id of ['decided', 'also-decided']) await launch(on, id, final);
  await launch(on, 'undecided', open);
  await finalizeDue(on, { rules, votesPerNetwork: 20 });
  const reasonFor = (id: string) =>
    `the result of '${id}' is final, so the product cannot be scheduled. Choose a time that has passed, or schedule a new product`;
  const edit = (id: string, createdAt: string) => editProduct(on, id, { values: { createdAt } }, rules);
  const fields = [{ field: 'createdAt', detail: expect.stringContaining("The result of 'decided' is final") }];
  await expect(edit('decided', future)).rejects.toMatchObject({ code: 'product_invalid', fields });
  for (const dryRun of [true, false]) {
    const rows = [
      { id: 'decided', createdAt: future },
      { id: 'undecided', name: 'Renamed', createdAt: future },
      { id: 'also-decided', createdAt: future },
    ];
    const errorAt = (line: number, id: string) => `${line}: createdAt: ${reasonFor(id)}`;
    expect(await harness.errorsOf(lines(...rows), { dryRun })).toEqual([
      errorAt(1, 'decided'),
      errorAt(3, 'also-decided'),
    ]);
    await expect(harness.run(JSON.stringify(rows), { dryRun, kind: 'json' })).rejects.toMatchObject({
      errors: [{ item: 1 }, { item: 3 }],
    });
  }
  expect(await harness.product('undecided')).toMatchObject({ name: expect.not.stringContaining('Renamed') });
  await edit('undecided', future);
  await edit('decided', '2026-01-02T10:00:00.000Z');
  expect(await harness.product('decided')).toMatchObject({ createdAt: '2026-01-02T10:00:00.000Z' });
  await harness.close();
});

test('if an older version of the site has scheduled a product with a final result, the product can still be edited, imported and reverted', async () => {
  const harness = await openImportHarness();
  const on = harness.database;
  const [now, future] = [new Date(), '2999-01-01T00:00:00.000Z'];
  await launch(on, 'decided', '2026-01-01T10:00:00.000Z');
  await finalizeDue(on, { rules: rulesAt('2026-01-04T00:00:00.000Z'), votesPerNetwork: 20 });
  await saveProducts(on, [buildProduct({ id: 'decided', createdAt: future })]);
  const rows = await on.query('SELECT FROM launches WHERE final');
  expect(rows).toHaveLength(1);
  await editProduct(on, 'decided', { values: { description: 'Edited' } }, { now });
  const { auditId } = await harness.run(lines({ id: 'decided', description: 'Imported', createdAt: future }));
  await undo(on, auditId);
  expect(await on.query('SELECT description FROM products')).toEqual([{ description: 'Edited' }]);
  await harness.close();
});

test('undoing an edit or an import does not reschedule products whose results have become final since', async () => {
  const harness = await openImportHarness();
  const on = harness.database;
  const [past, future] = ['2026-01-01T10:00:00.000Z', '2999-01-01T00:00:00.000Z'];
  for (const id of ['decided', 'edited', 'running'])
    await saveProducts(on, [buildProduct({ id, name: 'Old', createdAt: future })]);
  const edit = await editProduct(on, 'edited', { values: { createdAt: past } }, { now: new Date() });
  const imported = await harness.run(
    lines(
      { id: 'decided', name: 'New', createdAt: past },
      { id: 'running', name: 'New' },
      { id: 'added', createdAt: past },
    ),
  );
  const rules = rulesAt('2026-01-04T00:00:00.000Z');
  await placeLaunches(on, rules);
  await finalizeDue(on, { rules, votesPerNetwork: 20 });
  const message = 'The result of the product has become final, so the product cannot be scheduled again.';
  await expect(undo(on, edit.auditId)).rejects.toMatchObject({ code: 'not_undoable', message });
  await undo(on, imported.auditId);
  expect(await on.query('SELECT id, name, created_at FROM products ORDER BY id')).toEqual([
    { id: 'decided', name: 'New', created_at: new Date(past) },
    { id: 'edited', name: 'Old', created_at: new Date(past) },
    { id: 'running', name: 'Old', created_at: new Date(future) },
  ]);
  const entry = (await listAudit(on, { limit: 2 })).find(({ action }) => action === 'import undo');
  expect(entry?.details).toMatchObject({ removed: 1, reverted: 1, skipped: 1 });
  await harness.close();
});

test('a launch that moves to another day before the repair of its board gets the order of its new day', async () => {
  await launch(database, 'moving', '2026-06-15T10:00:00.000Z');
  await database.query("UPDATE launches SET day_order = $1 WHERE product_id = 'moving'", [randomUUID()]);
  let transactions = 0;
  const racing = interruptTransactions(database, 'SET LOCAL statement_timeout', async () => {
    transactions += 1;
    // The first transaction is the check.
    if (transactions === 2) await launch(database, 'moving', '2026-06-16T10:00:00.000Z');
  });
  const repaired = await repairBoard(racing, parsePeriod('2026-06-15') ?? expect.unreachable(), 20);
  expect(repaired?.found.differences).toHaveLength(1);
  expect(await differencesOf(database, '2026-06-16')).toEqual([]);
});

test('an upvote can be withdrawn right after a postponement is undone, before the launch is back on its boards', async () => {
  const now = Date.now();
  const hoursFrom = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
  const [launched, voted, evening] = [hoursFrom(-2), hoursFrom(-1), hoursFrom(6)];
  await launch(database, 'postponed', launched);
  for (const session of ['session-a', 'session-b']) await vote(database, 'postponed', voted, session);
  await launch(database, 'postponed', evening, hoursFrom(0));
  await saveProducts(database, [buildProduct({ id: 'postponed', createdAt: launched })]);
  await vote(database, 'postponed', hoursFrom(0), 'session-a', { upvoted: false });
  await placeLaunches(database, rulesAt(hoursFrom(0)));
  const standings = await getStandings(database, 'postponed', rulesAt(hoursFrom(0)));
  expect(standings?.day).toMatchObject({ votes: 1, upvotes: 1 });
  expect(await differencesOf(database, launched.slice(0, 10))).toEqual([]);
});
