import { keyExpiry } from '../comments/draft.ts';
import type { Sql } from '../database/database.ts';

/**
 * How long declined and withdrawn submissions are stored, for their makers and for an undo. Then their ids are free.
 */
const CLOSED_DAYS = 30;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Deletes expired idempotency keys, and submissions that were closed long ago. @throws CoreError `unavailable`. */
export async function forgetClosedSubmissions(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM submission_idempotency_keys WHERE created_at < $1::timestamptz', [
    keyExpiry(now).toISOString(),
  ]);
  await sql.query(
    "DELETE FROM submissions WHERE status IN ('declined', 'withdrawn') AND updated_at < $1::timestamptz",
    [new Date(now.getTime() - CLOSED_DAYS * DAY_MS).toISOString()],
  );
}
