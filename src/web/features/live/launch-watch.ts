import type { QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import type { Product } from '../../../contract/products/schema.ts';
import { type ShownList, shownList } from './shown.ts';

export interface LaunchWatch {
  /** Reads the beginning of the list on screen and looks. @throws ApiError as the API does. */
  check(): Promise<void>;
  /** Notes which products of the list's present beginning are not on screen. */
  look(beginning: readonly Pick<Product, 'id'>[]): void;
  /** The new ones of the list on screen, the newest first. */
  waiting(): string[];
  subscribe(listener: () => void): () => void;
}

/** Knows what was launched since the list on screen was read. Lists in another order than by time have no place for it. */
export function createLaunchWatch(api: ReadApi, client: QueryClient): LaunchWatch {
  /** By list; what comes on screen meanwhile is new no more. */
  const news = new Map<string, readonly string[]>();
  const listeners = new Set<() => void>();

  function listOfNewest(): ShownList | undefined {
    const list = shownList(client);
    return list && !list.filters.sort && !list.filters.cursor ? list : undefined;
  }

  function look(beginning: readonly Pick<Product, 'id'>[]): void {
    const list = listOfNewest();
    if (!list) return;
    const firstKnown = beginning.findIndex(({ id }) => list.ids.has(id));
    const unknown = firstKnown === -1 ? beginning : beginning.slice(0, firstKnown);
    news.set(
      list.query.queryHash,
      unknown.map(({ id }) => id),
    );
    for (const listener of listeners) listener();
  }

  return {
    async check() {
      const list = listOfNewest();
      if (!list) return;
      const { q, tag } = list.filters;
      // The very address that a new page reads: answered from memory.
      const page = await api.listProducts({ ...(q ? { q } : {}), ...(tag ? { tag } : {}) });
      // Another list came on screen meanwhile.
      if (listOfNewest()?.query === list.query) look(page.items);
    },
    look,
    waiting() {
      const list = listOfNewest();
      return (list && news.get(list.query.queryHash)?.filter((id) => !list.ids.has(id))) ?? [];
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
