import { expect, test } from 'vitest';
import { parsePeriod } from '../../contract/leaderboards/period.ts';
import { clockTime, formatInstant, formatPeriod, ordinal } from './format.ts';

test.each([
  ['2026-11-21', '21 November 2026'],
  ['2026-W07', 'week 7 of 2026'],
  ['2026-02', 'February 2026'],
  ['2026', '2026'],
])('the period %s is written as %s', (name, words) => {
  const period = parsePeriod(name);
  expect(period && formatPeriod(period)).toBe(words);
});

test.each([
  [1, '1st'],
  [2, '2nd'],
  [3, '3rd'],
  [4, '4th'],
  [11, '11th'],
  [12, '12th'],
  [13, '13th'],
  [21, '21st'],
  [102, '102nd'],
  [1_113, '1,113th'],
])('rank %i is written as %s', (rank, words) => {
  expect(ordinal(rank)).toBe(words);
});

test('a countdown shows whole seconds and never goes below zero', () => {
  expect(clockTime(4 * 3_600_000 + 5 * 60_000 + 5_001)).toBe('04:05:06');
  expect(clockTime(86_400_000)).toBe('1 day 00:00:00');
  expect(clockTime(3 * 86_400_000 - 1_000)).toBe('2 days 23:59:59');
  expect(clockTime(1)).toBe('00:00:01');
  expect(clockTime(-5)).toBe('00:00:00');
});

test('an instant in the first millennium is written in its time zone', () => {
  expect(formatInstant('0023-06-01T10:00:00.000Z', 'Europe/Berlin')).toBe('1 June 23, 10:53 (Europe/Berlin)');
});

test('an instant with another offset is written in UTC', () => {
  expect(formatInstant('2026-11-21T23:30:00.000+02:00')).toBe('21 November 2026, 21:30 UTC');
});
