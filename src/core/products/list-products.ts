import { LIMITS } from '../../contract/limits.ts';
import type { ProductListQuery, ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, isCursorOf, type KeysetOrder, orderBy, pageOf } from '../keyset.ts';
import { foldText, likePattern } from '../search-text.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from './product-row.ts';

/** Each order has an index on just these columns. */
const ORDERS: Record<ProductSort, KeysetOrder<ProductRow>> = {
  newest: {
    name: 'newest',
    direction: 'DESC',
    columns: [
      { sql: 'p.created_at', kind: 'time', keyOf: (row) => row.created_at.toISOString() },
      { sql: 'p.id', kind: 'productId', keyOf: (row) => row.id },
    ],
  },
  top: byCount('top', 'upvotes'),
  discussed: byCount('discussed', 'comments'),
};

function byCount(name: ProductSort, count: 'upvotes' | 'comments'): KeysetOrder<ProductRow> {
  return {
    name,
    direction: 'DESC',
    columns: [
      { sql: `c.${count}`, kind: 'count', keyOf: (row) => row[count] },
      { sql: 'c.product_id', kind: 'productId', keyOf: (row) => row.id },
    ],
  };
}

/** Whether a cursor is one that the list in this order gave out. */
export function isProductCursor(cursor: string, sort: ProductSort): boolean {
  return isCursorOf(ORDERS[sort], cursor);
}

/**
 * One page of the list by keyset paging (Markus Winand, "We need tool support for keyset pagination"): every page costs
 * the same, however deep.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function listProducts(sql: Sql, query: ProductListQuery): Promise<ProductPage> {
  const { q = '', tag = '', sort = 'newest', limit = LIMITS.pageSize.default, cursor = '' } = query;
  const order = ORDERS[sort];
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const conditions: string[] = [];
  if (q !== '') conditions.push(`p.search_text LIKE ${bind(likePattern(q), 'text')} ESCAPE '\\'`);
  if (tag !== '') conditions.push(`p.tag_keys @> ARRAY[${bind(foldText(tag), 'text')}]`);
  if (cursor !== '') conditions.push(afterCursor(order, cursor, bind));

  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS}
     FROM products p ${sort === 'newest' ? 'LEFT JOIN' : 'JOIN'} product_counts c ON c.product_id = p.id
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY ${orderBy(order)}
     LIMIT ${bind(limit + 1, 'integer')}`,
    values,
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
