import type { Product, ProductSort } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, type KeysetOrder, orderBy, pageOf } from '../keyset.ts';
import { foldText, likePattern, searchTextOf } from '../search-text.ts';
import { PRODUCT_COLUMNS, PRODUCT_ORDERS, type ProductRow, productOf } from './product-row.ts';

export type BrowseSort = ProductSort | 'name';

/** Filters of products. Unset filters match all products. */
interface ProductFilter {
  /** Matched literally at any position of the name or the description, ignoring case. */
  text?: string | undefined;
  /** Matched with whole tags, ignoring case. */
  tag?: string | undefined;
  /** Matched with the whole category, ignoring case by the rules of the database's locale. */
  category?: string | undefined;
  /** Only products that launched at this time or earlier. */
  launchedBy?: Date | undefined;
  /** Only products that launched at this time or later. */
  since?: Date | undefined;
  /** Only products that launch after this time, the next one first, regardless of `sort`. */
  scheduledAfter?: Date | undefined;
  sort: BrowseSort;
  limit: number;
  cursor?: string | undefined;
}

/**
 * The order by name compares this many characters of `search_text`, which begins with the folded name, and then the
 * ids.
 */
const NAME_CHARACTERS = 48;

const NAME_ORDER: KeysetOrder<ProductRow> = {
  name: 'name',
  direction: 'ASC',
  columns: [
    {
      sql: `(left(p.search_text, ${NAME_CHARACTERS})) COLLATE "C"`,
      kind: 'text',
      keyOf: (row) => [...searchTextOf(row)].slice(0, NAME_CHARACTERS).join(''),
    },
    { sql: 'p.id', kind: 'productId', keyOf: (row) => row.id },
  ],
};

const NEXT_ORDER: KeysetOrder<ProductRow> = { ...PRODUCT_ORDERS.newest, name: 'next', direction: 'ASC' };

/**
 * Lists one page of matching products for operators, with any filters and in any sort order. Without a suitable index,
 * the query scans the table once, keeps about `limit` rows in memory, and blocks no other query.
 * @throws CoreError `bad_cursor`; `unavailable`, for example if the query exceeds the statement timeout.
 */
export async function browseProducts(
  sql: Sql,
  filter: ProductFilter,
): Promise<{ items: Product[]; nextCursor: string | null }> {
  const { text = '', tag = '', category = '', since, launchedBy, scheduledAfter, sort, limit, cursor } = filter;
  const order = scheduledAfter !== undefined ? NEXT_ORDER : sort === 'name' ? NAME_ORDER : PRODUCT_ORDERS[sort];
  const { values, bind } = collectValues();
  const conditions = [
    'true',
    ...(text === '' ? [] : [`p.search_text LIKE ${bind(likePattern(text), 'text')} ESCAPE '\\'`]),
    ...(tag === '' ? [] : [`p.tag_keys @> ARRAY[${bind(foldText(tag), 'text')}]`]),
    ...(category === '' ? [] : [`lower(p.category) COLLATE "C" = lower(${bind(category, 'text')})`]),
    ...(launchedBy === undefined ? [] : [`p.created_at <= ${bind(launchedBy.toISOString(), 'timestamptz')}`]),
    ...(scheduledAfter === undefined ? [] : [`p.created_at > ${bind(scheduledAfter.toISOString(), 'timestamptz')}`]),
    ...(since === undefined ? [] : [`p.created_at >= ${bind(since.toISOString(), 'timestamptz')}`]),
    ...(cursor === undefined ? [] : [afterCursor(order, cursor, bind)]),
  ];
  const isByCount = order === PRODUCT_ORDERS.top || order === PRODUCT_ORDERS.discussed;
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS} FROM products p ${isByCount ? 'JOIN' : 'LEFT JOIN'} product_counts c ON c.product_id = p.id
     WHERE ${conditions.join(' AND ')}
     ORDER BY ${orderBy(order)} LIMIT ${limit + 1}`,
    values,
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  return { items: shown.map(productOf), nextCursor };
}

const MAX_CATEGORIES = 100;

const SELECT_NEXT_CATEGORY = `SELECT category, lower(category) AS key FROM products
  WHERE lower(category) COLLATE "C" > $1 ORDER BY (lower(category)) COLLATE "C" LIMIT 1`;

/**
 * Lists up to 100 categories by name, each in one spelling, with one index probe per category.
 * @throws CoreError `unavailable`.
 */
export async function listCategories(sql: Sql): Promise<string[]> {
  const categories: string[] = [];
  let after = '';
  while (categories.length < MAX_CATEGORIES) {
    const [next] = await sql.query<{ category: string; key: string }>(SELECT_NEXT_CATEGORY, [after]);
    if (next === undefined) break;
    categories.push(next.category);
    after = next.key;
  }
  return categories;
}
