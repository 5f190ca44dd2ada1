import {
  PRODUCT_FIELD_NAMES,
  PRODUCT_FIELDS,
  type ProductFieldKind,
  type ProductFields,
} from '../../contract/products/fields.ts';
import type { Product, ProductSort, StoredProduct } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { type KeysetOrder, newestFirst } from '../keyset.ts';

const COLUMN_TYPES: Record<ProductFieldKind, string> = {
  id: 'text',
  text: 'text',
  dateText: 'text',
  address: 'text',
  time: 'timestamptz',
  texts: 'text[]',
  addresses: 'text[]',
  team: 'jsonb',
};

/** The columns of the table products that store fields, in the order of the fields. */
export const FIELD_COLUMNS = PRODUCT_FIELD_NAMES.map((name) => ({
  name,
  column: PRODUCT_FIELDS[name].column,
  sqlType: COLUMN_TYPES[PRODUCT_FIELDS[name].kind],
}));

/** A row of the table products, as the driver returns it. */
export type StoredProductRow = {
  [Name in keyof ProductFields as ProductFields[Name]['column']]: Name extends 'createdAt' ? Date : Product[Name];
};

/** A row of the table products with its counts. */
export type ProductRow = StoredProductRow & Pick<Product, 'upvotes' | 'comments'>;

/**
 * The columns of `StoredProductRow`, from products `p`. Arrays are read as JSON, which the driver parses much faster.
 */
export const STORED_COLUMNS = FIELD_COLUMNS.map(({ column, sqlType }) =>
  sqlType.endsWith('[]') ? `to_json(p.${column}) AS ${column}` : `p.${column}`,
).join(', ');

/**
 * The columns of `ProductRow`, from products `p` and product_counts `c`. The counts of a product without a row of
 * counts are 0.
 */
export const PRODUCT_COLUMNS = `${STORED_COLUMNS},
  coalesce(c.upvotes, 0) AS upvotes, coalesce(c.comments, 0) AS comments`;

export function productOf(row: ProductRow): Product {
  return Object.assign(storedProductOf(row), { upvotes: row.upvotes, comments: row.comments });
}

/** Converts a row to a product without its counts. */
export function storedProductOf(row: StoredProductRow): StoredProduct {
  const product: Partial<Record<keyof StoredProduct, unknown>> = {};
  // A loop takes less than half the time of `Object.fromEntries`.
  for (const { name, column } of FIELD_COLUMNS) {
    const value = row[column];
    product[name] = value instanceof Date ? value.toISOString() : value;
  }
  return product as StoredProduct;
}

/** The orders of the list. Each has an index on exactly its columns of products `p` or product_counts `c`. */
export const PRODUCT_ORDERS: Record<ProductSort, KeysetOrder<ProductRow>> = {
  newest: newestFirst('newest', 'productId', 'p.'),
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

const SELECT_PRODUCTS = `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id
  WHERE p.id = ANY($1::text[])`;

/** Reads products by id. @returns the existing products, in any order. @throws CoreError `unavailable`. */
export async function readProducts(sql: Sql, ids: readonly string[]): Promise<Product[]> {
  return (await sql.query<ProductRow>(SELECT_PRODUCTS, [ids])).map(productOf);
}

const LOCK_PRODUCTS = `SELECT id FROM products WHERE id = ANY($1::text[])
  ORDER BY id FOR NO KEY UPDATE /* product by product on Citus */`;

/**
 * Locks products that are about to be changed or removed. Concurrent changes wait; upvotes and comments, which
 * reference only the key of the row, do not wait. Must be called before days or counts are locked: an import may hold
 * the locks on products for a long time, during which launches and visitors would wait for the days and counts.
 * @returns the locked products. @throws CoreError `unavailable`.
 */
export async function lockProductRows(sql: Sql, ids: readonly string[]): Promise<string[]> {
  return (await sql.query<{ id: string }>(LOCK_PRODUCTS, [ids])).map(({ id }) => id);
}

/** Locks and reads products. @returns the existing products, in any order. @throws CoreError `unavailable`. */
export async function lockProducts(sql: Sql, ids: readonly string[]): Promise<Product[]> {
  await lockProductRows(sql, ids);
  return readProducts(sql, ids);
}

/** Like `lockProducts`, for one product. */
export async function lockProduct(sql: Sql, id: string): Promise<Product | undefined> {
  return (await lockProducts(sql, [id]))[0];
}
