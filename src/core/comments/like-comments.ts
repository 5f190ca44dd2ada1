import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Likes } from '../../contract/comments/schema.ts';
import { CoreError } from '../core-error.ts';
import { IS_OPEN } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import type { BatchResult } from '../group-commit.ts';
import { isUuid } from '../runtime.ts';

/** A like of a comment. A session may like a comment any number of times. */
export interface Like {
  commentId: string;
  session: string;
}

// Rows are locked in the order of their ids, so two processes cannot deadlock. Only the session that wrote a held
// comment can like it, and no session can like a hidden comment.
const LIKE_COMMENTS = `WITH locked AS (
    SELECT id FROM comments WHERE id = ANY($1::uuid[]) AND hidden_at IS NULL
      AND EXISTS (SELECT 1 FROM product_counts c JOIN products p ON p.id = c.product_id AND p.created_at <= $4::timestamptz
        WHERE c.product_id = comments.product_id AND ${IS_OPEN})
    ORDER BY id FOR NO KEY UPDATE /* omitted on Citus */
  )
  UPDATE comments SET likes = comments.likes + CASE WHEN held_session IS NULL THEN added.likes
    ELSE (SELECT count(*)::integer FROM unnest(added.sessions) AS session WHERE session = held_session) END
  FROM (SELECT id, count(*)::integer AS likes, array_agg(session) AS sessions
    FROM unnest($2::uuid[], $3::text[]) AS liked (id, session)
    WHERE id IN (SELECT id FROM locked) GROUP BY id) AS added
  WHERE comments.id = added.id AND hidden_at IS NULL AND (held_session IS NULL OR held_session = ANY(added.sessions))
  RETURNING comments.id, comments.product_id, comments.likes, comments.held_session`;

/**
 * Adds likes in one statement, so no concurrent like is lost.
 * @returns for each like the comment's count after it, or a CoreError `comment_id_required` or `comment_not_found`.
 * @throws CoreError `unavailable`.
 */
export async function likeComments(sql: Sql, likes: readonly Like[], now: Date): Promise<BatchResult<Likes>> {
  const normalized = likes.map(({ commentId, session }) => ({ id: commentId.toLowerCase(), session }));
  const valid = normalized.filter(({ id }) => isUuid(id));
  const rows = await write(sql, valid, now);
  const liked = new Map(rows.map((row) => [row.id, row]));
  const canLike = ({ id, session }: { id: string; session: string }) => {
    const row = liked.get(id);
    return row !== undefined && (row.held_session === null || row.held_session === session);
  };
  // The counts before this batch: the counts after it, minus the likes of the batch.
  const counts = new Map(rows.map((row) => [row.id, row.likes]));
  for (const like of valid) if (canLike(like)) counts.set(like.id, (counts.get(like.id) ?? 0) - 1);

  const outcomes = normalized.map((like) => {
    if (like.id.trim() === '') return new CoreError('comment_id_required', COMMENT_MESSAGES.idRequired);
    const before = counts.get(like.id);
    if (before === undefined || !canLike(like)) return new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
    counts.set(like.id, before + 1);
    return { likes: before + 1 };
  });
  const productIds = [...new Set(rows.map((row) => row.product_id))];
  return { outcomes, productIds, commentIds: rows.map(({ id }) => id) };
}

async function write(
  sql: Sql,
  likes: readonly { id: string; session: string }[],
  now: Date,
): Promise<{ id: string; product_id: string; likes: number; held_session: string | null }[]> {
  if (likes.length === 0) return [];
  const ids = likes.map(({ id }) => id);
  // The first parameter has each id only once, because the planner expects a row for every element.
  const values = [[...new Set(ids)], ids, likes.map(({ session }) => session), now.toISOString()];
  return sql.query(LIKE_COMMENTS, values, { isPrepared: true });
}
