import { mutationOptions, type QueryClient, queryOptions } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { UPVOTE_MESSAGES } from '../../../contract/upvotes/messages.ts';
import type { UpvoteState } from '../../../contract/upvotes/schema.ts';
import { reasonOf } from '../../lib/api-error.ts';
import { cachedProduct, invalidateProduct, patchProduct } from '../../lib/product-cache.ts';
import { sendLater } from '../../lib/send-later.ts';
import { showToast } from '../../lib/toasts.ts';
import { UPVOTE_TEXTS } from './messages.ts';
import { upvoteStatusOf } from './status-batch.ts';

export const statusKey = (productId: string) => ['upvoted', productId] as const;
const confirmedKey = (productId: string) => ['upvote-confirmed', productId] as const;
const mutationKey = (productId: string) => ['upvote', productId] as const;

/** Whether this visitor upvoted the product. Specification, section 9: stale after 5 s; 1 retry after 1 s. */
export function upvoteStatusOptions(api: Api, productId: string) {
  return queryOptions({
    queryKey: statusKey(productId),
    queryFn: async ({ client }) => {
      const upvoted = await upvoteStatusOf(api)(productId);
      const known = client.getQueryData<boolean>(statusKey(productId));
      // A click that was made meanwhile knows better.
      if (pendingClicks(client, productId) > 0) return known ?? upvoted;
      // Upvoted elsewhere, in another tab: the count that stands beside it is as old as what was known.
      if (known !== undefined && known !== upvoted) invalidateProduct(client, productId);
      return upvoted;
    },
    staleTime: 5_000,
    retry: 1,
    retryDelay: 1_000,
    meta: { logFailureAs: 'warn' },
  });
}

/**
 * A click on the upvote: `true` adds it, `false` removes it. While clicks are under way the screen shows the last
 * one's wish; once the last answer is in, it shows what the server last confirmed. Requests go one after another,
 * so the last click wins.
 */
export function setUpvoteOptions(api: Api, client: QueryClient, productId: string) {
  const status = statusKey(productId);
  const confirmed = confirmedKey(productId);
  const undo = (upvoted: boolean) => ({
    label: UPVOTE_TEXTS.undo,
    onPress() {
      // The button may have been pressed meanwhile, or be gone with its page.
      if (client.getQueryData<boolean>(status) !== upvoted) return;
      const options = setUpvoteOptions(api, client, productId);
      // What comes of it is said as of any click.
      client
        .getMutationCache()
        .build(client, options)
        .execute(!upvoted)
        .catch(() => {});
    },
  });
  return mutationOptions({
    mutationKey: mutationKey(productId),
    scope: { id: `upvote:${productId}` },
    mutationFn: async (upvoted: boolean): Promise<UpvoteState & { later?: boolean }> => {
      const before = client.getQueryData<UpvoteState>(confirmed)?.upvoted ?? false;
      if (sendLater({ kind: 'upvote', productId, upvoted, before })) {
        return { upvoted, upvotes: cachedProduct(client, productId)?.upvotes ?? 0, later: true };
      }
      try {
        return await api.setUpvote(productId, upvoted);
      } catch (cause) {
        const words = upvoted ? UPVOTE_MESSAGES.addFailed : UPVOTE_MESSAGES.removeFailed;
        throw new Error(words(reasonOf(cause)), { cause });
      }
    },
    onMutate: (upvoted) => {
      void client.cancelQueries({ queryKey: status });
      const before = client.getQueryData<boolean>(status) ?? false;
      if (pendingClicks(client, productId) === 1) {
        const upvotes = cachedProduct(client, productId)?.upvotes ?? 0;
        client.setQueryData<UpvoteState>(confirmed, { upvoted: before, upvotes });
      }
      client.setQueryData(status, upvoted);
      const change = Number(upvoted) - Number(before);
      patchProduct(client, productId, (product) => ({ ...product, upvotes: Math.max(0, product.upvotes + change) }));
    },
    onSuccess: (answer, upvoted) => {
      client.setQueryData<UpvoteState>(confirmed, answer);
      if (answer.later) showToast(UPVOTE_TEXTS.later);
      else showToast({ ...(upvoted ? UPVOTE_TEXTS.added : UPVOTE_TEXTS.removed), action: undo(upvoted) });
    },
    onError: (error) => {
      showToast({ ...UPVOTE_TEXTS.failed(error.message), tone: 'destructive' });
    },
    onSettled: () => {
      if (pendingClicks(client, productId) > 1) return;
      const state = client.getQueryData<UpvoteState>(confirmed);
      if (!state) return;
      void client.cancelQueries({ queryKey: status });
      client.setQueryData(status, state.upvoted);
      patchProduct(client, productId, (product) => ({ ...product, upvotes: state.upvotes }));
    },
  });
}

/** Clicks on this product's upvote that have not been answered, the one in whose callback this is called included. */
function pendingClicks(client: QueryClient, productId: string): number {
  return client.isMutating({ mutationKey: mutationKey(productId) });
}
