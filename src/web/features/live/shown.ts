import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { CommentPage, CommentSort, HeldComments } from '../../../contract/comments/schema.ts';
import type { ProductDetail, ProductListQuery, ProductPage } from '../../../contract/products/schema.ts';
import { commentKeys } from '../../lib/comment-cache.ts';
import { cachedProduct, productKeys } from '../../lib/product-cache.ts';

/** A list on screen, and what it is a list of. */
export interface ShownList {
  query: Query;
  filters: Pick<ProductListQuery, 'q' | 'tag' | 'sort' | 'cursor'>;
  pages: readonly ProductPage[];
  ids: ReadonlySet<string>;
}

export interface ShownComments {
  order: { sort: CommentSort; cursor?: string };
  pages: readonly CommentPage[];
}

/** The queries whose data is on screen. */
function onScreen(client: QueryClient, queryKey: readonly string[]): Query[] {
  return client
    .getQueryCache()
    .findAll({ queryKey, type: 'active' })
    .filter(({ state }) => state.data != null);
}

export function shownList(client: QueryClient): ShownList | undefined {
  const [query] = onScreen(client, productKeys.lists);
  if (!query) return undefined;
  const { pages } = query.state.data as InfiniteData<ProductPage>;
  const ids = new Set(pages.flatMap(({ items }) => items.map(({ id }) => id)));
  return { query, filters: query.queryKey[2] as ShownList['filters'], pages, ids };
}

/** The id of the product whose page is on screen. */
export function shownProductId(client: QueryClient): string | undefined {
  const [query] = onScreen(client, productKeys.details);
  return (query?.state.data as ProductDetail | undefined)?.product.id;
}

export function shownComments(client: QueryClient, productId: string): ShownComments | undefined {
  const [query] = onScreen(client, commentKeys.product(productId));
  if (!query) return undefined;
  const { pages } = query.state.data as InfiniteData<CommentPage>;
  return { order: query.queryKey[2] as ShownComments['order'], pages };
}

/** All products on screen, and since when of the browser's time something of them may have changed unheard. */
export function shownProducts(client: QueryClient): { productIds: string[]; readAt: number } {
  const detail = shownProductId(client);
  const productIds = [...new Set([...(detail ? [detail] : []), ...(shownList(client)?.ids ?? [])])].sort();
  const queries = [...onScreen(client, ['products']), ...onScreen(client, ['comments'])];
  // What is read again right now is as old as that.
  const times = queries.map(({ state }) => state.dataUpdatedAt).filter((time) => time > 0);
  return { productIds, readAt: Math.min(Date.now(), ...times) };
}

/** How many comments the product has that are not among those on screen and their later pages. */
export function waitingComments(client: QueryClient, productId: string): number {
  const first = shownComments(client, productId)?.pages[0];
  const count = cachedProduct(client, productId)?.comments;
  if (!first || count === undefined) return 0;
  // The visitor's own that is held back is shown and counted, but to nobody else.
  const held = client.getQueryData<HeldComments>(commentKeys.held(productId))?.items ?? [];
  const heldHere = held.filter(({ id }) => first.items.some((item) => item.id === id)).length;
  return Math.max(0, count - (first.total - heldHere));
}
