import { type InfiniteData, notifyManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { Comment } from '../../../contract/comments/schema.ts';
import type { LeaderboardEntry } from '../../../contract/leaderboards/schema.ts';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import type { Product, ProductDetail } from '../../../contract/products/schema.ts';
import type { UpvoteState } from '../../../contract/upvotes/schema.ts';
import type { AppApi } from '../../api/api-context.tsx';
import {
  type CommentList,
  commentKeys,
  patchProduct,
  patchQueries,
  productKeys,
  upvoteKeys,
} from '../../cache/cached-data.ts';
import { queuedUpvote } from '../../storage/outbox.ts';

/**
 * Updates are held for this long after the visitor's last write, because an update from before the write would briefly
 * undo it on screen.
 */
const HOLD_MS = 1_500;

/** A response includes every update that arrived at least this long before its request. */
const RESPONSE_LAG_MS = 1_000;

/** The maximum age of stored updates. No request takes this long, so no response can be older than a deleted update. */
const EXPIRY_MS = 60_000;

interface Received<Value> {
  value: Value;
  /** The earliest time at which the value was current, from `performance.now()`. */
  at: number;
}

/** A page of a list, of a leaderboard or of comments. */
interface ReadPage {
  items: (Product | LeaderboardEntry | Comment)[];
}

export interface UpdateApplier {
  /**
   * Shows counts and likes in place. `at` is the earliest time at which they were current, from `performance.now()`.
   * Default: now.
   */
  apply(updates: { counts?: readonly LiveCounts[]; comments?: readonly LiveComment[] }, at?: number): void;
}

/** Applies live updates to the cache. The latest state wins, regardless of the order of responses and updates. */
export function createUpdateApplier(
  client: QueryClient,
  { msSinceLastWrite }: Pick<AppApi, 'msSinceLastWrite'>,
): UpdateApplier {
  const counts = new Map<string, Received<LiveCounts>>();
  const likes = new Map<string, Received<LiveComment>>();
  const requestedAt = new WeakMap<Query, number>();
  /** The time of the earliest update that a timer will show, or infinity if there is none. */
  let heldSince = Number.POSITIVE_INFINITY;

  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query, action } = event;
    const isOurs = query.queryKey[0] === productKeys.all[0] || query.queryKey[0] === commentKeys.all[0];
    if (!isOurs) return;
    if (action.type === 'fetch') requestedAt.set(query, performance.now());
    if (action.type !== 'success' || action.manual) return;
    showPendingWrites(client, query);
    // The response may be older than updates that arrived while it was pending.
    show((requestedAt.get(query) ?? 0) - RESPONSE_LAG_MS);
  });

  /** Shows the updates received since a time, but not before `HOLD_MS` have passed since the visitor's last write. */
  function show(since: number): void {
    const quietMs = msSinceLastWrite();
    if (quietMs < HOLD_MS) {
      if (heldSince === Number.POSITIVE_INFINITY) setTimeout(showHeld, HOLD_MS - quietMs);
      heldSince = Math.min(heldSince, since);
      return;
    }
    notifyManager.batch(() => {
      for (const { value, at } of counts.values()) if (at >= since) showCounts(client, value);
      for (const [productId, ofProduct] of likesByProduct(likes, since)) setLikes(client, productId, ofProduct);
    });
  }

  function showHeld(): void {
    const since = heldSince;
    heldSince = Number.POSITIVE_INFINITY;
    show(since);
  }

  function record<Value>(received: Map<string, Received<Value>>, id: string, value: Value, at: number): void {
    if ((received.get(id)?.at ?? Number.NEGATIVE_INFINITY) > at) return;
    received.delete(id);
    received.set(id, { value, at });
  }

  return {
    apply({ counts: newCounts = [], comments = [] }, at = performance.now()) {
      for (const each of newCounts) record(counts, each.id, each, at);
      for (const each of comments) record(likes, each.commentId, each, at);
      for (const received of [counts, likes]) deleteExpired(received);
      show(at);
    },
  };
}

function showCounts(client: QueryClient, { id, upvotes: received, comments }: LiveCounts): void {
  const upvotes = Math.max(0, received + pendingUpvotes(client, id));
  patchProduct(client, id, (product) =>
    product.upvotes === upvotes && product.comments === comments ? product : { ...product, upvotes, comments },
  );
}

function likesByProduct(likes: ReadonlyMap<string, Received<LiveComment>>, since: number) {
  const byProduct = new Map<string, Map<string, number>>();
  for (const { value, at } of likes.values()) {
    if (at < since) continue;
    const ofProduct = byProduct.get(value.productId) ?? new Map<string, number>();
    byProduct.set(value.productId, ofProduct.set(value.commentId, value.likes));
  }
  return byProduct;
}

/** Sets likes by comment id in all cached lists, without marking the lists as fresh. */
function setLikes(client: QueryClient, productId: string, likes: ReadonlyMap<string, number>): void {
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

/** Deletes old updates. The maps are in order of receipt, so the first recent update ends the search. */
function deleteExpired(received: Map<string, Received<unknown>>): void {
  const before = performance.now() - EXPIRY_MS;
  for (const [id, { at }] of received) {
    if (at > before) return;
    received.delete(id);
  }
}

/** Returns the difference that this visitor's vote makes to the count while it is pending or queued. */
function pendingUpvotes(client: QueryClient, productId: string): number {
  if (client.isMutating({ mutationKey: upvoteKeys.mutation(productId) }) === 0) {
    const queued = queuedUpvote(productId);
    return queued ? Number(queued.upvoted) - Number(queued.before) : 0;
  }
  const confirmed = client.getQueryData<UpvoteState>(upvoteKeys.confirmed(productId))?.upvoted;
  const shown = client.getQueryData<boolean>(upvoteKeys.status(productId));
  return confirmed === undefined || shown === undefined ? 0 : Number(shown) - Number(confirmed);
}

/** After a read, shows the visitor's pending votes and likes again, because the response lacks them. */
function showPendingWrites(client: QueryClient, { state }: Query): void {
  const { product, pages = [] } = (state.data ?? {}) as Partial<ProductDetail & InfiniteData<ReadPage | null>>;
  // If only a further page was read, the other pages still include the changes.
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
