import { isProductId } from '../../contract/products/product-id.ts';
import type { Sql } from '../database/database.ts';
import type { RemovedProduct } from './remove-products.ts';

/** A removal that can be taken back. */
export interface Removal extends RemovedProduct {
  removalId: string;
  /** ISO 8601, UTC. */
  removedAt: string;
}

const SELECT_REMOVED = 'SELECT 1 FROM removed_products WHERE product_id = $1 LIMIT 1';

/** Whether the operator removed a product of this id; whether there is one by now is another question. */
export async function isProductRemoved(sql: Sql, id: string): Promise<boolean> {
  return isProductId(id) && (await sql.query(SELECT_REMOVED, [id])).length > 0;
}

/** The newest removals, of one product where its id is given. @throws CoreError `unavailable`. */
export async function listRemovals(
  sql: Sql,
  { productId, limit }: { productId?: string; limit: number },
): Promise<Removal[]> {
  const rows = await sql.query<{
    removal_id: string;
    product_id: string;
    name: string;
    upvotes: number;
    comments: number;
    removed_at: Date;
  }>(
    `SELECT removal_id, product_id, product ->> 'name' AS name, upvotes, comments, removed_at FROM removed_products
     ${productId === undefined ? '' : 'WHERE product_id = $2'} ORDER BY removed_at DESC, batch_id, product_id LIMIT $1`,
    productId === undefined ? [limit] : [limit, productId],
  );
  return rows.map(({ removal_id: removalId, product_id: id, removed_at, ...product }) => ({
    id,
    ...product,
    removalId,
    removedAt: removed_at.toISOString(),
  }));
}
