import type { Sql } from '../database/database.ts';

/**
 * SQL: whether a vote `v` was cast inside the launch window of `l`. A difference, because Citus updates no rows by a sum
 * of a time and an interval, which may depend on the time zone.
 */
export const IN_WINDOW = "v.created_at >= l.launched_at AND v.created_at - l.launched_at < interval '24 hours'";

/** SQL: every vote of these launches that was cast inside its window and existed when the window ended. */
export const WINDOW_VOTES = `SELECT l.product_id, v.id, v.user_session, v.created_at, v.network, v.verdict
  FROM launches l CROSS JOIN LATERAL (
    SELECT product_id, id, user_session, created_at, network, verdict FROM upvotes WHERE upvotes.product_id = l.product_id
    UNION ALL
    SELECT product_id, id, user_session, created_at, network, verdict FROM retracted_upvotes r WHERE r.product_id = l.product_id
  ) AS v
  WHERE l.product_id = ANY($1::text[]) AND ${IN_WINDOW}`;

const RECOUNT = `UPDATE product_counts c SET window_from = totals.launched_at,
    counted = totals.counted, excluded_network = totals.excluded_network, excluded_operator = totals.excluded_operator,
    window_changes = c.window_changes + 1
  FROM (
    SELECT ids.product_id, launches.launched_at,
      (count(w.id) FILTER (WHERE w.verdict IS NULL OR w.verdict = 'included'))::integer AS counted,
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
 * Recounts the votes of these launches from their rows, in the window that begins at `launched_at`; final results
 * stay. The caller has locked their counts (`lockCounts`), so no vote in between is lost.
 */
export async function recountLaunches(sql: Sql, productIds: readonly string[]): Promise<void> {
  if (productIds.length > 0) await sql.query(RECOUNT, [productIds]);
}
