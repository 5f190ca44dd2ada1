import type { LiveComment, LiveCounts } from '../../contract/live/schema.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';

const SELECT_COUNTS = `SELECT c.product_id AS id, c.upvotes, c.comments
  FROM product_counts c JOIN products p ON p.id = c.product_id AND p.created_at <= $2::timestamptz
  WHERE c.product_id = ANY($1::text[])`;

/** Reads the counts of the given products that have launched by `now`. @throws CoreError `unavailable`. */
export async function readLiveCounts(sql: Sql, productIds: readonly string[], now: Date): Promise<LiveCounts[]> {
  return productIds.length === 0
    ? []
    : sql.query<LiveCounts>(SELECT_COUNTS, [productIds, now.toISOString()], { isPrepared: true });
}

// The condition on `m.product_id` lets a distributed database select the shards.
const SELECT_COMMENTS = `SELECT m.product_id AS "productId", m.id AS "commentId", m.likes
  FROM comments m JOIN products p ON p.id = m.product_id AND p.created_at <= $3::timestamptz
  WHERE m.product_id = ANY($1::text[]) AND m.id = ANY($2::uuid[]) AND ${PUBLIC}`;

/**
 * Reads the likes of the given comments. Omits comments that are not public, and comments whose product is not in
 * `productIds` or has not launched by `now`. @throws CoreError `unavailable`.
 */
export async function readLiveComments(
  sql: Sql,
  productIds: readonly string[],
  commentIds: readonly string[],
  now: Date,
): Promise<LiveComment[]> {
  if (productIds.length === 0 || commentIds.length === 0) return [];
  return sql.query<LiveComment>(SELECT_COMMENTS, [productIds, commentIds, now.toISOString()], { isPrepared: true });
}
