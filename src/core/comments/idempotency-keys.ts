import { LIMITS } from '../../contract/limits.ts';
import type { Sql } from '../database/database.ts';

interface Claim {
  session: string;
  key: string;
  productId: string;
  commentId: string;
  now: Date;
}

const CLAIM = `INSERT INTO comment_keys (user_session, idempotency_key, product_id, comment_id, created_at)
  VALUES ($1, $2, $3, $4::uuid, $5::timestamptz)
  ON CONFLICT (user_session, idempotency_key) DO UPDATE
    SET product_id = EXCLUDED.product_id, comment_id = EXCLUDED.comment_id, created_at = EXCLUDED.created_at
    WHERE comment_keys.created_at < $6::timestamptz
  RETURNING comment_id`;

const SELECT_EARLIER = `SELECT product_id, comment_id FROM comment_keys WHERE user_session = $1 AND idempotency_key = $2`;

/**
 * Claims an idempotency key for a comment, inside the transaction that inserts it: a second sender of the same key waits
 * on the row until the first commits.
 * @returns `null` where the key is now ours, else the comment that it already stands for.
 */
export async function claimKey(
  sql: Sql,
  { session, key, productId, commentId, now }: Claim,
): Promise<{ productId: string; commentId: string } | null> {
  const values = [session, key, productId, commentId, now.toISOString(), expiry(now).toISOString()];
  const claimed = await sql.query(CLAIM, values);
  if (claimed.length > 0) return null;
  const [earlier] = await sql.query<{ product_id: string; comment_id: string }>(SELECT_EARLIER, [session, key]);
  if (earlier === undefined) throw new Error('An idempotency key vanished while it was read');
  return { productId: earlier.product_id, commentId: earlier.comment_id };
}

/** Forgets the keys whose time is over. */
export async function forgetOldKeys(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM comment_keys WHERE created_at < $1::timestamptz', [expiry(now).toISOString()]);
}

function expiry(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyKeyHours * 60 * 60 * 1000);
}
