import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRefetchScheduler } from './refetch-scheduler.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('changes in quick succession cause one refetch after a delay, and the next refetch follows 5 seconds later', () => {
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
