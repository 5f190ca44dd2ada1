import { DEFAULT_COMMENT_SORT } from '../../contract/comments/defaults.ts';
import type { CommentListQuery, CommentPage, CommentSort, HeldComments } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import { productNotFound } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, isCursorOf, type KeysetOrder, newestFirst, orderBy, pageOf } from '../keyset.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf, PUBLIC } from './comment-row.ts';

const NEWEST = newestFirst<CommentRow>('newest', 'uuid');

/**
 * Each order is supported by an index on the product id and these columns; `oldest` reads the index of `newest`
 * backwards.
 */
const ORDERS: Record<CommentSort, KeysetOrder<CommentRow>> = {
  best: {
    ...NEWEST,
    name: 'best',
    columns: [{ sql: 'likes', kind: 'count', keyOf: (row) => row.likes }, ...NEWEST.columns],
  },
  newest: NEWEST,
  oldest: { ...NEWEST, name: 'oldest', direction: 'ASC' },
};

/** Returns whether a cursor belongs to the list of comments in this order. */
export function isCommentCursor(cursor: string, sort: CommentSort): boolean {
  return isCursorOf(ORDERS[sort], cursor);
}

/**
 * Lists one page of a product's public comments, with the number of all its public comments.
 * @throws CoreError `product_not_found`, `bad_cursor`, `unavailable`.
 */
export async function listComments(
  sql: Sql,
  productId: string,
  query: CommentListQuery,
  now: Date,
): Promise<CommentPage> {
  const { sort = DEFAULT_COMMENT_SORT, limit = LIMITS.pageSize.default, cursor = '' } = query;
  const order = ORDERS[sort];
  const { values, bind } = collectValues(productId, now.toISOString(), limit + 1);
  const after = cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`;
  if (!isProductId(productId)) throw productNotFound();
  // Without comments, the result is one row in which all columns of comments are null.
  const rows = await sql.query<{ total: number } & (CommentRow | { id: null })>(
    `SELECT coalesce(c.comments, 0) AS total, page.*
      FROM products p LEFT JOIN product_counts c ON c.product_id = p.id LEFT JOIN (
        SELECT ${COMMENT_COLUMNS} FROM comments WHERE product_id = $1 AND ${PUBLIC} ${after}
        ORDER BY ${orderBy(order)} LIMIT $3
      ) AS page ON page.product_id = p.id
      WHERE p.id = $1 AND p.created_at <= $2::timestamptz ORDER BY ${orderBy(order)}`,
    values,
    { isPrepared: true },
  );
  const [first] = rows;
  if (first === undefined) throw productNotFound();
  const comments = rows.filter((row) => row.id !== null);
  const { shown, nextCursor } = pageOf(order, comments, limit);
  return { items: shown.map(commentOf), total: first.total, nextCursor };
}

const SELECT_HELD_FOR = `SELECT ${COMMENT_COLUMNS} FROM comments
  WHERE product_id = $1 AND held_session = $2 AND hidden_at IS NULL ORDER BY created_at DESC, id DESC LIMIT $3`;

/**
 * Lists the session's 100 newest held comments on a product, newest first.
 * @throws CoreError `product_not_found` if the id is invalid, `unavailable`.
 */
export async function listHeldComments(sql: Sql, productId: string, session: string): Promise<HeldComments> {
  if (!isProductId(productId)) throw productNotFound();
  const rows = await sql.query<CommentRow>(SELECT_HELD_FOR, [productId, session, LIMITS.pageSize.max], {
    isPrepared: true,
  });
  return { items: rows.map(commentOf) };
}
