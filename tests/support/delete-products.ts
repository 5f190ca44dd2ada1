import { recordChange } from '../../src/core/changes/change-feed.ts';
import { lockCounts } from '../../src/core/counts/lock-counts.ts';
import type { Database } from '../../src/core/database/database.ts';
import { transactionWithRetries } from '../../src/core/database/transactions.ts';

/**
 * Locks all counts in the same order as the site and runs a statement. Like a removal, retries both after a deadlock.
 */
export async function withLockedCounts(database: Database, statement: string, values: readonly unknown[] = []) {
  await transactionWithRetries(database, async (sql) => {
    const rows = await sql.query<{ product_id: string }>('SELECT product_id FROM product_counts');
    await lockCounts(
      sql,
      rows.map((row) => row.product_id),
    );
    await sql.query(statement, values);
  });
}

/** Deletes a product permanently, unlike a removal, which stores what a restoration needs, and notifies the site. */
export async function deleteProduct(database: Database, id: string): Promise<void> {
  await withLockedCounts(database, 'DELETE FROM products WHERE id = $1', [id]);
  await recordChange(database, { productIds: [id], catalogue: true });
}

/** Deletes all products of the site permanently. */
export function deleteAllProducts(database: Database): Promise<void> {
  return withLockedCounts(database, 'DELETE FROM products');
}
