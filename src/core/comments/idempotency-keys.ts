import type { Comment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Sql } from '../database/database.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';
import type { Sender } from './draft.ts';

/** Keys of one session are its own: what another session calls the same is another draft. */
export function keyOf({ session, idempotencyKey }: Sender): string | undefined {
  return idempotencyKey === undefined ? undefined : `${session} ${idempotencyKey}`;
}

/** Keys that were claimed before this moment count no more. */
export function keyExpiry(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyKeyHours * 60 * 60 * 1000);
}

const SELECT_COMMENTS = `SELECT k.user_session, k.idempotency_key, ${COMMENT_COLUMNS.split(', ')
  .map((column) => `c.${column}`)
  .join(', ')}
  FROM unnest($1::text[], $2::text[]) AS asked (user_session, idempotency_key)
  JOIN comment_keys k ON k.user_session = asked.user_session AND k.idempotency_key = asked.idempotency_key
  JOIN comments c ON c.product_id = k.product_id AND c.id = k.comment_id AND c.hidden_at IS NULL`;

/** The comments that keys stand for, by `keyOf`; without those that were removed or hidden since. */
export async function getCommentsOfKeys(sql: Sql, senders: readonly Sender[]): Promise<Map<string, Comment>> {
  const asked = senders.filter(({ idempotencyKey }) => idempotencyKey !== undefined);
  if (asked.length === 0) return new Map();
  const rows = await sql.query<CommentRow & { user_session: string; idempotency_key: string }>(SELECT_COMMENTS, [
    asked.map(({ session }) => session),
    asked.map(({ idempotencyKey }) => idempotencyKey),
  ]);
  return new Map(rows.map((row) => [`${row.user_session} ${row.idempotency_key}`, commentOf(row)]));
}

/** Forgets the keys whose time is over. */
export async function forgetOldKeys(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM comment_keys WHERE created_at < $1::timestamptz', [keyExpiry(now).toISOString()]);
}
