import * as english from '../../contract/leaderboards/format.ts';
import type { Period } from '../../contract/leaderboards/period.ts';
import { dateFormat, formatCount, intlLocale, plural, t } from './translate.ts';

/**
 * Formats a date or time with `Intl`. Returns undefined in English, whose wording the specification prescribes. Callers
 * select fields instead of styles, because the output for fields rarely differs between versions of the `Intl` data.
 */
function intlDate(time: string | Date, options: Intl.DateTimeFormatOptions): string | undefined {
  const locale = intlLocale();
  return locale && dateFormat(locale, options).format(new Date(time)).replaceAll('\u202f', '\u00a0');
}

const DATE = { day: 'numeric', month: 'long', year: 'numeric' } as const;

/**
 * Formats a period: `2026-11-21` as '21 November 2026', `2026-W47` as 'week 47 of 2026', `2026-11` as 'November 2026',
 * and `2026` as '2026'.
 */
export function formatPeriod(period: Pick<Period, 'name' | 'kind'>): string {
  if (!intlLocale()) return english.formatPeriod(period);
  const { kind, name } = period;
  const [year = '', part = ''] = name.split('-');
  if (kind === 'week') return t('week {week} of {year}', { week: String(Number(part.slice(1))), year });
  const { day, ...month } = DATE;
  const options = kind === 'day' ? { day, ...month } : kind === 'month' ? month : { year: DATE.year };
  return intlDate(kind === 'day' ? name : `${year}-${part || '01'}-01`, { ...options, timeZone: 'UTC' }) ?? '';
}

/**
 * Formats a rank: 1 as '1st' in English. In other languages, the result is a plain number, and the messages contain any
 * suffix.
 */
export function ordinal(rank: number): string {
  return intlLocale() ? formatCount(rank) : english.ordinal(rank);
}

/**
 * Formats a time as '21 November 2026, 09:30 UTC' or, in another time zone, as '21 November 2026, 10:30
 * (Europe/Berlin)'.
 */
export function formatInstant(time: string, timeZone = 'UTC'): string {
  const day = intlDate(time, { ...DATE, timeZone });
  if (day === undefined) return english.formatInstant(time, timeZone);
  const clock = intlDate(time, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone });
  return t('{day}, {time}', { day, time: `${clock} ${timeZone === 'UTC' ? 'UTC' : `(${timeZone})`}` });
}

/**
 * Formats the time left as '3 days 04:05:06', or as '04:05:06' if it is less than a day. Negative times become zero.
 */
export function clockTime(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const days = Math.floor(seconds / 86_400);
  const clock = [Math.floor(seconds / 3_600) % 24, Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  return days === 0 ? clock : `${plural('{count} day', '{count} days', days)} ${clock}`;
}
