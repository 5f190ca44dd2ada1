import type { Sql } from '../database/database.ts';

/**
 * The SQL condition on rows of product_counts whose products are not being removed. While a large removal includes a
 * product, writers skip its row as if the row did not exist, so they do not wait for the lock.
 */
export const IS_OPEN = '(writes_blocked_until IS NULL OR writes_blocked_until < clock_timestamp())';

/**
 * The SQL condition on rows of product_counts that writers may lock. While the votes of a large launch are changed,
 * writers skip its row, too, and report `productPaused`.
 */
export const IS_WRITABLE = `${IS_OPEN} AND (writes_paused_until IS NULL OR writes_paused_until < clock_timestamp())`;

/**
 * The SQL condition on rows of product_counts that a writer may have skipped because of a pause. It still holds for 29
 * seconds after the pause, longer than the statements of a writer take.
 */
export const MAY_BE_PAUSED = "coalesce(writes_paused_until > clock_timestamp() - interval '30 seconds', false)";

const LOCK_COUNTS = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE /* product by product on Citus */`;

const LOCK_WRITABLE_COUNTS = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[]) AND ${IS_WRITABLE}
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

/**
 * Like `lockCounts`, but skips the counts that writers must not lock now (see `IS_WRITABLE`).
 * @returns the products whose counts are now locked.
 */
export async function lockWritableCounts(sql: Sql, productIds: readonly string[]): Promise<string[]> {
  return (await sql.query<{ product_id: string }>(LOCK_WRITABLE_COUNTS, [productIds])).map((row) => row.product_id);
}
