import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Likes } from '../../contract/comments/schema.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { isUuid } from '../uuid.ts';

/**
 * Adds one like to a comment in one atomic statement, so that none of many at once is lost.
 * @returns the count after it.
 * @throws CoreError `comment_id_required`, `comment_not_found`, `unavailable`.
 */
export async function likeComment(sql: Sql, commentId: string): Promise<Likes> {
  if (commentId.trim() === '') throw new CoreError('comment_id_required', COMMENT_MESSAGES.idRequired);
  const [row] = isUuid(commentId)
    ? await sql.query<Likes>('UPDATE comments SET likes = likes + 1 WHERE id = $1::uuid RETURNING likes', [commentId])
    : [];
  if (row === undefined) throw new CoreError('comment_not_found', COMMENT_MESSAGES.notFound);
  return { likes: row.likes };
}
