import { type Period, parsePeriod } from './period.ts';
import type { Standing } from './schema.ts';

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** Names a period in English: '21 November 2026', 'week 47 of 2026', 'November 2026' or '2026'. */
export function formatPeriod({ name, kind }: Pick<Period, 'name' | 'kind'>): string {
  const [year = '', part = '', day = ''] = name.split('-');
  const month = MONTHS[Number(part) - 1] ?? '';
  if (kind === 'day') return `${Number(day)} ${month} ${Number(year)}`;
  if (kind === 'week') return `week ${Number(part.slice(1))} of ${Number(year)}`;
  return kind === 'month' ? `${month} ${Number(year)}` : String(Number(year));
}

/** Formats a rank: 1 as '1st', 12 as '12th', 1023 as '1,023rd'. */
export function ordinal(rank: number): string {
  const isTeen = Math.floor((rank % 100) / 10) === 1;
  const ending = (isTeen ? undefined : ['th', 'st', 'nd', 'rd'][rank % 10]) ?? 'th';
  return `${rank.toLocaleString('en-US')}${ending}`;
}

/**
 * Formats a result as '4th of 23 on 21 November 2026'. @returns undefined if the result is not final or has no votes.
 */
export function formatAward({ period: name, status, rank, tied, launches, votes }: Standing): string | undefined {
  const period = parsePeriod(name);
  if (period === undefined || status !== 'final' || votes === 0) return undefined;
  const place = `${tied ? 'Tied ' : ''}${ordinal(rank)} of ${launches.toLocaleString('en-US')}`;
  return `${place} ${period.kind === 'day' ? 'on' : 'in'} ${formatPeriod(period)}`;
}

/**
 * Formats an instant as '21 November 2026, 09:30 UTC' or, in another time zone, as '21 November 2026, 10:30
 * (Europe/Berlin)'.
 */
export function formatInstant(time: string, timeZone = 'UTC'): string {
  const [local, zone] =
    timeZone === 'UTC' ? [new Date(time).toISOString(), ' UTC'] : [localTime(time, timeZone), ` (${timeZone})`];
  return `${formatPeriod({ kind: 'day', name: local.slice(0, 10) })}, ${local.slice(11, 16)}${zone}`;
}

/** Formats a time as '2026-11-21 10:30', without month names, which may differ between server and browser. */
function localTime(time: string, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' },
  });
  const parts = Object.fromEntries(format.formatToParts(new Date(time)).map(({ type, value }) => [type, value]));
  return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}`;
}
