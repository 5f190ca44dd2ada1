import { IDEMPOTENCY_KEY_HOURS } from '../../contract/comments/defaults.ts';
import type { Comment } from '../../contract/comments/schema.ts';
import type { Sql } from '../database/database.ts';
import { HOUR_MS } from '../runtime.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';
import type { Sender } from './prepare-comment.ts';

/**
 * Returns the idempotency key prefixed with its session, because other sessions may use the same key; undefined if
 * there is no key.
 */
export function keyOf({ session, idempotencyKey }: Sender): string | undefined {
  return idempotencyKey === undefined ? undefined : `${session} ${idempotencyKey}`;
}

/** Returns the cutoff time of idempotency keys: a key that was claimed earlier has expired. */
export function keyExpiry(now: Date): Date {
  return new Date(now.getTime() - IDEMPOTENCY_KEY_HOURS * HOUR_MS);
}

const SELECT_COMMENTS = `SELECT k.user_session, k.idempotency_key, ${COMMENT_COLUMNS.split(', ')
  .map((column) => `c.${column}`)
  .join(', ')}
  FROM unnest($1::text[], $2::text[]) AS requested (user_session, idempotency_key)
  JOIN comment_idempotency_keys k ON k.user_session = requested.user_session AND k.idempotency_key = requested.idempotency_key
  JOIN comments c ON c.product_id = k.product_id AND c.id = k.comment_id AND c.hidden_at IS NULL`;

/**
 * Reads the comments that these idempotency keys created, except removed and hidden ones.
 * @returns the comments by key (see `keyOf`). @throws CoreError `unavailable`.
 */
export async function getCommentsOfKeys(sql: Sql, senders: readonly Sender[]): Promise<Map<string, Comment>> {
  const withKey = senders.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  if (withKey.length === 0) return new Map();
  const rows = await sql.query<CommentRow & { user_session: string; idempotency_key: string }>(SELECT_COMMENTS, [
    withKey.map(({ session }) => session),
    withKey.map(({ idempotencyKey }) => idempotencyKey),
  ]);
  return new Map(rows.map((row) => [`${row.user_session} ${row.idempotency_key}`, commentOf(row)]));
}

/** Deletes expired idempotency keys. */
export async function deleteExpiredKeys(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM comment_idempotency_keys WHERE created_at < $1::timestamptz', [
    keyExpiry(now).toISOString(),
  ]);
}
