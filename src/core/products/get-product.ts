import { isProductId } from '../../contract/products/product-id.ts';
import type { ProductDetail } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from './product-row.ts';

const SELECT_PRODUCT = `SELECT ${PRODUCT_COLUMNS}
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id
  WHERE p.id = $1`;

const SELECT_NEIGHBOURS = `SELECT
  (SELECT id FROM products WHERE (created_at, id) > ($1::timestamptz, $2) ORDER BY created_at, id LIMIT 1) AS previous_id,
  (SELECT id FROM products WHERE (created_at, id) < ($1::timestamptz, $2) ORDER BY created_at DESC, id DESC LIMIT 1) AS next_id`;

/** A product and its neighbours in the default order of the list; `null` where there is no such product. */
export async function getProduct(sql: Sql, id: string): Promise<ProductDetail | null> {
  const [row] = isProductId(id) ? await sql.query<ProductRow>(SELECT_PRODUCT, [id]) : [];
  if (row === undefined) return null;
  const [neighbours] = await sql.query<{ previous_id: string | null; next_id: string | null }>(SELECT_NEIGHBOURS, [
    row.created_at.toISOString(),
    row.id,
  ]);
  return {
    product: productOf(row),
    previousId: neighbours?.previous_id ?? null,
    nextId: neighbours?.next_id ?? null,
  };
}
