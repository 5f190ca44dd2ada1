import { type QueryClient, type QueryKey, useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import type { ConsolePage } from '../../contract/console/records.ts';
import { call, consoleKeys } from './console-api.ts';

type Filter = Record<string, string | undefined>;

/**
 * A list that loads pages while it is scrolled. Pages far from the visible rows are dropped, and reloaded when the
 * operator scrolls back to them.
 */
export interface Pages<Item> {
  /** Identifies the list and its filter. */
  id: string;
  /** The number of known rows. */
  count: number;
  /** The number of known pages. It may increase while `count` does not, because pages of a search may be empty. */
  pageCount: number;
  /** Returns undefined if the page of the row is not loaded. */
  itemAt(index: number): Item | undefined;
  loaded(): { row: number; item: Item }[];
  state: 'loading' | 'failed' | 'ready';
  /** The error of a page near the visible rows that could not be loaded, or null. The other pages are still shown. */
  error: unknown;
  hasMore: boolean;
  /** Whether all rows are loaded, and no page failed to load, so an item that is not among them has left the list. */
  isComplete: boolean;
  isLoadingMore: boolean;
  /** Must be called with the range of visible rows whenever the range changes. */
  show(first: number, last: number): void;
  retry(): void;
}

interface PageStart {
  cursor: string;
  /** The number of rows of the page, or undefined until the page has loaded once. */
  rows: number | undefined;
  /** Whether the server's latest response for the page had no rows. */
  isEmpty?: boolean;
  /** Identifies the last row of the page in the server's latest response. */
  lastId?: unknown;
}

interface PageList {
  /** Identifies the path and the filter. */
  id: string;
  /** When the list was opened, in milliseconds since 1970. */
  startedAt: number;
  pageStarts: PageStart[];
}

/** The requested number of rows per page. Lists that the server does not paginate ignore it. */
const PAGE_ROWS = 50;
/** The next page loads when the visible rows are this close to the end of the known rows. */
const PREFETCH_ROWS = 20;
/** How long pages off screen stay in the cache. */
const RETENTION_MS = 60_000;

/**
 * Loads a list. `subject` is the first part of its query keys (see `consoleKeys`). Each page is a separate query, and
 * only the queries near the visible rows are active, so the cost of an update does not depend on how far the list has
 * been scrolled.
 */
export function usePages<Item extends object>(subject: string, path: string, filter: Filter = {}): Pages<Item> {
  const client = useQueryClient();
  const id = JSON.stringify([path, filter]);
  const keyOf = (cursor: string) => consoleKeys.page(subject, path, filter, cursor);
  const list = useRef<PageList>({ id: '', startedAt: 0, pageStarts: [] });
  const [span, setSpan] = useState({ id, first: 0, last: 0 });
  /** The previous rows of visible pages, shown while a page is reloaded with a changed cursor. */
  const recent = useRef(new Map<number, readonly Item[]>());
  /** The previous list, shown until the list for a new filter has loaded. */
  const before = useRef<Pages<Item>>(undefined);
  if (list.current.id !== id) {
    list.current = { id, startedAt: Date.now(), pageStarts: [{ cursor: '', rows: undefined }] };
    recent.current = new Map();
  }
  const { startedAt, pageStarts } = list.current;
  const wanted = span.id === id ? span : { first: 0, last: 0 };

  // The cache is read before the queries are declared, because each cached page contains the cursor of the next one.
  const read = new Map<number, readonly Item[]>();
  const readIds = new Set<unknown>();
  for (let page = wanted.first; page <= wanted.last; page += 1) {
    const data = client.getQueryData<ConsolePage<Item>>(keyOf(pageStarts[page]?.cursor ?? ''));
    if (data && pageStarts[page]) recordPage(pageStarts, page, data);
    // A previous row may have moved to the preceding page, which has already been reloaded.
    const items =
      (pageStarts[page] && data?.items) ?? recent.current.get(page)?.filter((item) => !readIds.has(idOf(item)));
    if (items) read.set(page, items);
    for (const item of items ?? []) readIds.add(idOf(item));
  }
  recent.current = read;
  const first = Math.min(wanted.first, pageStarts.length - 1);
  // New comments appear on the first page, and a search continues on the last one. A refetch of each empty page between
  // them would repeat the whole search after every change.
  const isSkipped = (page: number, key: QueryKey) => {
    const isBetween = page > 0 && page < pageStarts.length - 1;
    return isBetween && pageStarts[page]?.isEmpty && (client.getQueryState(key)?.dataUpdatedAt ?? 0) >= startedAt;
  };
  const queries = useQueries({
    queries: pageStarts.slice(first, wanted.last + 1).map(({ cursor }, index) => ({
      queryKey: keyOf(cursor),
      enabled: !isSkipped(first + index, keyOf(cursor)),
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call<ConsolePage<Item>>(path, { query: { ...filter, limit: PAGE_ROWS, cursor: cursor || undefined }, signal }),
      gcTime: RETENTION_MS,
      // The rows are read from the cache above, so TanStack Query cannot track which properties are used.
      notifyOnChangeProps: 'all' as const,
    })),
  });

  const show = useCallback(
    (firstRow: number, lastRow: number) => {
      if (list.current.id !== id) return;
      const next = { id, ...pagesOf(list.current.pageStarts, firstRow, lastRow) };
      setSpan((now) => (now.id === id && now.first === next.first && now.last === next.last ? now : next));
    },
    [id],
  );
  const retry = () => {
    for (const query of queries) if (query.isError) void query.refetch();
  };
  if (pageStarts.every(({ rows }) => rows === undefined)) {
    const error = queries.find(({ isError }) => isError)?.error;
    if (error) return { ...NO_PAGES, id, state: 'failed', error, show, retry };
    return before.current ?? { ...NO_PAGES, id, state: 'loading', error: null, show, retry };
  }
  const shown: Pages<Item> = {
    id,
    count: pageStarts.reduce((sum, { rows = 0 }) => sum + rows, 0),
    pageCount: pageStarts.length,
    itemAt(row) {
      const position = positionOf(pageStarts, row);
      return position && read.get(position.page)?.[position.row];
    },
    loaded() {
      let start = 0;
      return pageStarts.flatMap(({ rows = 0 }, page) => {
        const first = start;
        start += rows;
        return (read.get(page) ?? []).map((item, row) => ({ row: first + row, item }));
      });
    },
    state: 'ready',
    error: queries.find(({ isError, isFetching, data }) => isError && !isFetching && data === undefined)?.error ?? null,
    hasMore: pageStarts.at(-1)?.rows === undefined,
    isComplete: queries.length === pageStarts.length && queries.every(({ isSuccess }) => isSuccess),
    isLoadingMore: queries.some(({ isFetching }, index) => isFetching && pageStarts[first + index]?.rows === undefined),
    show,
    retry,
  };
  before.current = shown;
  return shown;
}

/** Returns the id of an item. Lists without ids have only one page, and their items identify themselves. */
const idOf = (item: object) => ('id' in item ? item.id : item);

const NO_PAGES = {
  ...{ count: 0, pageCount: 0, hasMore: false, isComplete: false, isLoadingMore: false },
  itemAt: () => undefined,
  loaded: () => [],
};

/** Records the number of rows of a page and the cursor of the next page. */
export function recordPage(pageStarts: PageStart[], at: number, data: ConsolePage<object>): void {
  const { items, nextCursor } = data;
  const page = pageStarts[at];
  if (!page) return;
  page.rows = items.length;
  page.isEmpty = items.length === 0 && !changedPages.has(data);
  if (changedPages.has(data)) return;
  const ids = items.map(idOf);
  const hasMovedRows = page.lastId !== undefined && !ids.includes(page.lastId);
  page.lastId = ids.at(-1);
  const next = pageStarts[at + 1];
  if (nextCursor === null) pageStarts.length = at + 1;
  else if (!next) pageStarts.push({ cursor: nextCursor, rows: undefined });
  // Each new comment shifts the end of a searched page, and with it the next cursor. But an empty next page keeps its
  // cursor until rows move to that page, because reloading the page would repeat the search.
  else if (!next.isEmpty || hasMovedRows) next.cursor = nextCursor;
}

/**
 * Returns the pages that contain these rows and the next `PREFETCH_ROWS` rows. Includes the empty pages before the
 * first row of the list, because new comments appear on the first page.
 */
export function pagesOf(
  pageStarts: readonly Pick<PageStart, 'rows'>[],
  firstRow: number,
  lastRow: number,
): { first: number; last: number } {
  let start = 0;
  let first = 0;
  let last = 0;
  for (const [page, { rows = 0 }] of pageStarts.entries()) {
    if (start > 0 && firstRow >= start) first = page;
    if (lastRow + PREFETCH_ROWS >= start) last = page;
    start += rows;
  }
  return { first: Math.min(first, last), last };
}

function positionOf(pageStarts: readonly PageStart[], row: number): { page: number; row: number } | undefined {
  let start = 0;
  for (const [page, { rows = 0 }] of pageStarts.entries()) {
    if (row < start + rows) return { page, row: row - start };
    start += rows;
  }
  return undefined;
}

/** Pages with an optimistic update. If such a page is empty, the server may still have rows for it. */
const changedPages = new WeakSet<object>();

/** The ids of the items that the last optimistic update has removed, unless it was rolled back. */
const removedIds = new Set<string>();

/** Returns whether the operator's own last operation removed this item from its list. */
export const wasRemovedHere = (item: object) => 'id' in item && removedIds.has(String(item.id));

/**
 * Applies an optimistic update to all cached lists of a subject. Removes an item if `change` returns `undefined`.
 * @returns a function that restores the lists, except for pages that have loaded other rows since.
 */
export function changeItems<Item extends { id: string }>(
  client: QueryClient,
  subject: string,
  change: (item: Item, filter: Filter) => Item | undefined,
): () => void {
  const before = client.getQueriesData<ConsolePage<Item>>({ queryKey: consoleKeys.subject(subject) });
  removedIds.clear();
  const restores = before.map(([key, data]) => {
    if (!data?.items) return () => {};
    const filter = (typeof key[2] === 'object' && key[2] ? key[2] : {}) as Filter;
    const items = data.items.flatMap((item) => {
      const changed = change(item, filter);
      if (changed === undefined) removedIds.add(item.id);
      return changed ?? [];
    });
    const shown = client.setQueryData(key, { ...data, items });
    if (shown && shown !== data) changedPages.add(shown);
    return () => {
      if (client.getQueryData(key) === shown) client.setQueryData(key, data);
    };
  });
  return () => {
    removedIds.clear();
    for (const restore of restores) restore();
  };
}
