import type { Sql } from '../database/database.ts';

/**
 * The SQL condition on rows of product_counts whose products accept writes of visitors. While a large removal includes
 * a product, writers skip its row as if the row did not exist, so they do not wait for the lock.
 */
export const OPEN = '(writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp())';

const LOCK_COUNTS = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE /* product by product on Citus */`;

const LOCK_AVAILABLE_COUNTS = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE SKIP LOCKED /* product by product on Citus */`;

/**
 * Like `lockCounts`, but skips counts that another transaction has locked. Background jobs use this function, because a
 * waiting job would make visitors wait for the counts that the job has already locked.
 * @returns the products whose counts are now locked.
 */
export async function lockAvailableCounts(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  return (await sql.query<{ product_id: string }>(LOCK_AVAILABLE_COUNTS, [productIds])).map((row) => row.product_id);
}

/**
 * Locks the counts of these products until the transaction ends, which also blocks writers of their upvotes and
 * comments. These writers and removals lock counts before upvotes and comments, in the order of product ids, which
 * prevents deadlocks.
 */
export async function lockCounts(sql: Sql, productIds: readonly string[]): Promise<void> {
  await sql.query(LOCK_COUNTS, [productIds]);
}
