import fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import { adjacentPeriod, PERIOD_KINDS, parsePeriod, periodContaining } from './period.ts';

test.each([
  ['2026-11-21', 'day', '2026-11-21', '2026-11-22'],
  ['2024-02-29', 'day', '2024-02-29', '2024-03-01'],
  ['2026-W47', 'week', '2026-11-16', '2026-11-23'],
  ['2026-W01', 'week', '2025-12-29', '2026-01-05'],
  ['2026-W53', 'week', '2026-12-28', '2027-01-04'],
  ['2026-02', 'month', '2026-02-01', '2026-03-01'],
  ['2026-12', 'month', '2026-12-01', '2027-01-01'],
  ['2026', 'year', '2026-01-01', '2027-01-01'],
  ['0001', 'year', '0001-01-01', '0002-01-01'],
])('%s is a %s that begins on %s and ends before %s', (name, kind, firstDay, endDay) => {
  expect(parsePeriod(name)).toEqual({ name, kind, firstDay, endDay });
});

test.each([
  '',
  '26',
  '0000',
  '2026-00',
  '2026-13',
  '2026-1',
  '2026-02-29',
  '2026-11-31',
  '2026-W00',
  '2026-W54',
  '2025-W53',
  '2026-w47',
  '2026-11-21T00:00',
  ' 2026',
  '+2026',
  '２０２６',
])('%j is not a period', (name) => {
  expect(parsePeriod(name)).toBeUndefined();
});

test('a day is in the same periods as in a calendar library', () => {
  const day = fc.date({
    min: new Date('0001-01-08T00:00:00Z'),
    max: new Date('9999-12-25T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(day, (date) => {
      const text = date.toISOString().slice(0, 10);
      const expected = DateTime.fromISO(text, { zone: 'utc' });
      expect(PERIOD_KINDS.map((kind) => periodContaining(kind, text).name)).toEqual([
        text,
        expected.toFormat("kkkk-'W'WW"),
        expected.toFormat('yyyy-MM'),
        expected.toFormat('yyyy'),
      ]);
    }),
  );
});

test('the periods of a kind follow each other without a gap', () => {
  for (const kind of PERIOD_KINDS) {
    let period = periodContaining(kind, '2019-12-30');
    for (let count = 0; count < 60; count += 1) {
      const next = adjacentPeriod(period, 1);
      expect(next?.firstDay).toBe(period.endDay);
      expect(next && adjacentPeriod(next, -1)).toEqual(period);
      expect(parsePeriod(period.name)).toEqual(period);
      if (next) period = next;
    }
  }
});

test('the year 1 has no previous year, and the year 9999 has no next year', () => {
  expect(adjacentPeriod(periodContaining('year', '9999-06-01'), 1)).toBeUndefined();
  expect(adjacentPeriod(periodContaining('year', '0001-06-01'), -1)).toBeUndefined();
});
