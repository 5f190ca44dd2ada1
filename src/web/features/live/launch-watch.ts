import type { Query, QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { startsWithNewest } from './announced-lists.ts';
import { type VisibleList, visibleList } from './visible-queries.ts';

export interface LaunchWatch {
  /** Reads the start of the list on screen and looks for new products. @throws ApiError if the request fails. */
  check(): Promise<void>;
  /**
   * Finds new products: those at the start of `firstPage` that the list of `query` does not show. Does nothing if
   * another list is on screen now.
   */
  findNew(firstPage: readonly Pick<Product, 'id'>[], query: Query): void;
  /** Returns the ids of new products for the list on screen, newest first. */
  waiting(): string[];
  subscribe(listener: () => void): () => void;
}

/**
 * Detects launches since the list on screen was read. Watches only lists that start with the newest product.
 */
export function createLaunchWatch(api: ReadApi, client: QueryClient): LaunchWatch {
  /** The ids of new products, by the query hash of a list. A product is no longer new once it appears on screen. */
  const newIds = new Map<string, readonly string[]>();
  const listeners = new Set<() => void>();

  function listOfNewest(): VisibleList | undefined {
    const list = visibleList(client);
    return list && startsWithNewest(list.filters) ? list : undefined;
  }

  function findNew(firstPage: readonly Pick<Product, 'id'>[], query: Query): void {
    const list = listOfNewest();
    if (list?.query !== query) return;
    const firstKnown = firstPage.findIndex(({ id }) => list.ids.has(id));
    const unknown = firstKnown === -1 ? firstPage : firstPage.slice(0, firstKnown);
    newIds.set(
      query.queryHash,
      unknown.map(({ id }) => id),
    );
    for (const listener of listeners) listener();
  }

  return {
    async check() {
      const list = listOfNewest();
      if (!list) return;
      // All pages that show this list send the same request, so the server can respond from its cache.
      const page = await api.listProducts(list.filters);
      findNew(page.items, list.query);
    },
    findNew,
    waiting() {
      const list = listOfNewest();
      return (list && newIds.get(list.query.queryHash)?.filter((id) => !list.ids.has(id))) ?? [];
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
