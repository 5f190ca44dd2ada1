import { notifyManager, type Query, type QueryClient } from '@tanstack/react-query';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import { setLikes } from '../../lib/comment-cache.ts';
import { sinceLastWriteMs } from '../../lib/pending-write.ts';
import { patchProduct } from '../../lib/product-cache.ts';
import { upvotesShown } from './own-upvotes.ts';

/**
 * While the visitor writes, and until what the site says surely has that in it, news waits: what is shown is the visitor's own
 * doing already, and would go back and forth.
 */
const HOLD_MS = 1_500;

/** An answer that was asked for later than this after news has the news in it. */
const ANSWER_LAG_MS = 1_000;

/** News that no answer which is still on its way can be older than. */
const FORGET_MS = 60_000;

interface Told<Value> {
  value: Value;
  /** When it was so, at the earliest; by the page's clock. */
  at: number;
}

export interface NewsTaker {
  /** Shows counts and likes in place. `at`: since when, by `performance.now()`, they may be so; now by default. */
  tell(news: { counts?: readonly LiveCounts[]; comments?: readonly LiveComment[] }, at?: number): void;
}

/** Takes what the site says into what is shown, so that the last word stands, however answers and news overtake each other. */
export function createNewsTaker(client: QueryClient): NewsTaker {
  const counts = new Map<string, Told<LiveCounts>>();
  const likes = new Map<string, Told<LiveComment>>();
  const askedAt = new WeakMap<Query, number>();
  let heldSince = Number.POSITIVE_INFINITY;
  let isHeld = false;

  client.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated') return;
    const { query, action } = event;
    const isOurs = query.queryKey[0] === 'products' || query.queryKey[0] === 'comments';
    if (!isOurs) return;
    if (action.type === 'fetch') askedAt.set(query, performance.now());
    // An answer may be older than what was told while it was on its way.
    if (action.type === 'success' && !action.manual) show((askedAt.get(query) ?? 0) - ANSWER_LAG_MS);
  });

  /** Shows what was told since a moment. */
  function show(since: number): void {
    const quietMs = sinceLastWriteMs();
    if (quietMs < HOLD_MS) {
      heldSince = Math.min(heldSince, since);
      if (isHeld) return;
      isHeld = true;
      setTimeout(() => {
        isHeld = false;
        show(heldSince);
      }, HOLD_MS - quietMs);
      return;
    }
    heldSince = Number.POSITIVE_INFINITY;
    notifyManager.batch(() => {
      for (const { value, at } of counts.values()) if (at >= since) showCounts(client, value);
      for (const [productId, ofProduct] of likesByProduct(likes, since)) setLikes(client, productId, ofProduct);
    });
  }

  function note<Value>(told: Map<string, Told<Value>>, id: string, value: Value, at: number): void {
    if ((told.get(id)?.at ?? Number.NEGATIVE_INFINITY) > at) return;
    told.delete(id);
    told.set(id, { value, at });
  }

  return {
    tell({ counts: newCounts = [], comments = [] }, at = performance.now()) {
      for (const each of newCounts) note(counts, each.id, each, at);
      for (const each of comments) note(likes, each.commentId, each, at);
      for (const told of [counts, likes]) forgetOld(told);
      show(at);
    },
  };
}

function showCounts(client: QueryClient, { id, upvotes: told, comments }: LiveCounts): void {
  const upvotes = upvotesShown(id, told);
  patchProduct(client, id, (product) =>
    product.upvotes === upvotes && product.comments === comments ? product : { ...product, upvotes, comments },
  );
}

function likesByProduct(likes: ReadonlyMap<string, Told<LiveComment>>, since: number) {
  const byProduct = new Map<string, Map<string, number>>();
  for (const { value, at } of likes.values()) {
    if (at < since) continue;
    const ofProduct = byProduct.get(value.productId) ?? new Map<string, number>();
    byProduct.set(value.productId, ofProduct.set(value.commentId, value.likes));
  }
  return byProduct;
}

/** Oldest first, as they were noted. */
function forgetOld(told: Map<string, Told<unknown>>): void {
  const before = performance.now() - FORGET_MS;
  for (const [id, { at }] of told) {
    if (at > before) return;
    told.delete(id);
  }
}
