import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Product, ProductDetail, ProductPage } from '../../contract/products/schema.ts';

/** Keys of what is cached about products; votes and comments change counts in it, so they live below every feature. */
export const productKeys = {
  lists: ['products', 'list'] as const,
  list: (filters: object) => ['products', 'list', filters] as const,
  details: ['products', 'detail'] as const,
  detail: (id: string) => ['products', 'detail', id] as const,
};

export type ProductChange = (product: Product) => Product;

/** Applies a change to one product wherever it is cached: in every list and in its detail. */
export function patchProduct(client: QueryClient, id: string, change: ProductChange): void {
  client.setQueriesData<InfiniteData<ProductPage>>({ queryKey: productKeys.lists }, (list) => {
    if (!list?.pages.some((page) => page.items.some((item) => item.id === id))) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (item.id === id ? change(item) : item)),
    }));
    return { ...list, pages };
  });
  client.setQueryData<ProductDetail | null>(productKeys.detail(id), (detail) =>
    detail ? { ...detail, product: change(detail.product) } : detail,
  );
}

/** A product and its neighbours in the first cached list that holds it, or `undefined`. */
export function findListedProduct(client: QueryClient, id: string): ProductDetail | undefined {
  for (const [, list] of client.getQueriesData<InfiniteData<ProductPage>>({ queryKey: productKeys.lists })) {
    const product = list?.pages.flatMap((page) => page.items).find((item) => item.id === id);
    // Which products stand beside it is known only to the detail: this list may be a search's.
    if (product) return { product, previousId: null, nextId: null };
  }
  return undefined;
}

/** The product as it is cached now, or `undefined`. */
export function cachedProduct(client: QueryClient, id: string): Product | undefined {
  const detail = client.getQueryData<ProductDetail | null>(productKeys.detail(id));
  return detail?.product ?? findListedProduct(client, id)?.product;
}
