import { expect, test } from 'vitest';
import { createCrashBudget } from './crash-budget.ts';

test('each crash is made good later than the one before, up to ten seconds, and not for ever', () => {
  const budget = createCrashBudget(() => 0);
  const delays = Array.from({ length: 20 }, () => budget.crashed());
  expect(delays.slice(0, 4)).toEqual([100, 200, 400, 800]);
  expect(delays.at(-1)).toBe(10_000);
  expect(budget.crashed()).toBeUndefined();
});

test('what is long ago does not count', () => {
  let now = 0;
  const budget = createCrashBudget(() => now);
  for (let crash = 0; crash < 100; crash += 1) {
    expect(budget.crashed()).toBe(100);
    now += 5 * 60_000;
  }
});
