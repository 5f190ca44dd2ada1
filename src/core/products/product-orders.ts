import type { ProductSort } from '../../contract/products/schema.ts';
import type { KeysetOrder } from '../keyset.ts';
import type { ProductRow } from './product-row.ts';

/** Each order has an index on just these columns, of products `p` or product_counts `c`. */
export const PRODUCT_ORDERS: Record<ProductSort, KeysetOrder<ProductRow>> = {
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
