import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { windowStart } from './calendar.ts';
import { IN_WINDOW, recountLaunches } from './launch-votes.ts';

/**
 * SQL: whether a retracted vote `r` (withdrawn after the window) for a launch `l` no longer counts: the window is still
 * open, or the session has another vote in the window (an upvote or a later retracted vote). Votes before the window
 * stay, because they count again if the launch moves back. `$2` is the start of a window that ends now.
 */
const NO_LONGER_COUNTS = `r.created_at >= l.launched_at AND (
    l.launched_at > $2::timestamptz
    OR EXISTS (
      SELECT FROM upvotes v WHERE v.product_id = r.product_id AND v.user_session = r.user_session AND ${IN_WINDOW}
    )
    OR EXISTS (
      SELECT FROM retracted_upvotes v WHERE v.product_id = r.product_id AND v.user_session = r.user_session
        AND (v.created_at, v.id) > (r.created_at, r.id) AND ${IN_WINDOW}
    )
  )`;

const find = (condition: string) => `SELECT DISTINCT r.product_id
  FROM retracted_upvotes r JOIN launches l ON l.product_id = r.product_id
  WHERE ${condition} AND NOT l.final AND ${NO_LONGER_COUNTS} ORDER BY r.product_id`;

const FIND = find('r.product_id = ANY($1::text[])');

/** `$1` is the current time. */
const FIND_RECENT = find("l.launched_at > $2::timestamptz - interval '1 hour' AND l.launched_at <= $1::timestamptz");

const DELETE = `DELETE FROM retracted_upvotes r USING launches l
  WHERE r.product_id = ANY($1::text[]) AND l.product_id = r.product_id AND ${NO_LONGER_COUNTS}`;

/**
 * Deletes the retracted votes of these launches that no longer count. The caller must have locked the counts
 * (`lockCounts`), and must recount the launches afterwards.
 */
export async function deleteRetracted(sql: Sql, productIds: readonly string[], now: Date): Promise<void> {
  await sql.query(DELETE, [productIds, windowStart(now)]);
}

/**
 * Deletes the retracted votes of these launches that no longer count, and recounts the launches, each in its own
 * transaction. Such votes exist if clocks differ or are set back: a session may withdraw its vote when the window has
 * ended by one clock, and then vote again when the window is still open by another.
 */
export async function correctRetracted(
  database: Database,
  productIds: readonly string[],
  options: CorrectingOptions,
): Promise<void> {
  if (productIds.length > 0) await correctFound(database, FIND, productIds, options);
}

/**
 * Like `correctRetracted`, for all launches whose window is open or ended less than an hour ago.
 * @returns the corrected launches.
 */
export function correctRecentRetracted(database: Database, options: CorrectingOptions): Promise<string[]> {
  return correctFound(database, FIND_RECENT, options.now.toISOString(), options);
}

interface CorrectingOptions {
  now: Date;
  votesPerNetwork: number;
}

async function correctFound(
  database: Database,
  statement: string,
  value: string | readonly string[],
  { now, votesPerNetwork }: CorrectingOptions,
): Promise<string[]> {
  const rows = await database.query<{ product_id: string }>(statement, [value, windowStart(now)]);
  const found = rows.map((row) => row.product_id);
  for (const id of found) {
    await database.transaction(async (sql) => {
      await lockCounts(sql, [id]);
      await deleteRetracted(sql, [id], now);
      await recountLaunches(sql, [id]);
      await applyVoteCap(sql, [id], votesPerNetwork);
    });
  }
  return found;
}
