import { createHash } from 'node:crypto';
import { DateTime } from 'luxon';
import { type Period, type PeriodKind, periodContaining } from '../../contract/leaderboards/period.ts';
import type { LeaderboardStatus } from '../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { HOUR_MS } from '../runtime.ts';

/** The length of a launch window: 24 hours for every launch. */
export const WINDOW_MS = LIMITS.launchWindowHours * HOUR_MS;

/** Returns the start of a launch window that ends now, in ISO 8601. */
export function windowStart(now: Date): string {
  return new Date(now.getTime() - WINDOW_MS).toISOString();
}

/** Returns the names of the periods that contain an instant, one of each kind. */
export function periodsAt(instant: Date, timeZone: string): Record<PeriodKind, string> {
  const day = dayAt(instant, timeZone);
  const nameOf = (kind: PeriodKind) => periodContaining(kind, day).name;
  return { day, week: nameOf('week'), month: nameOf('month'), year: nameOf('year') };
}

/** Returns the day of an instant in a time zone, as `YYYY-MM-DD`. */
export function dayAt(instant: Date, timeZone: string): string {
  return DateTime.fromJSDate(instant, { zone: timeZone }).toFormat('yyyy-MM-dd');
}

/** The bounds of a period: `from` is inclusive, `to` exclusive. A day on which the clocks change has 23 or 25 hours. */
interface PeriodBounds {
  from: Date;
  to: Date;
}

export function boundsOf({ firstDay, endDay }: Pick<Period, 'firstDay' | 'endDay'>, timeZone: string): PeriodBounds {
  return { from: startOfDay(firstDay, timeZone), to: startOfDay(endDay, timeZone) };
}

/** Returns whether a period does not occur in a time zone. Samoa skipped 30 December 2011 to cross the date line. */
export function isSkipped(period: Period, timeZone: string): boolean {
  const { from, to } = boundsOf(period, timeZone);
  return from >= to;
}

/**
 * Returns the first instant of a day: 01:00 if the clocks skip midnight, and the first midnight if it occurs twice.
 * `startOf` alone would return the midnight with the offset that the zone has today.
 */
export function startOfDay(day: string, timeZone: string): Date {
  const midnights = DateTime.fromISO(day, { zone: timeZone }).startOf('day').getPossibleOffsets();
  return new Date(Math.min(...midnights.map((midnight) => midnight.toMillis())));
}

/**
 * Returns the status of the result of a period that ends at `to`: `open` while a launch window of the period may still
 * be open, `provisional` during the review, `final` from `finalAt` on.
 */
export function statusAt(now: Date, to: Date, reviewHours: number): { status: LeaderboardStatus; finalAt: Date } {
  const closesAt = to.getTime() + WINDOW_MS;
  const finalAt = closesAt + reviewHours * HOUR_MS;
  const status = now.getTime() < closesAt ? 'open' : now.getTime() < finalAt ? 'provisional' : 'final';
  return { status, finalAt: new Date(finalAt) };
}

/** Returns the status of a stored result. A result that is due stays provisional until it is final. */
export function storedStatus(
  { to_at: to, final_at: finalAt }: { to_at: Date; final_at: Date | null },
  { now, reviewHours }: { now: Date; reviewHours: number },
): LeaderboardStatus {
  if (finalAt !== null) return 'final';
  const { status } = statusAt(now, to, reviewHours);
  return status === 'final' ? 'provisional' : status;
}

/**
 * Returns the key that orders products with equal counts in a period, ascending: the first 128 bits of SHA-256(period +
 * "/" + product id) as a UUID. The order is the same for all visitors and does not favour any product.
 */
export function tieOrder(period: string, productId: string): string {
  return uuidOf(createHash('sha256').update(`${period}/${productId}`).digest('hex'));
}

/**
 * Returns the first 128 bits of a hexadecimal digest as a UUID, which takes 16 bytes in the database and sorts like the
 * digest.
 */
export function uuidOf(digest: string): string {
  const parts = [digest.slice(0, 8), digest.slice(8, 12), digest.slice(12, 16), digest.slice(16, 20)];
  return `${parts.join('-')}-${digest.slice(20, 32)}`;
}
