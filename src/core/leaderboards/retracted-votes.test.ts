import { afterEach, beforeEach, expect, test } from 'vitest';
import { CAP, differencesOf, launch, rulesAt, tallyOf, vote } from '../../../tests/support/launch-site.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { systemRuntime } from '../runtime.ts';
import { startBoardUpdater } from './board-updater.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { getStandings } from './get-standings.ts';
import { correctRecentRetracted } from './retracted-votes.ts';
import { placeLaunches } from './update-boards.ts';

const DAY = '2026-06-01';
const DUE = '2026-06-04T00:00:00.000Z';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await launch(database, 'tide', `${DAY}T10:00:00.000Z`);
  await vote(database, 'tide', `${DAY}T11:00:00.000Z`, 'session-a');
});
afterEach(() => database.drop());

const entry = async (now: string) => (await getLeaderboard(database, DAY, {}, rulesAt(now)))?.items[0];
const differences = () => differencesOf(database, DAY);
const withdraw = (at: string) => vote(database, 'tide', at, 'session-a', { upvoted: false });

test.each([
  ['again within milliseconds, in a process whose clock is behind,', ['2026-06-02T09:59:59.995Z']],
  ['again after a clock that was ahead is set back,', [`${DAY}T10:30:00.000Z`]],
  ['twice more in a process whose clock is behind,', ['2026-06-02T09:59:59.995Z', '2026-06-02T09:59:59.997Z']],
])('a session that withdraws after the window and votes %s counts once in the final result', async (_when, times) => {
  for (const at of times) {
    await withdraw('2026-06-02T10:00:00.000Z');
    await vote(database, 'tide', at, 'session-a');
  }
  if (times.length > 1) await withdraw('2026-06-02T10:00:00.001Z');
  await finalizeDue(database, { rules: rulesAt(DUE), votesPerNetwork: CAP });
  expect(await entry(DUE)).toMatchObject({ votes: 1 });
  expect((await tallyOf(database, DAY, DUE)).trimEnd().split('\n')).toHaveLength(2);
  expect(await differences()).toEqual([]);
});

test.each([
  ['withdrawn while the clock was ahead', false, 0],
  ['withdrawn while the clock was ahead, and cast again after the clock was set back', true, 1],
])('the open board is corrected after a vote was %s', async (_what, again, votes) => {
  await withdraw('2026-06-02T11:00:00.000Z');
  if (again) await vote(database, 'tide', `${DAY}T13:00:00.000Z`, 'session-a');
  const now = `${DAY}T14:00:00.000Z`;
  const updater = startBoardUpdater(database, {
    runtime: { ...systemRuntime, now: () => new Date(now) },
    timeZone: 'UTC',
    reviewHours: 24,
    votesPerNetwork: CAP,
    log: silentLog,
    publish: () => {},
  });
  await expect.poll(() => entry(now)).toMatchObject({ votes });
  await updater.close();
  expect(await differences()).toEqual([]);
});

test.each([
  ['before the new window begins', false],
  ['after the voter has voted again in the new window', true],
])('a vote withdrawn after the window counts again when a postponement is undone %s', async (_when, again) => {
  const now = Date.now();
  const hoursFrom = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
  const launched = hoursFrom(-25);
  await launch(database, 'reef', launched);
  await vote(database, 'reef', hoursFrom(-24), 'session-a');
  await vote(database, 'reef', hoursFrom(-0.5), 'session-a', { upvoted: false });
  await launch(database, 'reef', hoursFrom(2), hoursFrom(0));
  if (again) {
    await placeLaunches(database, rulesAt(hoursFrom(2)));
    await vote(database, 'reef', hoursFrom(3), 'session-a');
    await correctRecentRetracted(database, { now: new Date(hoursFrom(4)), votesPerNetwork: CAP });
  }
  await launch(database, 'reef', launched, hoursFrom(5));
  const standings = await getStandings(database, 'reef', rulesAt(hoursFrom(5)));
  expect(standings?.day).toMatchObject({ votes: 1, upvotes: Number(again) });
  expect(await differencesOf(database, launched.slice(0, 10))).toEqual([]);
});
