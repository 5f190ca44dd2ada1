import type { Product, ProductSort } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { foldText, likePattern } from '../search-text.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from './product-row.ts';

export type BrowseSort = ProductSort | 'name';

/** Which products are looked for; without any of these, all. */
export interface ProductFilter {
  /** Found anywhere in name or description, in any case, each character taken literally. */
  text?: string | undefined;
  /** A whole tag, in any case. */
  tag?: string | undefined;
  /** A whole category, in any case of its ASCII letters. */
  category?: string | undefined;
  /** Launched at that time or later. */
  since?: Date | undefined;
  sort: BrowseSort;
  limit: number;
}

/** What is searched begins with the folded name: its order is that of names, whatever their case. */
const ORDERS: Record<BrowseSort, string> = {
  newest: 'p.created_at DESC, p.id DESC',
  top: 'c.upvotes DESC, c.product_id DESC',
  discussed: 'c.comments DESC, c.product_id DESC',
  name: 'p.search_text COLLATE "C", p.id',
};

/**
 * The first products that fit, for the operator: any filter with any order, which the list of the site does not have. What no
 * index answers reads the whole table once, keeps no more than `limit` rows of it, and blocks nobody.
 * @throws CoreError `unavailable`, also where it takes longer than any statement may.
 */
export async function browseProducts(sql: Sql, filter: ProductFilter): Promise<Product[]> {
  const { text = '', tag = '', category = '', since, sort, limit } = filter;
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const conditions = [
    ...(text === '' ? [] : [`p.search_text LIKE ${bind(likePattern(text), 'text')} ESCAPE '\\'`]),
    ...(tag === '' ? [] : [`p.tag_keys @> ARRAY[${bind(foldText(tag), 'text')}]`]),
    ...(category === '' ? [] : [`lower(p.category) = lower(${bind(category, 'text')})`]),
    ...(since === undefined ? [] : [`p.created_at >= ${bind(since.toISOString(), 'timestamptz')}`]),
  ];
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id
     ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
     ORDER BY ${ORDERS[sort]} LIMIT ${limit}`,
    values,
  );
  return rows.map(productOf);
}
