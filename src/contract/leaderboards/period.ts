/** The kinds of periods that have a leaderboard, shortest first. */
export const PERIOD_KINDS = ['day', 'week', 'month', 'year'] as const;
export type PeriodKind = (typeof PERIOD_KINDS)[number];

/** A calendar period: `name` is `2026-11-21`, `2026-W47` (ISO 8601 week), `2026-11` or `2026`. */
export interface Period {
  name: string;
  kind: PeriodKind;
  /** The first day of the period, as `YYYY-MM-DD`. */
  firstDay: string;
  /** The first day after the period, as `YYYY-MM-DD`. */
  endDay: string;
}

const PATTERN = /^(?!0000)(\d{4})(?:-W(\d{2})|-(\d{2})(?:-(\d{2}))?)?$/;
const DAY_MS = 86_400_000;

/** Parses the name of a period. @returns undefined if it is invalid, such as `2026-02-30` or `2026-W54`. */
export function parsePeriod(name: string): Period | undefined {
  const match = PATTERN.exec(name);
  if (match === null) return undefined;
  const [, year = '', week, month, day] = match;
  const period =
    week !== undefined
      ? periodOf('week', weekStart(Number(year), Number(week)))
      : periodOf(day ? 'day' : month ? 'month' : 'year', utcDay(`${year}-${month ?? '01'}-${day ?? '01'}`));
  // A day or week that does not exist, such as February 30, produces a period with another name.
  return period?.name === name ? period : undefined;
}

/** Returns the period of a kind that contains a day (`YYYY-MM-DD`). @throws RangeError if the day is malformed. */
export function periodContaining(kind: PeriodKind, day: string): Period {
  const period = periodOf(kind, utcDay(day));
  if (period === undefined) throw new RangeError(`'${day}' is not a day`);
  return period;
}

/** Returns the previous (-1) or next (1) period, or undefined if it is outside the years 0001 to 9999. */
export function adjacentPeriod({ kind, firstDay, endDay }: Period, step: -1 | 1): Period | undefined {
  return periodOf(kind, step === 1 ? utcDay(endDay) : utcDay(firstDay) - DAY_MS);
}

/** Returns the period that contains a day. `day` is midnight in UTC, regardless of the site's time zone. */
function periodOf(kind: PeriodKind, day: number): Period | undefined {
  const date = new Date(day);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  if (Number.isNaN(day) || year < 1 || year > 9999) return undefined;
  switch (kind) {
    case 'day':
      return { kind, name: dayName(day), firstDay: dayName(day), endDay: dayName(day + DAY_MS) };
    case 'week': {
      const monday = mondayOf(day);
      const weekYear = new Date(monday + 3 * DAY_MS).getUTCFullYear();
      const week = 1 + Math.round((monday - weekStart(weekYear, 1)) / (7 * DAY_MS));
      const name = `${String(weekYear).padStart(4, '0')}-W${String(week).padStart(2, '0')}`;
      return { kind, name, firstDay: dayName(monday), endDay: dayName(monday + 7 * DAY_MS) };
    }
    case 'month': {
      const first = dayName(utcTime(year, month, 1));
      return { kind, name: first.slice(0, 7), firstDay: first, endDay: dayName(utcTime(year, month + 1, 1)) };
    }
    case 'year': {
      const first = dayName(utcTime(year, 0, 1));
      return { kind, name: first.slice(0, 4), firstDay: first, endDay: dayName(utcTime(year + 1, 0, 1)) };
    }
  }
}

/** Returns the Monday of an ISO week. The first week of a year is the one that contains 4 January. */
function weekStart(year: number, week: number): number {
  return mondayOf(utcTime(year, 0, 4)) + (week - 1) * 7 * DAY_MS;
}

function mondayOf(day: number): number {
  return day - ((new Date(day).getUTCDay() + 6) % 7) * DAY_MS;
}

function utcDay(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}

/** Like `Date.UTC`, except that the years 0 to 99 do not become 1900 to 1999. */
function utcTime(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month, day);
}

function dayName(day: number): string {
  return new Date(day).toISOString().slice(0, 10);
}
