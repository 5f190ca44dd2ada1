import { expect, test } from 'vitest';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import type { UpvoteBurst } from '../../core/stats/upvote-bursts.ts';
import { createUpvoteBursts } from './detect-bursts.ts';

function watch(options: { maxVotes?: number } = {}) {
  const clock = createTestClock();
  const saved: UpvoteBurst[][] = [];
  const warnings: unknown[] = [];
  let failing = false;
  const bursts = createUpvoteBursts({
    ...options,
    now: () => clock.now().getTime(),
    async save(found) {
      if (failing) throw new Error('The database is unreachable');
      saved.push([...found]);
    },
    log: { info() {}, error() {}, warn: (fields) => warnings.push(fields) },
  });
  const vote = (from: number, to: number, address: string, productId = 'tide', upvoted = true) => {
    for (let index = from; index < to; index += 1)
      bursts.record(productId, { session: `session-${index}`, address }, upvoted);
  };
  const flushed = async () => {
    saved.splice(0);
    await bursts.flush();
    return saved.flat();
  };
  return {
    clock,
    size: bursts.size,
    vote,
    flushed,
    warnings,
    setFailing(value: boolean) {
      failing = value;
    },
  };
}

test('upvotes for a product by twenty sessions of a network are a burst; those by nineteen are not', async () => {
  const { vote, flushed } = watch();
  vote(0, 19, '192.0.2.1');
  vote(0, 19, '198.51.100.7');
  vote(0, 19, '192.0.2.1', 'other');
  expect(await flushed()).toEqual([]);
  vote(19, 20, '192.0.2.200');
  const [burst, ...others] = await flushed();
  expect(others).toEqual([]);
  expect(burst).toEqual({
    hour: expect.stringMatching(/:00:00\.000Z$/),
    productId: 'tide',
    network: expect.stringMatching(/^.{8}$/),
    sessions: 20,
  });
});

test('a session counts once, until it withdraws its upvote', async () => {
  const { vote, flushed } = watch();
  vote(0, 10, '192.0.2.1');
  vote(0, 10, '192.0.2.1');
  vote(0, 10, '192.0.2.1');
  expect(await flushed()).toEqual([]);
  vote(10, 25, '192.0.2.1');
  vote(0, 2, '192.0.2.1', 'tide', false);
  vote(900, 901, '192.0.2.1', 'tide', false);
  expect(await flushed()).toMatchObject([{ sessions: 23 }]);
});

test('a burst of a single /64 is reported once, even if a vote was withdrawn from another /64', async () => {
  const { vote, flushed } = watch();
  vote(0, 1, '2001:db8:7:a::1');
  vote(0, 1, '2001:db8:7:b::1', 'tide', false);
  vote(0, 25, '2001:db8:7:a::1');
  expect(await flushed()).toHaveLength(1);
});

test('votes that are withdrawn leave nothing in memory', () => {
  const { vote, size } = watch();
  for (const upvoted of [true, false]) {
    for (let index = 0; index < 50; index += 1) vote(1, 2, `2001:db8:7:${index.toString(16)}::1`, 'tide', upvoted);
    expect(size()).toBe(upvoted ? 51 : 0);
  }
});

test('all networks of an IPv6 /48 are counted together, and a burst of a single /64 is reported once', async () => {
  const { vote, flushed } = watch();
  for (let index = 0; index < 20; index += 1) vote(index, index + 1, `2001:db8:7:${index.toString(16)}::1`);
  vote(0, 10, '2001:db8:8:1::1');
  vote(10, 19, '2001:db8:9:1::1');
  expect(await flushed()).toMatchObject([{ sessions: 20 }]);
  vote(0, 20, '2001:db8:a:1::1', 'other');
  expect(await flushed()).toMatchObject([{ productId: 'other', sessions: 20 }]);
});

test('an unchanged burst is not saved again, and a changed one is saved under the same network name', async () => {
  const { vote, flushed } = watch();
  vote(0, 20, '192.0.2.1');
  const [first] = await flushed();
  expect(await flushed()).toEqual([]);
  vote(20, 30, '192.0.2.1');
  expect(await flushed()).toEqual([{ ...first, sessions: 30 }]);
});

