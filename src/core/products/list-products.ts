import { LIMITS } from '../../contract/limits.ts';
import type { ProductListQuery, ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Database, Sql } from '../database/database.ts';
import { afterCursor, isCursorOf, orderBy, pageOf } from '../keyset.ts';
import { foldText } from '../search-text.ts';
import { PRODUCT_ORDERS } from './product-orders.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from './product-row.ts';
import { searchProducts } from './search-products.ts';

/** Whether a cursor is one that the list in this order gave out. */
export function isProductCursor(cursor: string, sort: ProductSort): boolean {
  return isCursorOf(PRODUCT_ORDERS[sort], cursor);
}

/**
 * One page of the list by keyset paging (Markus Winand, "We need tool support for keyset pagination"): every page costs
 * the same, however deep. A narrowed list may answer with fewer items than `limit`, even none, and a `nextCursor`: so far
 * it looked, and it goes on from there. Only without a `nextCursor` is there nothing more.
 * What is not narrowed may be read from elsewhere, `unnarrowed`.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function listProducts(
  database: Database,
  query: ProductListQuery,
  unnarrowed: Sql = database,
): Promise<ProductPage> {
  const { q = '', tag = '', sort = 'newest', limit = LIMITS.pageSize.default, cursor = '' } = query;
  const place = { sort, limit, cursor };
  if (q === '' && tag === '') return listAll(unnarrowed, place);
  return searchProducts(database, { term: foldText(q), tag: foldText(tag), ...place });
}

interface Place {
  sort: ProductSort;
  limit: number;
  cursor: string;
}

async function listAll(sql: Sql, { sort, limit, cursor }: Place): Promise<ProductPage> {
  const order = PRODUCT_ORDERS[sort];
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  // The limit stands in the text: a plan for any parameters would take it for a tenth of the table.
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS}
     FROM products p ${sort === 'newest' ? 'LEFT JOIN' : 'JOIN'} product_counts c ON c.product_id = p.id
     ${cursor === '' ? '' : `WHERE ${afterCursor(order, cursor, bind)}`}
     ORDER BY ${orderBy(order)}
     LIMIT ${limit + 1}`,
    values,
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
