import type { Sql } from '../database/database.ts';
import { rowLock } from '../database/transactions.ts';
import { fixLaunches } from './fix-launches.ts';
import { LEADERBOARD_COLUMNS, type LeaderboardRow } from './get-leaderboard.ts';
import { readLaunches } from './read-tally.ts';
import type { TallyHeader } from './tally-format.ts';
import { digestOf } from './tally-parts.ts';

const LOCK_DAYS =
  "SELECT period, final_at FROM leaderboards WHERE period = ANY($1::text[]) AND kind = 'day' ORDER BY period FOR UPDATE";

/**
 * Locks these days against all other changes of their launches, above all finalising, until the transaction ends. Call
 * it first: counts, launches and `leaderboard_counts` are locked after it, in this order.
 * @returns the days that are final.
 */
export async function lockDays(sql: Sql, days: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ period: string; final_at: Date | null }>(LOCK_DAYS, [days]);
  return rows.filter((row) => row.final_at !== null).map((row) => row.period);
}

/** Like `lockDays`, for the days whose boards these products are on. */
export async function lockDaysOf(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ day: string }>(
    'SELECT DISTINCT day FROM launches WHERE product_id = ANY($1::text[]) AND day IS NOT NULL',
    [productIds],
  );
  return lockDays(
    sql,
    rows.map((row) => row.day),
  );
}

/** The periods of launches that are on the boards. */
export async function periodsOf(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  const rows = await sql.query<{ period: string }>(
    `SELECT DISTINCT period FROM launches CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period
     WHERE product_id = ANY($1::text[]) AND placed_for IS NOT NULL`,
    [productIds],
  );
  return rows.map((row) => row.period);
}

const FIND_LATE = `SELECT l.day, array_agg(l.product_id ORDER BY l.product_id) AS product_ids
  FROM launches l JOIN leaderboards b ON b.period = l.day
  WHERE l.product_id = ANY($1::text[]) AND NOT l.final AND b.final_at IS NOT NULL GROUP BY l.day ORDER BY l.day`;

/** Finalises launches that were added to the board of a final day, such as restored ones. */
export async function fixLateLaunches(sql: Sql, productIds: readonly string[]): Promise<void> {
  const late = await sql.query<{ day: string; product_ids: string[] }>(FIND_LATE, [productIds]);
  for (const { day, product_ids: ids } of late) await fixLaunches(sql, day, ids);
}

/**
 * Gives the final ones of these periods a new revision, and the days a new digest. Must be the last change to the
 * boards in its transaction.
 * @returns the revised periods.
 */
export async function reviseBoards(sql: Sql, periods: readonly string[]): Promise<string[]> {
  const lock = await rowLock(sql, 'FOR UPDATE');
  const rows = await sql.query<{ period: string; kind: string }>(
    `SELECT period, kind FROM leaderboards WHERE period = ANY($1::text[]) AND final_at IS NOT NULL ORDER BY period ${lock}`,
    [periods],
  );
  const revised = rows.map((row) => row.period);
  await sql.query(
    'UPDATE leaderboards SET revision = revision + 1, revised_at = clock_timestamp() WHERE period = ANY($1::text[])',
    [revised],
  );
  for (const { period, kind } of rows) {
    if (kind !== 'day') continue;
    const digest = await digestOf(sql, await readFinalHeader(sql, period));
    await sql.query('UPDATE leaderboards SET digest = $2 WHERE period = $1', [period, digest]);
  }
  return revised;
}

/** The first line of the tally of a final day. */
export async function readFinalHeader(sql: Sql, day: string): Promise<TallyHeader> {
  const [board] = await sql.query<LeaderboardRow>(
    `SELECT ${LEADERBOARD_COLUMNS} FROM leaderboards b WHERE period = $1`,
    [day],
  );
  if (board === undefined) throw new RangeError(`There is no leaderboard of ${day}`);
  const products = (await readLaunches(sql, day)).map((row) => ({
    id: row.product_id,
    launchedAt: row.launched_at.toISOString(),
  }));
  const { time_zone: timeZone, from_at, to_at, revision } = board;
  const bounds = { from: from_at.toISOString(), to: to_at.toISOString() };
  return { period: day, timeZone, ...bounds, status: 'final', revision, products };
}
