import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Likes } from '../../contract/comments/schema.ts';
import { CoreError } from '../core-error.ts';
import { OPEN } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import { type RowLock, rowLock } from '../database/row-lock.ts';
import type { Outcome } from '../group-commit.ts';
import { isUuid } from '../uuid.ts';

/** The wish of a session to like a comment once more. */
export interface Like {
  commentId: string;
  session: string;
}

/** A comment's count after a like, and the product that it belongs to. */
export interface Liked extends Likes {
  productId: string;
}

// Locked in the order of their ids first, so that two processes never wait for each other crosswise. A comment that is
// held back is there for the session that wrote it alone, and one that is hidden for nobody.
const likeCommentsStatement = (lock: RowLock) => `WITH locked AS (
    SELECT id FROM comments WHERE id = ANY($1::uuid[]) AND hidden_at IS NULL
      AND EXISTS (SELECT 1 FROM product_counts c WHERE c.product_id = comments.product_id AND ${OPEN})
    ORDER BY id ${lock}
  )
  UPDATE comments SET likes = comments.likes + CASE WHEN held_for IS NULL THEN added.likes
    ELSE (SELECT count(*)::integer FROM unnest(added.sessions) AS session WHERE session = held_for) END
  FROM (SELECT id, count(*)::integer AS likes, array_agg(session) AS sessions
    FROM unnest($1::uuid[], $2::text[]) AS liked (id, session)
    WHERE id IN (SELECT id FROM locked) GROUP BY id) AS added
  WHERE comments.id = added.id AND hidden_at IS NULL AND (held_for IS NULL OR held_for = ANY(added.sessions))
  RETURNING comments.id, comments.product_id, comments.likes, comments.held_for`;

/**
 * Adds one like for each mention of a comment, in one atomic statement, so that none of many at once is lost.
 * @returns for each the comment's count after it, or `comment_id_required`, `comment_not_found`.
 * @throws CoreError `unavailable`.
 */
export async function likeComments(sql: Sql, likes: readonly Like[]): Promise<Outcome<Liked>[]> {
  const asked = likes.map(({ commentId, session }) => ({ id: commentId.toLowerCase(), session }));
  const valid = asked.filter(({ id }) => isUuid(id));
  const rows = await write(sql, valid);
  const liked = new Map(rows.map((row) => [row.id, row]));
  const isSeen = ({ id, session }: { id: string; session: string }) => {
    const row = liked.get(id);
    return row !== undefined && (row.held_for === null || row.held_for === session);
  };
  // From the count after all of them back to the count before the first.
  const counts = new Map(rows.map((row) => [row.id, row.likes]));
  for (const like of valid) if (isSeen(like)) counts.set(like.id, (counts.get(like.id) ?? 0) - 1);

  return asked.map((like) => {
    if (like.id.trim() === '') return new CoreError('comment_id_required', COMMENT_MESSAGES.idRequired);
    const before = counts.get(like.id);
    const row = liked.get(like.id);
    if (row === undefined || before === undefined || !isSeen(like))
      return new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
    counts.set(like.id, before + 1);
    return { likes: before + 1, productId: row.product_id };
  });
}

async function write(
  sql: Sql,
  likes: readonly { id: string; session: string }[],
): Promise<{ id: string; product_id: string; likes: number; held_for: string | null }[]> {
  if (likes.length === 0) return [];
  const statement = likeCommentsStatement(await rowLock(sql, 'FOR NO KEY UPDATE'));
  return sql.query(statement, [likes.map(({ id }) => id), likes.map(({ session }) => session)]);
}
