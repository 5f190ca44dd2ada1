import type { Comment } from '../../contract/comments/schema.ts';
import type { Sql } from '../database/database.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';

/** A comment as the operator sees it: whoever wrote it stays unknown. */
export interface BrowsedComment extends Comment {
  held: boolean;
}

/** The newest comments of the whole site, or of those that are held back. @throws CoreError `unavailable`. */
export async function browseComments(
  sql: Sql,
  { heldOnly, limit }: { heldOnly: boolean; limit: number },
): Promise<BrowsedComment[]> {
  const rows = await sql.query<CommentRow & { held: boolean }>(
    `SELECT ${COMMENT_COLUMNS}, held_for IS NOT NULL AS held FROM comments ${heldOnly ? 'WHERE held_for IS NOT NULL' : ''}
     ORDER BY created_at DESC, id DESC LIMIT $1`,
    [limit],
  );
  return rows.map((row) => ({ ...commentOf(row), held: row.held }));
}
