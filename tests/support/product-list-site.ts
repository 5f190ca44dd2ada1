import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { ProductPage, StoredProduct } from '../../src/contract/products/schema.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from './build-product.ts';
import { deleteAllProducts } from './delete-products.ts';
import { startTestSite, type TestSite } from './test-site.ts';

export type ListQuery = Record<string, string | number>;

/** Returns the URL of the list of products. */
export function listAddress(query: ListQuery): string {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return `/api/products?${new URLSearchParams(parameters)}`;
}

/** Starts a site that has no products when a test begins. Call this function once per test file. */
export function startProductListSite() {
  let site: TestSite;

  beforeAll(async () => {
    site = await startTestSite();
  });

  beforeEach(async () => {
    await deleteAllProducts(site.database);
  });

  afterAll(() => site.close());

  const list = (query: ListQuery = {}) => site.ask.json<ProductPage>(listAddress(query));
  return {
    get site() {
      return site;
    },
    list,
    ids: async (query: ListQuery = {}) => (await list(query)).items.map(({ id }) => id),
    async addMany(count: number, overrides: (index: number) => Partial<StoredProduct> = () => ({})) {
      const products = Array.from({ length: count }, (_, index) => buildProduct(overrides(index)));
      await saveProducts(site.database, products);
      return products;
    },
    async setCounts(id: string, { upvotes = 0, comments = 0 }: { upvotes?: number; comments?: number }) {
      await site.database.query('UPDATE product_counts SET upvotes = $2, comments = $3 WHERE product_id = $1', [
        id,
        upvotes,
        comments,
      ]);
    },
  };
}
