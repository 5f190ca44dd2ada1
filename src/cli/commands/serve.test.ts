import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { closeInTime } from './serve.ts';

const never = () => new Promise<void>(() => {});
const atOnce = async () => {};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('if requests do not end within ten seconds after the stop delay, the database is closed without waiting for them', async () => {
  const { log, text } = createLogLines();
  const site = { stopServing: never, close: vi.fn(never), abort: vi.fn(atOnce) };
  const isStopped = closeInTime(site, 5_000, log);
  await vi.advanceTimersByTimeAsync(14_500);
  expect(site.abort).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(site.abort).toHaveBeenCalledOnce();
  expect(site.close).not.toHaveBeenCalled();
  expect(await isStopped).toBe(false);
  expect(text()).toContain('Requests did not end in time');
});

test('the site waits at most 75 seconds for the database to close', async () => {
  const { log, text } = createLogLines();
  const isStopped = closeInTime({ stopServing: atOnce, close: never, abort: atOnce }, 0, log);
  await vi.advanceTimersByTimeAsync(76_000);
  expect(await isStopped).toBe(false);
  expect(text()).toContain('the database did not end in time');
});
