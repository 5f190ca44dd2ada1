import { type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { reasonOf } from '../../api/http-api.ts';
import { incrementUpvotes, upvoteKeys } from '../../cache/cached-data.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';

/**
 * The products that this browser upvoted, latest first. After a reload, their buttons show the votes before the server
 * responds. The head script reads the same storage key before the first paint.
 */
export const rememberedVotes = createBrowserStore<readonly unknown[]>('upvoted', (stored) =>
  Array.isArray(stored) ? stored : [],
);

/**
 * Returns the query for whether this visitor upvoted the product: stale after 5 s, 1 retry after 1 s (specification,
 * section 9).
 */
export function upvoteStatusOptions(api: Api, productId: string) {
  return queryOptions({
    queryKey: upvoteKeys.status(productId),
    queryFn: async ({ client }) => {
      const upvoted = await upvoteStatusOf(api)(productId);
      // A click that is still pending is newer than the response.
      if (pendingClicks(client, productId) > 0)
        return client.getQueryData<boolean>(upvoteKeys.status(productId)) ?? upvoted;
      return upvoted;
    },
    staleTime: 5_000,
    // Must not be shorter than the `gcTime` of lists. Otherwise, a queued vote that a cached list includes would be
    // counted again.
    gcTime: Number.POSITIVE_INFINITY,
    retry: 1,
    retryDelay: 1_000,
    meta: { logFailureAs: 'warn' },
  });
}

/**
 * Returns the number of clicks on this product's upvote button whose requests have not ended. Includes the click whose
 * callback calls this function, and a queued vote that is being sent.
 */
export function pendingClicks(client: QueryClient, productId: string): number {
  return client.isMutating({ mutationKey: upvoteKeys.mutation(productId) });
}

/**
 * Adds an early vote to the cached count. Hydration requires this, because the count in the document includes the vote.
 */
export function countEarlyVote(client: QueryClient, productId: string): void {
  client.setQueryData(upvoteKeys.early(productId), true);
  incrementUpvotes(client, productId, 1);
}

/** Sets the cached status of an early vote, and cancels a pending read, whose response may be older. */
export function showEarlyVote(client: QueryClient, productId: string): void {
  if (!client.getQueryData(upvoteKeys.early(productId))) return;
  const queryKey = upvoteKeys.status(productId);
  void client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, true);
}

type GetStatus = (productId: string) => Promise<boolean>;

/** Batches all status reads of one iteration of the event loop into as few requests as the API allows. */
export function batchUpvoteStatus(api: Pick<Api, 'getUpvoted'>): GetStatus {
  let waiting = new Set<string>();
  let response: Promise<Set<string>>;

  async function send(): Promise<Set<string>> {
    const ids = [...waiting];
    waiting = new Set();
    const found = new Set<string>();
    try {
      for (let from = 0; from < ids.length; from += LIMITS.upvoteQueryProducts) {
        const { upvoted } = await api.getUpvoted(ids.slice(from, from + LIMITS.upvoteQueryProducts));
        for (const id of upvoted) found.add(id);
      }
    } catch (cause) {
      // Throws one error object for the whole batch, so the error is logged only once.
      throw new Error(`Failed to check upvote status: ${reasonOf(cause)}`, { cause });
    }
    return found;
  }

  return async (productId) => {
    if (waiting.size === 0) response = new Promise((resolve) => setTimeout(() => resolve(send()), 0));
    waiting.add(productId);
    return (await response).has(productId);
  };
}

const batches = new WeakMap<object, GetStatus>();

/** Returns the batching function that all buttons of a page share. */
function upvoteStatusOf(api: Api): GetStatus {
  const getStatus = batches.get(api) ?? batchUpvoteStatus(api);
  batches.set(api, getStatus);
  return getStatus;
}
