import type { Query, QueryClient } from '@tanstack/react-query';
import { commentKeys, productKeys } from '../../cache/cached-data.ts';

/** The queries whose new items wait behind a button. */
const ANNOUNCED = [productKeys.lists, commentKeys.all];

const NO_REFETCH = { refetchOnWindowFocus: false } as const;

/**
 * From now on, lists are not refetched when the visitor returns to the tab, because live updates announce what is new.
 * A refetch would move the items at which the visitor is pointing.
 */
export function announceNewItems(client: QueryClient): void {
  for (const queryKey of ANNOUNCED) {
    client.setQueryDefaults(queryKey, NO_REFETCH);
    // Lists that are already on screen would get the new default only when they are next rendered.
    for (const { observers } of client.getQueryCache().findAll({ queryKey })) {
      for (const observer of observers) observer.setOptions({ ...observer.options, ...NO_REFETCH });
    }
  }
}

/** Returns whether a query is a list whose new items live updates announce. */
export function isAnnounced(client: QueryClient, { queryKey }: Query): boolean {
  return client.getQueryDefaults(queryKey).refetchOnWindowFocus === false;
}
