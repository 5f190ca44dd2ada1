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

/**
 * Applies a change to one product wherever it is cached: in every list and in its detail. A change that returns the
 * product itself changes nothing.
 */
export function patchProduct(client: QueryClient, id: string, change: ProductChange): void {
  patchQueries<InfiniteData<ProductPage>>(client, productKeys.lists, (list) => {
    const items = list.pages.flatMap((page) => page.items);
    if (!items.some((item) => item.id === id && change(item) !== item)) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (item.id === id ? change(item) : item)),
    }));
    return { ...list, pages };
  });
  patchQueries<ProductDetail>(client, productKeys.detail(id), (detail) => {
    const product = change(detail.product);
    return product === detail.product ? detail : { ...detail, product };
  });
}

/** Keeps how old the data is: one right count does not make the rest of a list new. */
export function patchQueries<Data>(
  client: QueryClient,
  queryKey: readonly string[],
  change: (data: Data) => Data,
): void {
  for (const query of client.getQueryCache().findAll({ queryKey })) {
    const { data, dataUpdatedAt, isInvalidated } = query.state;
    if (!data) continue;
    const changed = change(data as Data);
    if (changed === data) continue;
    client.setQueryData(query.queryKey, changed, { updatedAt: dataUpdatedAt });
    if (isInvalidated) query.invalidate();
  }
}

/** Has the product's detail and the lists read again: those on screen at once, others when they are looked at. */
export function invalidateProduct(client: QueryClient, id: string): void {
  for (const queryKey of [productKeys.detail(id), productKeys.lists]) {
    // Of many products that turn out to be old in one moment, one reading of the list is enough.
    void client.invalidateQueries({ queryKey }, { cancelRefetch: false });
  }
}

/** How many comments a product has, as whoever read the comments themselves knows it. */
export function setCommentCount(client: QueryClient, id: string, comments: number): void {
  patchProduct(client, id, (product) => (product.comments === comments ? product : { ...product, comments }));
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
