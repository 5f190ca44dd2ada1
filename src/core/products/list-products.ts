import { LIMITS } from '../../contract/limits.ts';
import { readListCursor, writeListCursor } from '../../contract/products/list-cursor.ts';
import type { Product, ProductListQuery, ProductPage, ProductSort } from '../../contract/products/schema.ts';
import type { Database, Sql } from '../database/database.ts';
import { afterCursor, badCursor, collectValues, isCursorOf, orderBy, pageOf } from '../keyset.ts';
import { foldText } from '../search-text.ts';
import { PRODUCT_COLUMNS, PRODUCT_ORDERS, type ProductRow, productOf } from './product-row.ts';
import { searchProducts } from './search-products.ts';

/** Returns whether a cursor belongs to the list in this order. */
export function isProductCursor(cursor: string, sort: ProductSort): boolean {
  const keys = readListCursor(cursor)?.keys;
  return keys !== undefined && isCursorOf(PRODUCT_ORDERS[sort], keys);
}

/**
 * Lists one page of the products that launched by `now`, with keyset pagination (Markus Winand, "We need tool support
 * for keyset pagination"), so all pages cost the same. With a search or a tag, a page may have fewer items than
 * `limit`, even none; only a null `nextCursor` means the end. Lists without a search or a tag are read from
 * `listSource`.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function listProducts(
  database: Database,
  query: ProductListQuery,
  now: Date,
  listSource: Sql = database,
): Promise<ProductPage> {
  const { q = '', tag = '', sort = 'newest', limit = LIMITS.pageSize.default, cursor = '' } = query;
  const start = cursor === '' ? { keys: '', position: 0 } : readListCursor(cursor);
  if (start === undefined) throw badCursor();
  const place = { sort, limit, cursor: start.keys, now };
  const isComplete = q === '' && tag === '';
  const page = isComplete ? await listAll(listSource, place) : await search(database, q, tag, place);
  const { items, nextCursor } = page;
  return { items, nextCursor: nextCursor && writeListCursor(nextCursor, start.position + items.length) };
}

async function search(database: Database, q: string, tag: string, place: PagePosition): Promise<ProductPage> {
  const term = foldText(q);
  const page = await searchProducts(database, { term, tag: foldText(tag), ...place });
  return { ...page, items: page.items.filter((product) => isInNameOrDescription(term, product)) };
}

/**
 * Returns whether a product that was found by a folded term contains it in the name or in the description. A term with
 * a line feed may have matched across both, because `search_text` joins them with a line feed.
 */
function isInNameOrDescription(term: string, { name, description }: Product): boolean {
  return !term.includes('\n') || [name, description].some((text) => foldText(text).includes(term));
}

interface PagePosition {
  now: Date;
  sort: ProductSort;
  limit: number;
  cursor: string;
}

async function listAll(sql: Sql, { sort, limit, cursor, now }: PagePosition): Promise<ProductPage> {
  const order = PRODUCT_ORDERS[sort];
  const { values, bind } = collectValues();
  // The limit is a literal: with a parameter, a generic plan would assume a limit of a tenth of the rows. Clients can
  // choose any limit, so only the default is prepared.
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS}
     FROM products p ${sort === 'newest' ? 'LEFT JOIN' : 'JOIN'} product_counts c ON c.product_id = p.id
     WHERE p.created_at <= ${bind(now.toISOString(), 'timestamptz')}
       ${cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`}
     ORDER BY ${orderBy(order)}
     LIMIT ${limit + 1}`,
    values,
    { isPrepared: limit === LIMITS.pageSize.default },
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  return { items: shown.map(productOf), nextCursor };
}
