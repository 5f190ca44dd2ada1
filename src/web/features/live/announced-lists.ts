import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { ProductListQuery, ProductPage } from '../../../contract/products/schema.ts';
import { commentKeys, productKeys } from '../../cache/cached-data.ts';

/**
 * From now on, lists whose new items live updates announce are not refetched when the visitor returns to the tab. A
 * refetch would move the items at which the visitor is pointing. `hasStream` tells whether the page can expect a stream
 * after that; without one, it would learn of new items only minutes later.
 */
export function announceNewItems(client: QueryClient, hasStream: () => boolean): void {
  const options = { refetchOnWindowFocus: (query: Query) => !hasStream() || !hasAnnouncements(query) };
  for (const queryKey of [productKeys.lists, commentKeys.all]) {
    client.setQueryDefaults(queryKey, options);
    // Lists that are already on screen would get the new default only when they are next rendered.
    for (const { observers } of client.getQueryCache().findAll({ queryKey })) {
      for (const observer of observers) observer.setOptions({ ...observer.options, ...options });
    }
  }
}

/** Returns whether a query is a list whose new items live updates announce. */
export function isAnnounced(client: QueryClient, query: Query): boolean {
  const { refetchOnWindowFocus: refetches } = client.getQueryDefaults(query.queryKey);
  return typeof refetches === 'function' && refetches(query) === false;
}

/** Returns whether a list of products starts with the newest one. New products appear at the top of such lists only. */
export function startsWithNewest({ sort, cursor }: Pick<ProductListQuery, 'sort' | 'cursor'>): boolean {
  return !sort && !cursor;
}

/** Live updates announce nothing new in a list that could not be read, nor products in an empty list. */
function hasAnnouncements({ queryKey: [kind, , filters], state }: Query): boolean {
  if (kind === commentKeys.all[0]) return state.data !== undefined;
  const pages = (state.data as InfiniteData<ProductPage> | undefined)?.pages ?? [];
  return startsWithNewest(filters as ProductListQuery) && pages.some(({ items }) => items.length > 0);
}
