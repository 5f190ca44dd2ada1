import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { ProductListQuery, ProductPage } from '../../../contract/products/schema.ts';
import { commentKeys, productKeys } from '../../cache/cached-data.ts';

/**
 * Turns off the refetch on window focus for lists whose new items live updates announce, because a refetch would move
 * the items under the visitor's pointer. `hasStream` returns whether the page can expect a stream. Without a stream,
 * these lists are still refetched, because new items would be announced only after the next poll.
 */
export function announceNewItems(client: QueryClient, hasStream: () => boolean): void {
  const options = { refetchOnWindowFocus: (query: Query) => !hasStream() || !hasAnnouncements(query) };
  for (const queryKey of [productKeys.lists, commentKeys.all]) {
    client.setQueryDefaults(queryKey, options);
    // Sets the option on lists that are already on screen, which would otherwise get the default only when they next
    // render.
    for (const { observers } of client.getQueryCache().findAll({ queryKey })) {
      for (const observer of observers) observer.setOptions({ ...observer.options, ...options });
    }
  }
}

/** Returns whether a query is a list whose new items are announced by live updates. */
export function isAnnounced(client: QueryClient, query: Query): boolean {
  const { refetchOnWindowFocus: refetches } = client.getQueryDefaults(query.queryKey);
  return typeof refetches === 'function' && refetches(query) === false;
}

/** Returns whether a list starts with the newest product. New products appear at the top of such lists only. */
export function startsWithNewest({ sort, cursor }: Pick<ProductListQuery, 'sort' | 'cursor'>): boolean {
  return !sort && !cursor;
}

/**
 * Returns whether live updates announce new items of a list. They announce nothing for a list that could not be read,
 * and new products only for a list that starts with the newest product and is not empty.
 */
function hasAnnouncements({ queryKey: [kind, , filters], state }: Query): boolean {
  if (kind === commentKeys.all[0]) return state.data !== undefined;
  const pages = (state.data as InfiniteData<ProductPage> | undefined)?.pages ?? [];
  return startsWithNewest(filters as ProductListQuery) && pages.some(({ items }) => items.length > 0);
}
