import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesce, createRefetchScheduler } from './timing.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('several calls run the task once, after the delay of the first call, and a later call runs it again', () => {
  const task = vi.fn();
  const run = coalesce(task, () => 100);
  run();
  vi.advanceTimersByTime(60);
  run();
  vi.advanceTimersByTime(39);
  expect(task).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(task).toHaveBeenCalledTimes(1);
  run();
  vi.advanceTimersByTime(100);
  expect(task).toHaveBeenCalledTimes(2);
});

test('a coalesced task may schedule itself again', () => {
  const task = vi.fn(() => run());
  const run = coalesce(task, () => 100);
  run();
  vi.advanceTimersByTime(300);
  expect(task).toHaveBeenCalledTimes(3);
});

test('changes in quick succession cause one refetch after a delay, and the next at least 5 seconds later', () => {
  const refetch = vi.fn(() => Promise.resolve());
  const schedule = createRefetchScheduler(refetch);
  schedule();
  schedule();
  vi.advanceTimersByTime(1_499);
  expect(refetch).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(refetch).toHaveBeenCalledTimes(1);
  schedule();
  vi.advanceTimersByTime(4_999);
  expect(refetch).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(1);
  expect(refetch).toHaveBeenCalledTimes(2);
});

test('a failed refetch does not prevent the next one', async () => {
  const refetch = vi.fn(() => Promise.reject(new Error('unreachable')));
  const schedule = createRefetchScheduler(refetch);
  schedule();
  await vi.advanceTimersByTimeAsync(1_500);
  schedule();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(refetch).toHaveBeenCalledTimes(2);
});
