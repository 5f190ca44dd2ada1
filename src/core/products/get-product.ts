import type { RemovedProductRecord } from '../../contract/console/records.ts';
import { isProductId } from '../../contract/products/fields.ts';
import type { Product, ProductDetail } from '../../contract/products/schema.ts';
import { WAITING } from '../comments/comment-row.ts';
import type { Sql } from '../database/database.ts';
import { END_OF_TIME } from '../runtime.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from './product-row.ts';
import { listRemovals } from './remove-products.ts';

const SELECT_PRODUCT = `SELECT ${PRODUCT_COLUMNS}
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id
  WHERE p.id = $1 AND p.created_at <= $2::timestamptz`;

const SELECT_NEIGHBOURS = `SELECT
  (SELECT id FROM products WHERE (created_at, id) > ($1::timestamptz, $2) AND created_at <= $3::timestamptz ORDER BY created_at, id LIMIT 1) AS previous_id,
  (SELECT id FROM products WHERE (created_at, id) < ($1::timestamptz, $2) ORDER BY created_at DESC, id DESC LIMIT 1) AS next_id`;

interface Neighbours {
  previous_id: string | null;
  next_id: string | null;
}

/**
 * Reads a product and its neighbours in the default order of the list.
 * @returns null if the product is unknown or has not launched by `now`.
 */
export async function getProduct(sql: Sql, id: string, now: Date): Promise<ProductDetail | null> {
  if (!isProductId(id)) return null;
  const time = now.toISOString();
  const [row] = await sql.query<ProductRow>(SELECT_PRODUCT, [id, time], { isPrepared: true });
  if (row === undefined) return null;
  const position = [row.created_at.toISOString(), row.id];
  const [neighbours] = await sql.query<Neighbours>(SELECT_NEIGHBOURS, [...position, time], { isPrepared: true });
  return {
    product: productOf(row),
    previousId: neighbours?.previous_id ?? null,
    nextId: neighbours?.next_id ?? null,
  };
}

/** The information that operators see about a product id. */
export interface InspectedProduct {
  product: Product | null;
  /**
   * The numbers of comments that are not public and therefore not counted. A held comment that is also hidden is
   * counted only as hidden.
   */
  heldComments: number;
  hiddenComments: number;
  /** Removals of products with this id that were not undone, newest first. */
  removals: RemovedProductRecord[];
}

const MAX_REMOVALS = 20;

const COUNT_OTHERS = `SELECT (count(*) FILTER (WHERE ${WAITING}))::integer AS held,
    (count(*) FILTER (WHERE hidden_at IS NOT NULL))::integer AS hidden
  FROM comments WHERE product_id = $1`;

/** Reads all information about a product id, which may be unknown. @throws CoreError `unavailable`. */
export async function inspectProduct(sql: Sql, id: string): Promise<InspectedProduct> {
  // With `END_OF_TIME`, scheduled products are included.
  const detail = await getProduct(sql, id, END_OF_TIME);
  const [others] = await sql.query<{ held: number; hidden: number }>(COUNT_OTHERS, [id]);
  return {
    product: detail?.product ?? null,
    heldComments: others?.held ?? 0,
    hiddenComments: others?.hidden ?? 0,
    removals: await listRemovals(sql, { productId: id, limit: MAX_REMOVALS }),
  };
}

/** Reads the names of products. @returns names by id, without unknown ids. @throws CoreError `unavailable`. */
export async function readProductNames(sql: Sql, ids: Iterable<string>): Promise<Map<string, string>> {
  const rows = await sql.query<{ id: string; name: string }>(
    'SELECT id, name FROM products WHERE id = ANY($1::text[])',
    [[...ids]],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
