import type { Product } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { getProduct } from './get-product.ts';
import { listRemovals, type Removal } from './removed-products.ts';

/** All that the operator can know about an id. */
export interface InspectedProduct {
  product: Product | null;
  /** Comments that are not public, and so in no count; one may be both. */
  heldComments: number;
  hiddenComments: number;
  /** Removals of a product of this id that were not taken back, newest first. */
  removals: Removal[];
}

/** More than these of one id are not listed. */
const MOST_REMOVALS = 20;

const COUNT_OTHERS = `SELECT (count(*) FILTER (WHERE held_for IS NOT NULL))::integer AS held,
    (count(*) FILTER (WHERE hidden_at IS NOT NULL))::integer AS hidden
  FROM comments WHERE product_id = $1`;

/** @throws CoreError `unavailable`. */
export async function inspectProduct(sql: Sql, id: string): Promise<InspectedProduct> {
  const detail = await getProduct(sql, id);
  const [others] = await sql.query<{ held: number; hidden: number }>(COUNT_OTHERS, [id]);
  return {
    product: detail?.product ?? null,
    heldComments: others?.held ?? 0,
    hiddenComments: others?.hidden ?? 0,
    removals: await listRemovals(sql, { productId: id, limit: MOST_REMOVALS }),
  };
}
