import type { ReadApi } from '../../contract/api.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { Reads } from './answer.ts';

/** Passes every reading on, and notes what was read: what is made from it depends on just that. */
export function recordReads(api: ReadApi): { api: ReadApi; reads(): Reads } {
  const products = new Set<string>();
  let catalogue = false;
  let allCounts = false;
  let unfinished = false;
  return {
    api: {
      async listProducts(query, signal) {
        catalogue = true;
        allCounts ||= (query.sort ?? 'newest') !== 'newest';
        const page = await api.listProducts(query, signal);
        for (const { id } of page.items) products.add(id);
        unfinished ||= page.nextCursor !== null && page.items.length < (query.limit ?? LIMITS.pageSize.default);
        return page;
      },
      async getProduct(id, signal) {
        // Its neighbours are part of the answer.
        catalogue = true;
        products.add(id);
        return api.getProduct(id, signal);
      },
      async listComments(productId, query, signal) {
        products.add(productId);
        return api.listComments(productId, query, signal);
      },
    },
    reads: () => ({ products: [...products], catalogue, allCounts, unfinished }),
  };
}
