import { COMMENT_MESSAGES, VISITOR_AUTHOR } from '../../contract/comments/defaults.ts';
import type { Comment, NewComment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import { isLongerThan, isVisible } from '../../contract/text.ts';
import { CoreError, productNotFound } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import type { Runtime } from '../runtime.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';

/**
 * The sender of a comment. The idempotency key identifies the draft, so a repeated request creates only one comment.
 */
export interface Sender {
  session: string;
  idempotencyKey?: string | undefined;
}

/** The author of a comment as readers see it. */
export type CommentAuthor = Pick<Comment, 'authorName' | 'authorAvatar' | 'authorBadge'>;

/** A comment that is ready to be stored. */
export interface Draft extends Sender {
  comment: Comment;
  /** The only session that sees the comment while it is held; `null` if the comment is public. */
  heldSession: string | null;
}

/**
 * Validates a visitor's input and builds the comment. Only its author sees a held comment until an operator releases
 * it.
 * @throws CoreError `comment_incomplete`, `comment_too_long`, `product_not_found` if the id is invalid.
 */
export function draftComment(
  runtime: Runtime,
  { productId, content }: NewComment,
  sender: Sender,
  { held = false, author = VISITOR_AUTHOR }: { held?: boolean; author?: CommentAuthor | undefined } = {},
): Draft {
  const text = content.trim();
  if (productId === '' || !isVisible(text)) throw new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete);
  if (isLongerThan(text, LIMITS.commentCharacters)) {
    throw new CoreError('comment_too_long', `The comment is longer than ${LIMITS.commentCharacters} characters`);
  }
  if (!isProductId(productId)) throw productNotFound();
  const comment = {
    id: runtime.uuid(),
    productId,
    ...author,
    content: text,
    likes: 0,
    createdAt: runtime.now().toISOString(),
  };
  return { ...sender, comment, heldSession: held ? sender.session : null };
}

/** Returns the key of a draft, which includes the session, because other sessions may use the same idempotency key. */
export function keyOf({ session, idempotencyKey }: Sender): string | undefined {
  return idempotencyKey === undefined ? undefined : `${session} ${idempotencyKey}`;
}

/** Returns the cutoff time of idempotency keys: a key that was claimed earlier has expired. */
export function keyExpiry(now: Date): Date {
  return new Date(now.getTime() - LIMITS.idempotencyKeyHours * 60 * 60 * 1000);
}

const SELECT_COMMENTS = `SELECT k.user_session, k.idempotency_key, ${COMMENT_COLUMNS.split(', ')
  .map((column) => `c.${column}`)
  .join(', ')}
  FROM unnest($1::text[], $2::text[]) AS asked (user_session, idempotency_key)
  JOIN comment_idempotency_keys k ON k.user_session = asked.user_session AND k.idempotency_key = asked.idempotency_key
  JOIN comments c ON c.product_id = k.product_id AND c.id = k.comment_id AND c.hidden_at IS NULL`;

/** Reads the comments of idempotency keys, except removed and hidden ones. @returns comments by `keyOf`. */
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
