import type { Query, QueryClient } from '@tanstack/react-query';
import type { ProductListQuery } from '../../../contract/products/schema.ts';
import { commentKeys, productKeys } from '../../cache/cached-data.ts';

const OPTIONS = { refetchOnWindowFocus: (query: Query) => !hasAnnouncements(query) } as const;

/**
 * From now on, lists whose new items live updates announce are not refetched when the visitor returns to the tab. A
 * refetch would move the items at which the visitor is pointing.
 */
export function announceNewItems(client: QueryClient): void {
  for (const queryKey of [productKeys.lists, commentKeys.all]) {
    client.setQueryDefaults(queryKey, OPTIONS);
    // Lists that are already on screen would get the new default only when they are next rendered.
    for (const { observers } of client.getQueryCache().findAll({ queryKey })) {
      for (const observer of observers) observer.setOptions({ ...observer.options, ...OPTIONS });
    }
  }
}

/** Returns whether a query is a list whose new items live updates announce. */
export function isAnnounced(client: QueryClient, query: Query): boolean {
  return client.getQueryDefaults(query.queryKey).refetchOnWindowFocus !== undefined && hasAnnouncements(query);
}

/** Returns whether a list of products starts with the newest one. New products appear at the top of such lists only. */
export function startsWithNewest({ sort, cursor }: Pick<ProductListQuery, 'sort' | 'cursor'>): boolean {
  return !sort && !cursor;
}

function hasAnnouncements({ queryKey: [kind, , filters] }: Query): boolean {
  return kind === commentKeys.all[0] || startsWithNewest(filters as ProductListQuery);
}
