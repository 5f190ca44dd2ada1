import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesce } from './timing.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

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

test('a task may schedule itself', () => {
  const task = vi.fn(() => run());
  const run = coalesce(task, () => 100);
  run();
  vi.advanceTimersByTime(300);
  expect(task).toHaveBeenCalledTimes(3);
});
