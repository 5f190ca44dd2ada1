import { notifyManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import type { AppApi } from '../../api/api-context.tsx';
import { commentKeys, productKeys } from '../../cache/cached-data.ts';
import { keepPendingWrites, setLikes, showCounts } from '../../cache/pending-writes.ts';
import { clearUpdatedComments, recordUpdatedComments } from './visible-queries.ts';

/**
 * Updates are held for this long after the visitor's last write, because an update from before the write would briefly
 * undo it on screen.
 */
export const HOLD_MS = 1_500;

/** A response includes every update that arrived at least this long before its request. */
const RESPONSE_LAG_MS = 1_000;

/** The maximum age of stored updates. No request takes this long, so no response can be older than a deleted update. */
const EXPIRY_MS = 60_000;

interface Received<Value> {
  value: Value;
  /** The earliest time at which the value was current, from `performance.now()`. */
  at: number;
}

export interface UpdateApplier {
  /**
   * Shows counts and likes in place. `at` is the earliest time at which they were current, from `performance.now()`.
   * Default: now.
   */
  apply(updates: { counts?: readonly LiveCounts[]; comments?: readonly LiveComment[] }, at?: number): void;
  /** Returns when the data of a query was requested or, if unknown, when it arrived (browser time, ms since 1970). */
  readAt(query: Query): number;
}

/** Applies live updates to the cache. The latest state wins, regardless of the order of responses and updates. */
export function createUpdateApplier(
  client: QueryClient,
  { msSinceLastWrite }: Pick<AppApi, 'msSinceLastWrite'>,
): UpdateApplier {
  const counts = new Map<string, Received<LiveCounts>>();
  const likes = new Map<string, Received<LiveComment>>();
  const requestedAt = new WeakMap<Query, number>();
  const readAt = new WeakMap<Query, number>();
  /** The time of the earliest update that a timer will show, or infinity if there is none. */
  let heldSince = Number.POSITIVE_INFINITY;

  // Must come before the subscription below, which already adds pending votes to counts. In the reverse order, they
  // would be added twice.
  keepPendingWrites(client);
  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query, action } = event;
    const isOurs = query.queryKey[0] === productKeys.all[0] || query.queryKey[0] === commentKeys.all[0];
    if (!isOurs) return;
    if (action.type === 'fetch') requestedAt.set(query, performance.now());
    if (action.type !== 'success' || action.manual) return;
    const requested = requestedAt.get(query);
    if (requested !== undefined) readAt.set(query, Date.now() - (performance.now() - requested));
    const [kind, productId] = query.queryKey;
    if (kind === commentKeys.all[0] && !query.state.fetchMeta?.fetchMore)
      clearUpdatedComments(client, String(productId));
    // The response may be older than updates that arrived while it was pending.
    show((requested ?? 0) - RESPONSE_LAG_MS);
  });
  // An update from before the visitor's vote, comment or like lacks it, so showing the update again would undo it.
  // Without a stream, no later update follows.
  client.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'success') return;
    const { options, state } = event.mutation;
    const id = String(options.mutationKey?.[1]);
    const sentAt = performance.now() - (Date.now() - state.submittedAt);
    for (const received of [counts, likes]) {
      if ((received.get(id)?.at ?? sentAt) < sentAt) received.delete(id);
    }
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
      for (const { value, at } of counts.values()) {
        if (at < since) continue;
        // A comment was hidden, possibly one that was announced as new.
        if (value.comments < shownComments(value.id)) clearUpdatedComments(client, value.id);
        showCounts(client, value);
      }
      for (const [productId, ofProduct] of likesByProduct(likes, since)) {
        setLikes(client, productId, ofProduct);
        recordUpdatedComments(client, productId, ofProduct.keys());
      }
    });
  }

  function shownComments(productId: string): number {
    return client.getQueryData<ProductDetail | null>(productKeys.detail(productId))?.product.comments ?? 0;
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
    readAt: (query) => Math.min(query.state.dataUpdatedAt, readAt.get(query) ?? Number.POSITIVE_INFINITY),
  };
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

/** Deletes old updates. The maps are in order of receipt, so the first recent update ends the search. */
function deleteExpired(received: Map<string, Received<unknown>>): void {
  const before = performance.now() - EXPIRY_MS;
  for (const [id, { at }] of received) {
    if (at > before) return;
    received.delete(id);
  }
}
