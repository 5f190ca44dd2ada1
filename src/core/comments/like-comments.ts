import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Likes } from '../../contract/comments/schema.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import type { Outcome } from '../group-commit.ts';
import { isUuid } from '../uuid.ts';

// Locked in the order of their ids first, so that two processes never wait for each other crosswise.
const LIKE_COMMENTS = `WITH locked AS (
    SELECT id FROM comments WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE
  ), added AS (
    SELECT id, count(*)::integer AS likes FROM unnest($1::uuid[]) AS id WHERE id IN (SELECT id FROM locked) GROUP BY id
  )
  UPDATE comments SET likes = comments.likes + added.likes
  FROM added
  WHERE comments.id = added.id
  RETURNING comments.id, comments.likes`;

/**
 * Adds one like for each mention of a comment, in one atomic statement, so that none of many at once is lost.
 * @returns for each the comment's count after it, or `comment_id_required`, `comment_not_found`.
 * @throws CoreError `unavailable`.
 */
export async function likeComments(sql: Sql, commentIds: readonly string[]): Promise<Outcome<Likes>[]> {
  const asked = commentIds.map((id) => id.toLowerCase());
  const valid = asked.filter(isUuid);
  const rows = valid.length > 0 ? await sql.query<{ id: string; likes: number }>(LIKE_COMMENTS, [valid]) : [];
  const likes = new Map(rows.map((row) => [row.id, row.likes]));
  // From the count after all of them back to the count before the first.
  for (const id of valid) if (likes.has(id)) likes.set(id, (likes.get(id) ?? 0) - 1);

  return asked.map((id) => {
    if (id.trim() === '') return new CoreError('comment_id_required', COMMENT_MESSAGES.idRequired);
    const before = likes.get(id);
    if (before === undefined) return new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
    likes.set(id, before + 1);
    return { likes: before + 1 };
  });
}
