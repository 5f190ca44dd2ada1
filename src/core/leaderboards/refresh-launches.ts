import type { Sql } from '../database/database.ts';

// The old votes are compared again in the update: another process may have been first, and a row that moves twice would
// be counted twice.
const REFRESH = `WITH behind AS (
    SELECT l.product_id, l.votes AS old_votes, c.counted AS new_votes
    FROM launches l JOIN product_counts c ON c.product_id = l.product_id
    WHERE l.product_id = ANY($1::text[]) AND l.placed_for IS NOT NULL AND l.votes <> c.counted
    ORDER BY l.product_id
  ), refreshed AS (
    UPDATE launches l SET votes = behind.new_votes FROM behind
    WHERE l.product_id = behind.product_id AND l.votes = behind.old_votes AND l.placed_for IS NOT NULL
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
  SELECT product_id FROM refreshed`;

/**
 * Updates the votes that order boards to the counted votes.
 * @returns the products whose votes changed.
 */
export async function refreshLaunches(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  if (productIds.length === 0) return [];
  return (await sql.query<{ product_id: string }>(REFRESH, [productIds])).map((row) => row.product_id);
}

const FIND_BEHIND = `SELECT l.product_id FROM launches l JOIN product_counts c ON c.product_id = l.product_id
  WHERE l.launched_at > $1::timestamptz - interval '25 hours' AND l.placed_for IS NOT NULL AND l.votes <> c.counted`;

const FIND_OPEN = `SELECT product_id FROM launches
  WHERE launched_at > $1::timestamptz - interval '25 hours' AND launched_at <= $1::timestamptz ORDER BY product_id`;

/** Launches whose window is open, or ended a moment ago. */
export async function findOpenLaunches(sql: Sql, now: Date): Promise<string[]> {
  return (await sql.query<{ product_id: string }>(FIND_OPEN, [now.toISOString()])).map((row) => row.product_id);
}

/** Launches in open windows whose place does not match their counted votes yet. */
export async function findLaunchesBehind(sql: Sql, now: Date): Promise<string[]> {
  return (await sql.query<{ product_id: string }>(FIND_BEHIND, [now.toISOString()])).map((row) => row.product_id);
}
