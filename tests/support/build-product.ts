import { completeProduct, type PartialProduct, type StoredProduct } from '../../src/core/products/complete-product.ts';

let made = 0;

/** A product with everything that a test does not care about; each one newer than the one before. */
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
