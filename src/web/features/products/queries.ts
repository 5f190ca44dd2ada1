import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  queryOptions,
  useQueryClient,
} from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { PRODUCT_MESSAGES } from '../../../contract/products/messages.ts';
import type { ProductDetail, ProductPage, RelatedProducts } from '../../../contract/products/schema.ts';
import { useApi } from '../../api/api-context.tsx';
import { reasonOf } from '../../api/http-api.ts';
import { findListedProduct, productKeys } from '../../cache/cached-data.ts';
import type { ProductFilters } from './filters.ts';

/**
 * The values of the specification, section 9: data is fresh for 5 minutes, and a failed read is retried twice. The
 * prescribed retry delay, which doubles from 1 s to at most 30 s, is the default of the library.
 */
const FRESHNESS = {
  staleTime: 5 * 60_000,
  // Long enough that visitors who return to the list find it unchanged.
  gcTime: 30 * 60_000,
  retry: 2,
  meta: { logFailureAs: 'error' },
} as const;

/** An empty string stands for the first page, because the page state is JSON, which has no `undefined`. */
type Cursor = string;

export type PagedProducts = InfiniteData<ProductPage, Cursor>;

export function productListOptions(api: ReadApi, filters: ProductFilters) {
  const { cursor = '', ...order } = filters;
  return infiniteQueryOptions<ProductPage, Error, PagedProducts, readonly unknown[], Cursor>({
    ...FRESHNESS,
    queryKey: productKeys.list(filters),
    queryFn: ({ pageParam, signal }) =>
      withFetchMessage(
        api.listProducts({ ...order, limit: LIMITS.listedProducts, ...(pageParam && { cursor: pageParam }) }, signal),
      ),
    initialPageParam: cursor,
    getNextPageParam: (last) => last.nextCursor,
    placeholderData: keepPreviousData,
  });
}

export function productDetailOptions(api: ReadApi, id: string) {
  return queryOptions({
    ...FRESHNESS,
    queryKey: productKeys.detail(id),
    queryFn: ({ signal }): Promise<ProductDetail | null> => withFetchMessage(api.getProduct(id, signal)),
  });
}

/**
 * Returns the query for a product that a cached list may contain. Such a product is shown immediately, and completed
 * when the response arrives. It is stored as old data, so it also receives live updates, and stays on screen if the
 * request fails.
 */
export function useProductOptions(id: string) {
  const client = useQueryClient();
  return {
    ...productDetailOptions(useApi(), id),
    initialData: () => findListedProduct(client, id),
    initialDataUpdatedAt: 0,
  };
}

/**
 * Returns the query for the products that share tags with a product. Its result is null if there is no product with
 * this id.
 */
export function relatedProductsOptions(api: ReadApi, id: string) {
  return queryOptions({
    ...FRESHNESS,
    meta: { logFailureAs: 'warn' },
    queryKey: productKeys.related(id),
    queryFn: ({ signal }): Promise<RelatedProducts | null> => api.getRelatedProducts(id, signal),
  });
}

async function withFetchMessage<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    throw new Error(PRODUCT_MESSAGES.fetchFailed(reasonOf(error)), { cause: error });
  }
}
