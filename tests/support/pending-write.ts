import { expect } from '@playwright/test';
import type { E2eSite } from './e2e-site.ts';

const BLOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/**
 * Starts a write that waits for a lock on a product's counts, and calls `meanwhile` while the write waits. `meanwhile`
 * must end within eight seconds, because the site then refuses the write.
 */
export async function whilePending(
  site: E2eSite,
  productId: string,
  write: () => Promise<void>,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await site.database.transaction(async (sql) => {
    await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
    await write();
    await expect.poll(() => site.database.query(BLOCKED), { intervals: [20] }).toHaveLength(1);
    await meanwhile();
  });
}
