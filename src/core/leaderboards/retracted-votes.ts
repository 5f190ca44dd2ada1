import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { WINDOW_MS } from './calendar.ts';
import { IN_WINDOW, recountLaunches } from './launch-votes.ts';

/**
 * SQL: whether a retracted vote `r` of a launch `l` no longer counts, because the window is still open, or because the
 * session has another vote in the window: an upvote or a later retracted vote. `$2` is the start of a window that ends
 * now.
 */
const NO_LONGER_COUNTS = `(
    l.launched_at > $2::timestamptz
    OR EXISTS (
      SELECT FROM upvotes v WHERE v.product_id = r.product_id AND v.user_session = r.user_session AND ${IN_WINDOW}
    )
    OR EXISTS (
      SELECT FROM retracted_upvotes v WHERE v.product_id = r.product_id AND v.user_session = r.user_session
        AND (v.created_at, v.id) > (r.created_at, r.id) AND ${IN_WINDOW}
    )
  )`;

const FIND = `SELECT DISTINCT r.product_id FROM retracted_upvotes r JOIN launches l ON l.product_id = r.product_id
  WHERE r.product_id = ANY($1::text[]) AND NOT l.final AND ${NO_LONGER_COUNTS} ORDER BY r.product_id`;

const DELETE = `DELETE FROM retracted_upvotes r USING launches l
  WHERE r.product_id = ANY($1::text[]) AND l.product_id = r.product_id AND ${NO_LONGER_COUNTS}`;

const valuesOf = (productIds: readonly string[], now: Date) => [
  productIds,
  new Date(now.getTime() - WINDOW_MS).toISOString(),
];

/**
 * Deletes the retracted votes of these launches that no longer count. The caller has locked the counts (`lockCounts`)
 * and recounts the launches afterwards.
 */
export async function deleteRetracted(sql: Sql, productIds: readonly string[], now: Date): Promise<void> {
  await sql.query(DELETE, valuesOf(productIds, now));
}

/**
 * Deletes the retracted votes of these launches that no longer count, and recounts the launches, each in its own
 * transaction. Such votes exist if clocks differ or are set back: a session may withdraw its vote after the window by
 * one clock, and then vote again within the window by another clock.
 */
export async function correctRetracted(
  database: Database,
  productIds: readonly string[],
  { now, votesPerNetwork }: { now: Date; votesPerNetwork: number },
): Promise<void> {
  if (productIds.length === 0) return;
  const found = await database.query<{ product_id: string }>(FIND, valuesOf(productIds, now));
  for (const { product_id: id } of found) {
    await database.transaction(async (sql) => {
      await lockCounts(sql, [id]);
      await deleteRetracted(sql, [id], now);
      await recountLaunches(sql, [id]);
      await applyVoteCap(sql, [id], votesPerNetwork);
    });
  }
}
