import { LIMITS } from '../../contract/limits.ts';
import { blockingTransaction, LARGE_CHANGE_ROWS } from '../counts/block-writes.ts';
import type { Database, Sql } from '../database/database.ts';

/** SQL: the length of a launch window. */
export const WINDOW_INTERVAL = `interval '${LIMITS.launchWindowHours} hours'`;

/**
 * SQL: whether a vote `v` was cast inside the launch window of `l`. Written as a difference, because Citus rejects
 * updates that add an interval to a time: such a sum may depend on the time zone.
 */
export const IN_WINDOW = `v.created_at >= l.launched_at AND v.created_at - l.launched_at < ${WINDOW_INTERVAL}`;

/** SQL: whether a vote in the launch window counts. */
export const IS_COUNTED = "(verdict IS NULL OR verdict = 'included')";

/** SQL: the votes for the launches `$1`: all upvotes, and votes in the window that were withdrawn after it ended. */
export const LAUNCH_VOTES = `SELECT l.product_id, v.id, v.user_session, v.created_at, v.network, v.verdict
  FROM launches l CROSS JOIN LATERAL (
    SELECT product_id, id, user_session, created_at, network, verdict FROM upvotes WHERE upvotes.product_id = l.product_id
    UNION ALL
    SELECT product_id, id, user_session, created_at, network, verdict FROM retracted_upvotes r WHERE r.product_id = l.product_id
  ) AS v
  WHERE l.product_id = ANY($1::text[])`;

/** SQL: the `LAUNCH_VOTES` that were cast in the launch window. */
export const WINDOW_VOTES = `${LAUNCH_VOTES} AND ${IN_WINDOW}`;

const SELECT_LARGE = `SELECT c.product_id, c.upvotes AS rows
  FROM product_counts c JOIN launches l ON l.product_id = c.product_id AND NOT l.final
  WHERE c.product_id = ANY($1::text[]) AND c.upvotes >= $2`;

/**
 * Runs a transaction that recounts these launches, and retries it like `transactionWithRetries`. Writes to launches with
 * many votes are refused until the transaction ends.
 */
export async function recountingTransaction<Result>(
  database: Database,
  productIds: readonly string[],
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const large = await database.query<{ product_id: string; rows: number }>(SELECT_LARGE, [
    productIds,
    LARGE_CHANGE_ROWS,
  ]);
  const block = {
    column: 'writes_paused_until',
    productIds: large.map((row) => row.product_id),
    rows: large.reduce((sum, { rows }) => sum + rows, 0),
  } as const;
  return blockingTransaction(database, block, work);
}

const RECOUNT = `UPDATE product_counts c SET window_from = totals.launched_at,
    counted = totals.counted, excluded_network = totals.excluded_network, excluded_operator = totals.excluded_operator,
    window_changes = c.window_changes + 1
  FROM (
    SELECT ids.product_id, launches.launched_at,
      (count(w.id) FILTER (WHERE ${IS_COUNTED}))::integer AS counted,
      (count(w.id) FILTER (WHERE w.verdict = 'network'))::integer AS excluded_network,
      (count(w.id) FILTER (WHERE w.verdict = 'operator'))::integer AS excluded_operator
    FROM unnest($1::text[]) AS ids (product_id)
      JOIN launches ON launches.product_id = ids.product_id AND NOT launches.final
      LEFT JOIN (${WINDOW_VOTES}) AS w ON w.product_id = ids.product_id
    GROUP BY ids.product_id, launches.launched_at
  ) AS totals
  WHERE c.product_id = totals.product_id
    AND (c.window_from, c.counted, c.excluded_network, c.excluded_operator)
      IS DISTINCT FROM (totals.launched_at, totals.counted, totals.excluded_network, totals.excluded_operator)`;

/**
 * Sets the start of the windows of these launches to `launched_at`, and recounts the votes in the windows from their
 * rows. Final results are left unchanged. The caller must have locked the counts of the launches (`lockCounts`), so no
 * concurrent vote is missed.
 */
export async function recountLaunches(sql: Sql, productIds: readonly string[]): Promise<void> {
  if (productIds.length > 0) await sql.query(RECOUNT, [productIds]);
}

/** SQL: the launches of `$1` whose votes on the boards differ from their counted votes. */
const BEHIND = `launches l JOIN product_counts c ON c.product_id = l.product_id
    WHERE l.product_id = ANY($1::text[]) AND l.placed_for IS NOT NULL AND l.votes <> c.counted`;

