import type { CommentListQuery, CommentPage, CommentSort } from '../../contract/comments/schema.ts';
import { DEFAULT_COMMENT_SORT } from '../../contract/comments/sort.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, isCursorOf, type KeysetOrder, orderBy, pageOf } from '../keyset.ts';
import { productNotFound } from '../products/product-not-found.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf, PUBLIC } from './comment-row.ts';

type Column = KeysetOrder<CommentRow>['columns'][number];

const LIKES: Column = { sql: 'likes', kind: 'count', keyOf: (row) => row.likes };
const TIME: Column = { sql: 'created_at', kind: 'time', keyOf: (row) => row.created_at.toISOString() };
const ID: Column = { sql: 'id', kind: 'uuid', keyOf: (row) => row.id };

/** Behind the product id, each order has an index on just these columns; `oldest` reads `newest` backwards. */
const ORDERS: Record<CommentSort, KeysetOrder<CommentRow>> = {
  best: { name: 'best', direction: 'DESC', columns: [LIKES, TIME, ID] },
  newest: { name: 'newest', direction: 'DESC', columns: [TIME, ID] },
  oldest: { name: 'oldest', direction: 'ASC', columns: [TIME, ID] },
};

/** Whether a cursor is one that the discussion in this order gave out. */
export function isCommentCursor(cursor: string, sort: CommentSort): boolean {
  return isCursorOf(ORDERS[sort], cursor);
}

const SELECT_TOTAL = `SELECT coalesce(c.comments, 0) AS total
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = $1`;

/**
 * One page of a product's public comments, and how many there are in all.
 * @throws CoreError `product_not_found`, `bad_cursor`, `unavailable`.
 */
export async function listComments(sql: Sql, productId: string, query: CommentListQuery): Promise<CommentPage> {
  const { sort = DEFAULT_COMMENT_SORT, limit = LIMITS.pageSize.default, cursor = '' } = query;
  const order = ORDERS[sort];
  const values: unknown[] = [productId, limit + 1];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const after = cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`;

  const [count] = isProductId(productId) ? await sql.query<{ total: number }>(SELECT_TOTAL, [productId]) : [];
  if (count === undefined) throw productNotFound();
  const rows = await sql.query<CommentRow>(
    `SELECT ${COMMENT_COLUMNS} FROM comments WHERE product_id = $1 AND ${PUBLIC} ${after} ORDER BY ${orderBy(order)} LIMIT $2`,
    values,
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  return { items: shown.map(commentOf), total: count.total, nextCursor };
}
