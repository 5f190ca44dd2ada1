import type { Sql } from '../database/database.ts';
import { isDistributed } from '../database/row-lock.ts';

/**
 * The condition on a row of product_counts that visitors may write to its product. Only while a product with very many
 * upvotes is being removed they may not: then it is passed over, as if it were gone, and nobody waits for its lock.
 */
export const OPEN = '(closed_until IS NULL OR closed_until < clock_timestamp())';

const LOCK_COUNTS = `SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[])
  ORDER BY product_id FOR UPDATE`;

/**
 * Keeps the counts of these products, and with them their upvotes and comments, from being changed by anybody else until
 * the transaction ends. Whoever changes a count, or removes a product, locks first and in this order: then nobody waits
 * for another crosswise.
 */
export async function lockCounts(sql: Sql, productIds: readonly string[]): Promise<void> {
  if (!(await isDistributed(sql))) {
    await sql.query(LOCK_COUNTS, [productIds]);
    return;
  }
  // Citus locks rows of one product at a time. Ids are ASCII, of which both sides think alike.
  for (const id of [...new Set(productIds)].sort()) await sql.query(LOCK_COUNTS, [[id]]);
}
