import { lockCounts } from '../../src/core/counts/lock-counts.ts';
import type { Database } from '../../src/core/database/database.ts';
import { transactionWithRetries } from '../../src/core/database/transactions.ts';

/**
 * Runs a statement behind locks on all counts, in the order in which the site locks them, and like a removal again after
 * a deadlock.
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

/** Empties the site, like a removal without records. */
export function deleteAllProducts(database: Database): Promise<void> {
  return withLockedCounts(database, 'DELETE FROM products');
}
