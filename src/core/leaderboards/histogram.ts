import type { Sql } from '../database/database.ts';

/** The number of launches in a period that have this number of votes. */
interface HistogramRow {
  period: string;
  votes: number;
  products: number;
}

const LOCK_LAUNCHES = `SELECT FROM launches WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE /* omitted on Citus */`;

const COUNT_PLACED = `SELECT period, votes, count(*)::integer AS products
  FROM launches CROSS JOIN LATERAL unnest(ARRAY[day, week, month, year]) AS period
  WHERE product_id = ANY($1::text[]) AND placed_for IS NOT NULL GROUP BY period, votes`;

/**
 * Locks launches, and counts the launches on boards by period and number of votes, for `updateHistogram`. Must be
 * called before the launches are deleted or moved, or after they are placed. The caller must have locked the counts of
 * the products (`lockCounts`).
 */
export async function countPlaced(sql: Sql, productIds: readonly string[]): Promise<HistogramRow[]> {
  await sql.query(LOCK_LAUNCHES, [productIds]);
  return sql.query<HistogramRow>(COUNT_PLACED, [productIds]);
}

const UPDATE = `INSERT INTO leaderboard_counts AS counts (period, votes, products)
  SELECT period, votes, sum(products)::integer
  FROM jsonb_to_recordset($1::jsonb) AS row (period text, votes integer, products integer)
  GROUP BY period, votes HAVING sum(products) <> 0 ORDER BY period COLLATE "C", votes
  ON CONFLICT (period, votes) DO UPDATE SET products = counts.products + EXCLUDED.products`;

/**
 * Adds launches to the histograms of votes, and subtracts others. New launches wait for these rows until the
 * transaction ends, so call it after all slow work (see `reviseBoards`).
 */
export async function updateHistogram(
  sql: Sql,
  { added = [], removed = [] }: { added?: readonly HistogramRow[]; removed?: readonly HistogramRow[] },
): Promise<void> {
  const changes = [...added, ...removed.map((row) => ({ ...row, products: -row.products }))];
  await sql.query(UPDATE, [JSON.stringify(changes)]);
}
