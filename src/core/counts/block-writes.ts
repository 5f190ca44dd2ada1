import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { lockCounts } from './lock-counts.ts';

/**
 * Changing this many rows or more takes too long for writers to wait, and may exceed the statement timeout of the site.
 */
export const LARGE_CHANGE_ROWS = 5_000;

/** How long a block lasts if the process is killed: longer than changing the rows takes on a busy machine. */
const BLOCK_MS = 5_000;
const BLOCK_MS_PER_ROW = 0.1;

interface Block {
  /**
   * The column of `product_counts` that blocks writers: `writes_blocked_until` if the products are removed,
   * `writes_paused_until` if they stay.
   */
  column: 'writes_blocked_until' | 'writes_paused_until';
  productIds: readonly string[];
  /** The approximate number of rows that the transaction changes while it holds the locks on the counts. */
  rows: number;
}

/** Blocks writes for `$2` milliseconds. */
const startBlock = (column: Block['column']) => `UPDATE product_counts
  SET ${column} = statement_timestamp() + $2::float8 * interval '1 millisecond' WHERE product_id = ANY($1::text[])`;

// Stores a time instead of NULL, so a writer that has just skipped a product can find out why. The time is in the past,
// so no writer skips the product if the clock moves back slightly.
const endBlock = (column: Block['column']) => `UPDATE product_counts
  SET ${column} = statement_timestamp() - interval '1 second' WHERE product_id = ANY($1::text[])`;

/**
 * Runs a transaction that locks the counts of products, and retries it like `transactionWithRetries`. If the
 * transaction may change many rows, writers skip these products until it ends. Otherwise, they would wait for the
 * counts and delay the writes to other products in the same batch.
 */
export async function blockingTransaction<Result>(
  database: Database,
  { column, productIds, rows }: Block,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  if (rows < LARGE_CHANGE_ROWS) return transactionWithRetries(database, work);
  try {
    await updateCounts(database, productIds, startBlock(column), [BLOCK_MS + rows * BLOCK_MS_PER_ROW]);
    return await transactionWithRetries(database, work);
  } finally {
    await updateCounts(database, productIds, endBlock(column)).catch(() => {
      // The error is ignored, because the block expires soon, and the caller needs the result of the transaction.
    });
  }
}

/** The number of counts that one transaction locks, few enough that writers do not notice. */
const BATCH = 1_000;

/** Runs a statement that updates the counts of products, in short transactions. `$1`: the ids of the products. */
export async function updateCounts(
  database: Database,
  productIds: readonly string[],
  statement: string,
  values: readonly unknown[] = [],
): Promise<void> {
  for (let start = 0; start < productIds.length; start += BATCH) {
    const batch = productIds.slice(start, start + BATCH);
    await transactionWithRetries(database, async (sql) => {
      await lockCounts(sql, batch);
      await sql.query(statement, [batch, ...values]);
    });
  }
}
