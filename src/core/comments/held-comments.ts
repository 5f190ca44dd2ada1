import type { Comment, HeldComments } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import { noteChange } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { productNotFound } from '../products/product-not-found.ts';
import { isUuid } from '../uuid.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';

const SELECT_HELD_FOR = `SELECT ${COMMENT_COLUMNS} FROM comments
  WHERE product_id = $1 AND held_for = $2 ORDER BY created_at DESC, id DESC LIMIT $3`;

/**
 * The comments on a product that are held back and that this session wrote, newest first.
 * @throws CoreError `product_not_found` for an id that no product can have, `unavailable`.
 */
export async function getHeldComments(sql: Sql, productId: string, session: string): Promise<HeldComments> {
  if (!isProductId(productId)) throw productNotFound();
  const rows = await sql.query<CommentRow>(SELECT_HELD_FOR, [productId, session, LIMITS.pageSize.max]);
  return { items: rows.map(commentOf) };
}

// Products in the order of their ids, as every other writer of counts touches them.
const RELEASE_COMMENTS = `WITH released AS (
    UPDATE comments SET held_for = NULL WHERE id = ANY($1::uuid[]) AND held_for IS NOT NULL
    RETURNING id, product_id
  ), counted AS (
    UPDATE product_counts SET comments = product_counts.comments + totals.released
    FROM (SELECT product_id, count(*)::integer AS released FROM released GROUP BY product_id ORDER BY product_id) AS totals
    WHERE product_counts.product_id = totals.product_id
  )
  SELECT id, product_id FROM released`;

/** The comments that were released, and the ids that are of no held comment: unknown, removed, or public already. */
export interface Release {
  released: Pick<Comment, 'id' | 'productId'>[];
  notHeld: string[];
}

/**
 * Makes held comments public and counts them; who wrote them is forgotten. All or nothing.
 * @throws CoreError `unavailable`.
 */
export async function releaseComments(database: Database, ids: readonly string[]): Promise<Release> {
  const asked = [...new Set(ids.map((id) => id.toLowerCase()))];
  const rows = await database.transaction(async (sql) => {
    const released = await sql.query<{ id: string; product_id: string }>(RELEASE_COMMENTS, [asked.filter(isUuid)]);
    await noteChange(sql, {
      productIds: released.map((row) => row.product_id),
      commentIds: released.map((row) => row.id),
      catalogue: false,
    });
    return released;
  });
  const released = new Set(rows.map(({ id }) => id));
  return {
    released: rows.map(({ id, product_id: productId }) => ({ id, productId })),
    notHeld: asked.filter((id) => !released.has(id)),
  };
}
