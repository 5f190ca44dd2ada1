import { Settings } from 'luxon';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { boundsOf } from './calendar.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';
import { listLeaderboards } from './list-leaderboards.ts';
import { readTally } from './read-tally.ts';
import { placeLaunches } from './update-boards.ts';
import { createVoteNetworks } from './vote-networks.ts';

const DAY = '2026-06-01';

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(() => database.drop());

test('a day that ended earlier in the previous time zone becomes final only after all its windows have ended', async () => {
  await saveProducts(database, [buildProduct({ id: 'early', createdAt: `${DAY}T01:00:00.000Z` })]);
  await placeLaunches(database, { ...rulesAt(`${DAY}T02:00:00Z`), timeZone: 'Asia/Tokyo' });
  await launch(database, 'late', `${DAY}T23:00:00.000Z`);
  const finalizeAt = (now: string) =>
    finalizeDue(database, { rules: { ...rulesAt(now), reviewHours: 0 }, votesPerNetwork: 20 });
  // This time is 24 hours after the end of the day in Tokyo.
  expect(await finalizeAt('2026-06-02T15:00:00.000Z')).toEqual({ days: [], periods: [] });
  await vote(database, 'late', '2026-06-02T22:59:59.999Z', 'session-last');
  expect(await finalizeAt('2026-06-02T22:59:59.999Z')).toEqual({ days: [], periods: [] });
  expect(await finalizeAt('2026-06-02T23:00:00.000Z')).toMatchObject({ days: [DAY] });
  const board = await getLeaderboard(database, DAY, {}, rulesAt('2026-06-02T23:00:00.000Z'));
  expect(board?.items[0]).toMatchObject({ productId: 'late', votes: 1 });
});

test.each([
  ['ends before the first launch', 'UTC', 'Asia/Tokyo', '2026-06-01', '2026-06-02', 'previousPeriod'],
  ['has not begun', 'Asia/Tokyo', 'UTC', '2026-06-02', '2026-06-01', 'nextPeriod'],
] as const)(
  'a board and its tally stay available after a change of the time zone if, in the new zone, its day %s',
  async (_what, before, after, day, today, link) => {
    const rules = { ...rulesAt(`${DAY}T21:00:00.000Z`), timeZone: before };
    await saveProducts(database, [buildProduct({ id: 'late', createdAt: `${DAY}T20:00:00.000Z` })]);
    await placeLaunches(database, rules);
    const read = (period: string, timeZone: string) => getLeaderboard(database, period, {}, { ...rules, timeZone });
    const board = await read(day, before);
    expect(board?.items[0]?.productId).toBe('late');

    const { previousPeriod: _previous, nextPeriod: _next, ...unchanged } = { ...board };
    expect(await read(day, after)).toMatchObject(unchanged);
    expect((await read(today, after))?.[link]).toBe(day);
    const options = { rules: { ...rules, timeZone: after }, runtime: systemRuntime };
    expect(await readTally(database, day, options, async () => {})).toBe(true);
  },
);

test('a day that the time zone skips has no board and no tally, and its neighbours link to each other', async () => {
  await launch(database, 'early', '2011-12-01T12:00:00.000Z');
  const rules = { ...rulesAt('2012-02-01T00:00:00.000Z'), timeZone: 'Pacific/Apia' };
  const read = (period: string) => getLeaderboard(database, period, {}, rules);
  expect(await read('2011-12-30')).toBeNull();
  const options = { rules, runtime: systemRuntime };
  expect(await readTally(database, '2011-12-30', options, async () => {})).toBe(false);
  expect(await read('2011-12-29')).toMatchObject({ to: '2011-12-30T10:00:00.000Z', nextPeriod: '2011-12-31' });
  expect(await read('2011-12-31')).toMatchObject({ from: '2011-12-30T10:00:00.000Z', previousPeriod: '2011-12-29' });
});

test('the list of days has no gap between two days that begin at the same instant in different time zones', async () => {
  const rules = rulesAt('2026-06-10T00:00:00.000Z');
  const launchIn = async (timeZone: string, id: string, createdAt: string) => {
    await saveProducts(database, [buildProduct({ id, createdAt })]);
    await placeLaunches(database, { ...rules, timeZone });
  };
  await launchIn('Pacific/Kiritimati', 'ahead', `${DAY}T10:00:00.000Z`);
  await launchIn('Pacific/Honolulu', 'behind', `${DAY}T10:05:00.000Z`);
  await launchIn('Pacific/Honolulu', 'earlier', '2026-05-20T10:00:00.000Z');
  const listed: { period: string; from: string }[] = [];
  for (let cursor: string | null = ''; cursor !== null && listed.length < 4; ) {
    const { items, nextCursor } = await listLeaderboards(database, { kind: 'day', limit: 1, cursor }, rules);
    listed.push(...items);
    cursor = nextCursor;
  }
  const from = `${DAY}T10:00:00.000Z`;
  expect(listed).toMatchObject([{ period: '2026-06-02', from }, { period: DAY, from }, { period: '2026-05-20' }]);
});

test('a network keeps its hash in an open window when the time zone changes', async () => {
  const clock = createTestClock(new Date(`${DAY}T21:00:00Z`));
  await launch(database, 'late', `${DAY}T20:00:00.000Z`);
  const networkIn = async (timeZone: string) => {
    const networks = createVoteNetworks(database, { runtime: clock, timeZone });
    return (await networks.lookUp('late', Uint8Array.of(192, 0, 2, 1))).network;
  };
  const network = await networkIn('UTC');
  expect(network).toBeDefined();
  expect(await networkIn('Asia/Tokyo')).toBe(network);
  clock.advance({ hours: 2 });
  const rules = { now: clock.now(), timeZone: 'Asia/Tokyo', reviewHours: 24 };
  await finalizeDue(database, { rules, votesPerNetwork: 20 });
  expect(await networkIn('Asia/Tokyo')).toBe(network);
});

test.each([
  ['Atlantic/Azores', '2025-10-26', '2025-10-26T00:00:00.000Z'],
  ['America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
])(
  'in %s, %s begins at the first of its two midnights, whether the current date is in winter or in summer',
  (timeZone, day, start) => {
    const { now } = Settings;
    onTestFinished(() => {
      Settings.now = now;
    });
    for (const today of ['2026-01-15', '2026-07-15']) {
      Settings.now = () => Date.parse(today);
      expect(boundsOf({ firstDay: day, endDay: day }, timeZone).from.toISOString()).toBe(start);
    }
  },
);
