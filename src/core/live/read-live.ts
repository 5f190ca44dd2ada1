import type { LiveComment, LiveCounts } from '../../contract/live/schema.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';

const SELECT_COUNTS = `SELECT product_id AS id, upvotes, comments FROM product_counts
  WHERE product_id = ANY($1::text[])`;

/** The counts of these products; those that do not exist are not among them. @throws CoreError `unavailable`. */
export async function readLiveCounts(sql: Sql, productIds: readonly string[]): Promise<LiveCounts[]> {
  return productIds.length === 0 ? [] : sql.query<LiveCounts>(SELECT_COUNTS, [productIds]);
}

// By product as well, so that a distributed database knows where to look.
const SELECT_COMMENTS = `SELECT product_id AS "productId", id AS "commentId", likes FROM comments
  WHERE product_id = ANY($1::text[]) AND id = ANY($2::uuid[]) AND ${PUBLIC}`;

/**
 * Those of the comments that belong to one of the products and that everybody may see, with their likes.
 * @throws CoreError `unavailable`.
 */
export async function readLiveComments(
  sql: Sql,
  productIds: readonly string[],
  commentIds: readonly string[],
): Promise<LiveComment[]> {
  if (productIds.length === 0 || commentIds.length === 0) return [];
  return sql.query<LiveComment>(SELECT_COMMENTS, [productIds, commentIds]);
}
