import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import type { Comment } from '../../contract/comments/schema.ts';
import type { LeaderboardEntry } from '../../contract/leaderboards/schema.ts';
import type { LiveCounts } from '../../contract/live/schema.ts';
import type { Product, ProductDetail } from '../../contract/products/schema.ts';
import { queuedUpvote } from '../storage/outbox.ts';
import {
  type CommentList,
  type ConfirmedVote,
  commentKeys,
  patchProduct,
  patchQueries,
  productKeys,
  upvoteKeys,
} from './cached-data.ts';

/** A page of a list, of a leaderboard or of comments. */
interface ReadPage {
  items: (Product | LeaderboardEntry | Comment)[];
}

const subscribedClients = new WeakSet<QueryClient>();

/**
 * After each read, restores what the response lacks: pending votes and likes, and changes that were made while a
 * further page was loading. When the visitor leaves, sends the votes and likes that wait for an earlier request. Every
 * vote and like calls this function, because live updates, which also call it, start later.
 */
export function keepPendingWrites(client: QueryClient): void {
  if (subscribedClients.has(client)) return;
  subscribedClients.add(client);
  window.addEventListener('pagehide', () => sendWaitingWrites(client));
  const shown = new WeakMap<Query, InfiniteData<unknown>>();
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'success') return;
    const { query, action } = event;
    const [kind] = query.queryKey;
    if (kind !== productKeys.all[0] && kind !== commentKeys.all[0]) return;
    const before = shown.get(query);
    shown.set(query, query.state.data);
    if (action.manual) return;
    if (before && query.state.fetchMeta?.fetchMore) keepLoadedPages(client, query, before);
    showPendingWrites(client, query);
  });
}

/** Sends the votes and likes that wait for the response to an earlier request. A closed page would never send them. */
function sendWaitingWrites(client: QueryClient): void {
  const cache = client.getMutationCache();
  const waiting = cache.findAll({ predicate: ({ state }) => state.isPaused });
  const last = new Map(waiting.map((mutation) => [mutation.options.scope?.id, mutation]));
  for (const mutation of waiting) {
    const { mutationFn, mutationKey, scope } = mutation.options;
    // Every like counts. Removes the pending like, because a page that returns from the back/forward cache would send
    // it again.
    if (mutationKey?.[0] === commentKeys.likeMutation('')[0]) cache.remove(mutation);
    // Only the last click on an upvote button applies.
    else if (last.get(scope?.id) !== mutation) continue;
    mutationFn?.(mutation.state.variables, { client, meta: undefined }).catch(() => {});
  }
}

/**
 * Restores the pages that were on screen before a further page arrived. The library replaces them with their versions
 * from the time of the request.
 */
function keepLoadedPages(client: QueryClient, { queryKey, state }: Query, before: InfiniteData<unknown>): void {
  const data = state.data as InfiniteData<unknown>;
  const pages = [...before.pages, ...data.pages.slice(before.pages.length)];
  client.setQueryData(queryKey, { ...data, pages }, { updatedAt: state.dataUpdatedAt });
}

function showPendingWrites(client: QueryClient, { state }: Query): void {
  const { product, pages = [] } = (state.data ?? {}) as Partial<ProductDetail & InfiniteData<ReadPage | null>>;
  // If only a further page was read, the other pages still show the pending changes.
  const read = state.fetchMeta?.fetchMore ? pages.slice(-1) : pages;
  for (const item of [...(product ? [product] : []), ...read.flatMap((page) => page?.items ?? [])]) {
    if ('likes' in item) {
      const pending = client.isMutating({ mutationKey: commentKeys.likeMutation(item.id) });
      if (pending > 0) setLikes(client, item.productId, new Map([[item.id, item.likes + pending]]));
    } else {
      const id = 'productId' in item ? item.productId : item.id;
      if (pendingUpvotes(client, id) !== 0) showCounts(client, { ...item, id });
    }
  }
}

/** Sets a product's counts, and adds the visitor's pending vote. */
export function showCounts(client: QueryClient, { id, upvotes: received, comments }: LiveCounts): void {
  const upvotes = Math.max(0, received + pendingUpvotes(client, id));
  patchProduct(client, id, (product) =>
    product.upvotes === upvotes && product.comments === comments ? product : { ...product, upvotes, comments },
  );
}

/** Sets likes by comment id in all cached lists, without marking the lists as fresh. */
export function setLikes(client: QueryClient, productId: string, likes: ReadonlyMap<string, number>): void {
  const isCurrent = ({ id, likes: shown }: Comment) => (likes.get(id) ?? shown) === shown;
  patchQueries<CommentList>(client, commentKeys.product(productId), (list) => {
    if (list.pages.every(({ items }) => items.every(isCurrent))) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (isCurrent(item) ? item : { ...item, likes: likes.get(item.id) ?? item.likes })),
    }));
    return { ...list, pages };
  });
}

/**
 * Returns the change (-1, 0 or 1) that this visitor's pending or queued vote makes to the count that the server knows.
 */
function pendingUpvotes(client: QueryClient, productId: string): number {
  if (client.isMutating({ mutationKey: upvoteKeys.mutation(productId) }) === 0) {
    const queued = queuedUpvote(productId);
    return queued ? Number(queued.upvoted) - Number(queued.before) : 0;
  }
  const confirmed = client.getQueryData<ConfirmedVote>(upvoteKeys.confirmed(productId))?.upvoted;
  const shown = client.getQueryData<boolean>(upvoteKeys.status(productId));
  return confirmed === undefined || shown === undefined ? 0 : Number(shown) - Number(confirmed);
}
