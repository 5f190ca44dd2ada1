import { expect, test } from 'vitest';
import { SiteClock } from './clock.ts';

const MINUTE_MS = 60_000;

test('before the first read of the database, the clock returns the time of this machine', () => {
  const clock = new SiteClock();
  expect(clock.observedUpTo).toBeUndefined();
  expect(clock.now(5_000, 10)).toBe(5_000);
});

test("after a read, the clock follows the database's clock and ignores the clock of this machine", () => {
  const clock = new SiteClock();
  expect(clock.synchronize(9_000, 10)).toBe(0);
  expect(clock.observedUpTo).toBe(9_000);
  expect(clock.now(1, 15)).toBe(9_005);
  expect(clock.now(1_000_000, 20)).toBe(9_010);
});

test.each<[string, { databaseMs: number; setBackMs: number; now: number; databaseNow: number }]>([
  ['a small step back pauses the clock', { databaseMs: 100_000, setBackMs: 0, now: 150_000, databaseNow: 100_000 }],
  [
    'a step back of a minute pauses the clock',
    { databaseMs: 150_000 - MINUTE_MS, setBackMs: 0, now: 150_000, databaseNow: 90_000 },
  ],
  [
    'a step back of more than a minute sets the clock back',
    { databaseMs: 89_999, setBackMs: 60_001, now: 89_999, databaseNow: 89_999 },
  ],
  ['a step ahead sets the clock ahead', { databaseMs: 900_000, setBackMs: 0, now: 900_000, databaseNow: 900_000 }],
])('%s', (_name, { databaseMs, setBackMs, now, databaseNow }) => {
  const clock = new SiteClock();
  clock.synchronize(150_000, 0);
  expect(clock.now(0, 0)).toBe(150_000);
  expect(clock.synchronize(databaseMs, 0)).toBe(setBackMs);
  expect(clock.now(0, 0)).toBe(now);
  expect(clock.databaseNow(0)).toBe(databaseNow);
});
