import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { CommentPage, CommentSort, HeldComments } from '../../../contract/comments/schema.ts';
import type { Leaderboard, Standings } from '../../../contract/leaderboards/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from '../../../contract/products/schema.ts';
import { commentKeys, flattenPages, productKeys } from '../../cache/cached-data.ts';

/** A list of products on screen, and its query. */
export interface VisibleList {
  query: Query;
  filters: Pick<ProductListQuery, 'q' | 'tag' | 'sort' | 'cursor'>;
  pages: readonly ProductPage[];
  ids: ReadonlySet<string>;
}

interface VisibleComments {
  order: { sort: CommentSort; cursor?: string };
  pages: readonly CommentPage[];
}

/** Returns the queries whose data is on screen. */
function visibleQueries(client: QueryClient, queryKey: readonly string[]): Query[] {
  return client
    .getQueryCache()
    .findAll({ queryKey, type: 'active' })
    .filter(({ state }) => state.data != null);
}

export function visibleList(client: QueryClient): VisibleList | undefined {
  const [query] = visibleQueries(client, productKeys.lists);
  if (!query) return undefined;
  const { pages } = query.state.data as InfiniteData<ProductPage>;
  const ids = new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
  return { query, filters: query.queryKey[2] as VisibleList['filters'], pages, ids };
}

/** Returns the id of the product whose page is on screen. */
export function visibleProductId(client: QueryClient): string | undefined {
  const [query] = visibleQueries(client, productKeys.details);
  return (query?.state.data as ProductDetail | undefined)?.product.id;
}

export function visibleComments(client: QueryClient, productId: string): VisibleComments | undefined {
  const [query] = visibleQueries(client, commentKeys.product(productId));
  if (!query) return undefined;
  const { pages } = query.state.data as InfiniteData<CommentPage>;
  return { order: query.queryKey[2] as VisibleComments['order'], pages };
}

/** Returns the products of the leaderboard on screen, and the neighbours of the launch whose standing is on screen. */
function rankedProductIds(client: QueryClient): string[] {
  const boards = visibleQueries(client, productKeys.boards).map(
    ({ state }) => state.data as InfiniteData<Leaderboard | null>,
  );
  const entries = boards.flatMap(({ pages }) => pages.flatMap((page) => page?.items ?? []));
  const standings = visibleQueries(client, productKeys.standings).map(({ state }) => (state.data as Standings).day);
  const neighbours = standings.flatMap(({ above, below }) => [above, below].filter((neighbour) => neighbour !== null));
  return [...entries, ...neighbours].map(({ productId }) => productId);
}

/** Returns whether a leaderboard is on screen. An empty one counts, because launches may still be added. */
export function isBoardVisible(client: QueryClient): boolean {
  return visibleQueries(client, productKeys.boards).length > 0;
}

/**
 * Returns all products on screen, and the browser time since which changes to them may have been missed. `readAt`
 * returns this time for one query.
 */
export function visibleProducts(
  client: QueryClient,
  readAt: (query: Query) => number,
): { productIds: string[]; readAt: number } {
  const detail = visibleProductId(client);
  const ids = [...(detail ? [detail] : []), ...(visibleList(client)?.ids ?? []), ...rankedProductIds(client)];
  const productIds = [...new Set(ids)].sort();
  const queries = [...visibleQueries(client, productKeys.all), ...visibleQueries(client, commentKeys.all)];
  // Restored data that is not fresh has the time 0. It is refetched immediately, so it counts as read now.
  const times = queries.map(readAt).filter((time) => time > 0);
  return { productIds, readAt: Math.min(Date.now(), ...times) };
}

/** The query key for the ids of a product's comments that were updated since the comments were last read. */
const updatedCommentsKey = (productId: string) => ['updated-comments', productId] as const;

/**
 * Records the ids of updated comments if the whole list is loaded. In that case, an id that the list lacks belongs to a
 * new comment.
 */
export function recordUpdatedComments(client: QueryClient, productId: string, ids: Iterable<string>): void {
  const { order, pages } = visibleComments(client, productId) ?? {};
  if (order?.cursor || pages?.at(-1)?.nextCursor !== null) return;
  const queryKey = updatedCommentsKey(productId);
  client.setQueryDefaults(queryKey, { gcTime: Number.POSITIVE_INFINITY });
  client.setQueryData<string[]>(queryKey, (noted = []) => [...new Set([...noted, ...ids])]);
}

/** Deletes the recorded ids, because the product's comments were read again or one of them was hidden. */
export function clearUpdatedComments(client: QueryClient, productId: string): void {
  client.removeQueries({ queryKey: updatedCommentsKey(productId) });
}

/** Returns the number of a product's new comments: those that are neither on screen nor on pages still to be loaded. */
export function newCommentCount(client: QueryClient, productId: string): number {
  const pages = visibleComments(client, productId)?.pages ?? [];
  const [first] = pages;
  const count = client.getQueryData<ProductDetail | null>(productKeys.detail(productId))?.product.comments;
  if (!first || count === undefined) return 0;
  // The list's total includes held comments that this page has added to the list, but the server's count does not.
  const held = new Set(client.getQueryData<HeldComments>(commentKeys.held(productId))?.items.map(({ id }) => id));
  const heldHere = first.items.filter(({ id }) => held.has(id)).length;
  // A page that was loaded later may contain comments that the total of the first page does not count.
  const ids = new Set(flattenPages(pages, ({ id }) => id).map(({ id }) => id));
  const loaded = [...ids].filter((id) => !held.has(id)).length;
  // Hidden comments reduce the count, so it may not increase although there are new comments.
  const noted = client.getQueryData<string[]>(updatedCommentsKey(productId)) ?? [];
  const unknown = noted.filter((id) => !ids.has(id)).length;
  return Math.max(unknown, count - Math.max(first.total - heldHere, loaded));
}
