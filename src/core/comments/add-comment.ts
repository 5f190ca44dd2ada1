import { VISITOR_AUTHOR } from '../../contract/comments/defaults.ts';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Comment, NewComment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-faults.ts';
import { productNotFound } from '../products/product-not-found.ts';
import type { Sources } from '../sources.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';
import { claimKey } from './idempotency-keys.ts';

/** Who sends the comment: the session, and the key that names the draft where one was given. */
export interface Sender {
  session: string;
  idempotencyKey?: string | undefined;
}

/** `created` is false where the draft had made its comment before. */
export interface AddedComment {
  comment: Comment;
  created: boolean;
}

/**
 * Adds a visitor's comment to a product. With an idempotency key, the same draft makes one comment however often it is
 * sent within 24 hours, by whichever process.
 * @throws CoreError `comment_incomplete`, `comment_too_long`, `product_not_found`, `unavailable`.
 */
export async function addComment(
  database: Database,
  sources: Sources,
  { productId, content }: NewComment,
  { session, idempotencyKey }: Sender,
): Promise<AddedComment> {
  const text = checkedContent(productId, content);
  if (!isProductId(productId)) throw productNotFound();
  const draft = { id: sources.uuid(), productId, content: text, createdAt: sources.now() };
  if (idempotencyKey === undefined) return { comment: await insertComment(database, draft), created: true };

  return database.transaction(async (sql) => {
    const earlier = await claimKey(sql, {
      session,
      key: idempotencyKey,
      productId,
      commentId: draft.id,
      now: draft.createdAt,
    });
    return earlier === null
      ? { comment: await insertComment(sql, draft), created: true }
      : { comment: await getComment(sql, earlier), created: false };
  });
}

function checkedContent(productId: string, content: string): string {
  const text = content.trim();
  if (productId === '' || text === '') throw new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete);
  // Code points, as a person counts characters: an emoji is not two.
  if (text.length > LIMITS.commentCharacters && [...text].length > LIMITS.commentCharacters) {
    throw new CoreError('comment_too_long', `A comment has at most ${LIMITS.commentCharacters} characters`);
  }
  return text;
}

const INSERT_COMMENT = `WITH added AS (
    INSERT INTO comments (id, product_id, author_name, author_avatar, author_badge, content, likes, created_at)
    SELECT $1::uuid, id, $3::text, $4::text, $5::text, $6::text, 0, $7::timestamptz FROM products WHERE id = $2::text
    RETURNING ${COMMENT_COLUMNS}
  ), counted AS (
    UPDATE product_counts SET comments = comments + 1 WHERE product_id IN (SELECT product_id FROM added)
  )
  SELECT ${COMMENT_COLUMNS} FROM added`;

interface Draft {
  id: string;
  productId: string;
  content: string;
  createdAt: Date;
}

async function insertComment(sql: Sql, { id, productId, content, createdAt }: Draft): Promise<Comment> {
  const { authorName, authorAvatar, authorBadge } = VISITOR_AUTHOR;
  const values = [id, productId, authorName, authorAvatar, authorBadge, content, createdAt.toISOString()];
  try {
    const [row] = await sql.query<CommentRow>(INSERT_COMMENT, values);
    if (row === undefined) throw productNotFound();
    return commentOf(row);
  } catch (error) {
    // The product was removed between the look at it and the insert.
    if (isForeignKeyViolation(error)) throw productNotFound();
    throw error;
  }
}

async function getComment(
  sql: Sql,
  { productId, commentId }: { productId: string; commentId: string },
): Promise<Comment> {
  const [row] = await sql.query<CommentRow>(
    `SELECT ${COMMENT_COLUMNS} FROM comments WHERE product_id = $1 AND id = $2::uuid`,
    [productId, commentId],
  );
  if (row === undefined) throw new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
  return commentOf(row);
}
