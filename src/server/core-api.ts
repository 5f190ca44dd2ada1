import type { ReadApi } from '../contract/api.ts';
import type { Core } from '../core/core.ts';

/** The port that the web calls, answered in the same process while a page is rendered. */
export function coreApi(core: Core): ReadApi {
  return {
    listProducts: (query) => core.listProducts(query),
    getProduct: (id) => core.getProduct(id),
    listComments: (productId, query) => core.listComments(productId, query),
  };
}
