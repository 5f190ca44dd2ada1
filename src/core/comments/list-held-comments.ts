import type { HeldComments } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import type { Sql } from '../database/database.ts';
import { productNotFound } from '../products/product-not-found.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';

const SELECT_HELD_FOR = `SELECT ${COMMENT_COLUMNS} FROM comments
  WHERE product_id = $1 AND held_for = $2 AND hidden_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $3`;

/**
 * The comments on a product that are held back and that this session wrote, newest first.
 * @throws CoreError `product_not_found` for an id that no product can have, `unavailable`.
 */
export async function listHeldComments(sql: Sql, productId: string, session: string): Promise<HeldComments> {
  if (!isProductId(productId)) throw productNotFound();
  const rows = await sql.query<CommentRow>(SELECT_HELD_FOR, [productId, session, LIMITS.pageSize.max]);
  return { items: rows.map(commentOf) };
}