test('a network has one name within an hour and another in the next', async () => {
  const { clock, vote, flushed } = watch();
  vote(0, 20, '192.0.2.1');
  vote(0, 20, '192.0.2.9', 'other');
  const [one, two] = await flushed();
  expect(one?.network).toBe(two?.network);
  vote(20, 21, '192.0.2.1');
  clock.advance({ hours: 1 });
  vote(0, 20, '192.0.2.1');
  const later = await flushed();
  const [next = expect.unreachable()] = later.filter(({ hour }) => hour !== one?.hour);
  expect(next.network).not.toBe(one?.network);
});

test('a burst that was not saved before its hour ended is saved with that hour', async () => {
  const { clock, vote, flushed } = watch();
  vote(0, 20, '192.0.2.1');
  const hour = clock.now().getTime();
  clock.advance({ hours: 3 });
  const [burst] = await flushed();
  expect(Date.parse(burst?.hour ?? '')).toBe(Math.floor(hour / 3_600_000) * 3_600_000);
  expect(await flushed()).toEqual([]);
});

test('a saved burst contains no IP address and no session id', async () => {
  const { vote, flushed } = watch();
  vote(0, 40, '192.0.2.1');
  expect(JSON.stringify(await flushed())).not.toMatch(/192\.0\.2\.|session-/);
});

test('upvotes beyond the hourly maximum are ignored and logged once, and an upvote from IPv6 counts once', async () => {
  const { clock, vote, flushed, warnings } = watch({ maxVotes: 40 });
  vote(0, 40, '2001:db8::1');
  expect(warnings).toEqual([]);
  vote(0, 20, '192.0.2.1', 'other');
  expect(warnings).toEqual([{ votes: 40 }]);
  expect(await flushed()).toMatchObject([{ productId: 'tide', sessions: 40 }]);
  vote(20, 40, '2001:db8::1', 'tide', false);
  vote(0, 20, '192.0.2.1', 'other');
  expect(await flushed()).toMatchObject([
    { productId: 'tide', sessions: 20 },
    { productId: 'other', sessions: 20 },
  ]);
  clock.advance({ hours: 1 });
  vote(0, 20, '192.0.2.1');
  expect(await flushed()).toMatchObject([{ sessions: 20 }]);
  expect(warnings).toHaveLength(1);
});

test('if saving fails, the failure is logged and the burst is saved later', async () => {
  const { vote, flushed, warnings, setFailing } = watch();
  setFailing(true);
  vote(0, 20, '192.0.2.1');
  expect(await flushed()).toEqual([]);
  expect(warnings).toHaveLength(1);
  setFailing(false);
  expect(await flushed()).toMatchObject([{ sessions: 20 }]);
});

test('after an outage of the database, the bursts of past hours are saved with their hours', async () => {
  const { clock, vote, flushed, setFailing } = watch();
  setFailing(true);
  for (const address of ['192.0.2.1', '198.51.100.7']) {
    vote(0, 20, address);
    expect(await flushed()).toEqual([]);
    clock.advance({ hours: 1 });
  }
  vote(0, 21, '203.0.113.9');
  setFailing(false);
  const bursts = await flushed();
  expect(bursts.map(({ sessions }) => sessions)).toEqual([20, 20, 21]);
  expect(new Set(bursts.map(({ hour }) => hour)).size).toBe(3);
  expect(await flushed()).toEqual([]);
});

test('during an outage, as many bursts of past hours stay in memory as IPv6 votes can cause in one hour', async () => {
  const { clock, vote, flushed, setFailing } = watch({ maxVotes: 40 });
  setFailing(true);
  vote(0, 20, '2001:db8:0:1::1');
  vote(20, 40, '2001:db8:0:2::1');
  expect(await flushed()).toEqual([]);
  clock.advance({ hours: 1 });
  for (const productId of ['tide', 'other']) vote(0, 20, '192.0.2.1', productId);
  expect(await flushed()).toEqual([]);
  clock.advance({ hours: 1 });
  setFailing(false);
  expect((await flushed()).map(({ sessions }) => sessions)).toEqual([40, 20, 20, 20]);
});
