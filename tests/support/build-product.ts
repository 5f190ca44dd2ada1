import type { StoredProduct } from '../../src/contract/products/schema.ts';
import { completeProduct, type PartialProduct } from '../../src/core/products/save-products.ts';

let made = 0;

/** Builds a product with defaults for unset fields. Each product is newer than the previous one. */
export function buildProduct(overrides: Partial<PartialProduct> = {}): StoredProduct {
  made += 1;
  const product = {
    id: `product-${made}`,
    name: `Product ${made}`,
    description: `What product ${made} does.`,
    createdAt: new Date(Date.UTC(2026, 0, 1) + made * 60_000).toISOString(),
    ...overrides,
  };
  return completeProduct(product, new Date(0));
}