// The update requires that `votes` still has the old value, because the histogram must count each change only once. If
// another process has refreshed a launch since it was found, the launch is skipped, although its votes may be stale
// again.
const REFRESH = `WITH behind AS (
    SELECT l.product_id, l.votes AS old_votes, c.counted AS new_votes FROM ${BEHIND}
  ), locked AS (
    SELECT product_id FROM launches WHERE product_id IN (SELECT product_id FROM behind)
    ORDER BY product_id FOR UPDATE /* omitted on Citus */
  ), refreshed AS (
    UPDATE launches l SET votes = behind.new_votes FROM behind
    WHERE l.product_id = behind.product_id AND l.votes = behind.old_votes AND l.placed_for IS NOT NULL
      AND l.product_id IN (SELECT product_id FROM locked)
    RETURNING l.product_id, l.day, l.week, l.month, l.year, behind.old_votes, behind.new_votes
  ), moves AS (
    SELECT period, old_votes AS votes, -1 AS products
    FROM refreshed CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period
    UNION ALL
    SELECT period, new_votes, 1 FROM refreshed CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period
  ), counted AS (
    INSERT INTO leaderboard_counts AS counts (period, votes, products)
    SELECT period, votes, sum(products)::integer FROM moves
    GROUP BY period, votes HAVING sum(products) <> 0 ORDER BY period, votes
    ON CONFLICT (period, votes) DO UPDATE SET products = counts.products + EXCLUDED.products
  )
  SELECT product_id, true AS is_refreshed FROM refreshed
  UNION ALL SELECT product_id, false FROM behind WHERE product_id NOT IN (SELECT product_id FROM refreshed)`;

const FIND_BEHIND = `SELECT l.product_id FROM ${BEHIND}`;

const LOCK_AVAILABLE = `SELECT product_id FROM launches WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE SKIP LOCKED /* product by product on Citus */`;

/**
 * Copies the counted votes of these launches to `launches.votes`, by which the boards are ordered, and updates the
 * histograms of the boards.
 */
export async function refreshLaunches(sql: Sql, productIds: readonly string[]): Promise<void> {
  for (let left = productIds; left.length > 0; ) {
    const rows = await sql.query<LaunchRow & { is_refreshed: boolean }>(REFRESH, [left]);
    left = idsOf(rows.filter((row) => !row.is_refreshed));
  }
}

/**
 * Like `refreshLaunches`, but skips launches that another transaction, such as an import, has locked.
 * @returns the products whose votes may have changed, and those whose launches were skipped, which the caller must
 * retry.
 */
export async function refreshAvailableLaunches(
  database: Database,
  productIds: readonly string[],
): Promise<{ refreshed: string[]; skipped: string[] }> {
  const behind = productIds.length === 0 ? [] : idsOf(await database.query<LaunchRow>(FIND_BEHIND, [productIds]));
  if (behind.length === 0) return { refreshed: [], skipped: [] };
  const refreshed = await database.transaction(async (sql) => {
    const available = idsOf(await sql.query<LaunchRow>(LOCK_AVAILABLE, [behind]));
    await refreshLaunches(sql, available);
    return available;
  });
  const locked = new Set(refreshed);
  return { refreshed, skipped: behind.filter((id) => !locked.has(id)) };
}

interface LaunchRow {
  product_id: string;
}

const idsOf = (rows: readonly LaunchRow[]) => rows.map((row) => row.product_id);

// Finds the launches through their days, because there are indexes on the days that are not final and on the launches
// of a day.
const FIND_NOT_FINAL = `SELECT l.product_id
  FROM leaderboards b JOIN launches l ON l.day = b.period JOIN product_counts c ON c.product_id = l.product_id
  WHERE b.kind = 'day' AND b.final_at IS NULL`;

const FIND_STALE = `${FIND_NOT_FINAL} AND l.votes <> c.counted`;

const FIND_CAPPED = `${FIND_NOT_FINAL} AND c.counted + c.excluded_network > 0`;

/** Returns the ids of launches whose day is not final and whose votes on the boards differ from their counted votes. */
export async function findStaleLaunches(sql: Sql): Promise<string[]> {
  return idsOf(await sql.query<LaunchRow>(FIND_STALE));
}

/** Returns the ids of launches whose day is not final and that have votes to which the cap applies. */
export async function findCappedLaunches(sql: Sql): Promise<string[]> {
  return idsOf(await sql.query<LaunchRow>(FIND_CAPPED));
}

// Rows of final boards rarely change, so only open boards are scanned. An index on empty rows would prevent HOT updates
// of all rows. Locked rows are skipped: another transaction is about to change them.
const DELETE_EMPTY_COUNTS = `WITH empty AS (
    SELECT counts.period, counts.votes
    FROM leaderboards b JOIN leaderboard_counts counts ON counts.period = b.period
    WHERE b.final_at IS NULL AND counts.products = 0
    ORDER BY counts.period, counts.votes LIMIT 10000 FOR UPDATE OF counts SKIP LOCKED
  )
  DELETE FROM leaderboard_counts counts USING empty WHERE counts.period = empty.period AND counts.votes = empty.votes`;

/** Deletes empty rows from the histograms of open boards, at most 10,000 per call. */
export async function deleteEmptyCounts(sql: Sql): Promise<void> {
  await sql.query(DELETE_EMPTY_COUNTS);
}
