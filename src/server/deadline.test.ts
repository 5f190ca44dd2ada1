import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startDeadline } from './deadline.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Lets time pass without running timers, as if the process were suspended, and then runs the first due timer. */
function suspend(ms: number): void {
  const { now } = performance;
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
  vi.advanceTimersToNextTimer();
}

test('a deadline expires exactly once, after the given time', () => {
  const expire = vi.fn();
  startDeadline(2_000, expire);
  vi.advanceTimersByTime(1_900);
  expect(expire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10_000);
  expect(expire).toHaveBeenCalledTimes(1);
});

test('a cancelled deadline does not expire', () => {
  const expire = vi.fn();
  const end = startDeadline(2_000, expire);
  end();
  vi.advanceTimersByTime(10_000);
  expect(expire).not.toHaveBeenCalled();
});

test('a pause of the process longer than a second counts as one second', () => {
  const expire = vi.fn();
  startDeadline(2_000, expire);
  suspend(60_000);
  vi.advanceTimersByTime(900);
  expect(expire).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(expire).toHaveBeenCalledTimes(1);
});
