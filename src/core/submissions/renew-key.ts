import { recordAudit } from '../audit/audit-log.ts';
import type { Database } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { createMakerKey } from './maker-key.ts';
import { lockSubmission } from './submission-row.ts';

const REPLACE_KEYS = 'UPDATE submissions SET key_hashes = ARRAY[$2::bytea] WHERE id = $1';
const FORGET_RETRIES = 'DELETE FROM submission_idempotency_keys WHERE submission_id = $1';

/**
 * Gives a submission a new maker key and ends all earlier ones.
 * @returns the key, of which only a hash is stored.
 * @throws CoreError `submission_not_found`, `unavailable`.
 */
export function renewMakerKey(database: Database, id: string): Promise<string> {
  const { key, hash } = createMakerKey();
  return transactionWithRetries(database, async (sql) => {
    await lockSubmission(sql, id);
    await sql.query(REPLACE_KEYS, [id, hash]);
    await sql.query(FORGET_RETRIES, [id]);
    await recordAudit(sql, { action: 'submissions key', target: id });
    return key;
  });
}
