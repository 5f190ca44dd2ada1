import type { QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { UPVOTE_MESSAGES } from '../../../contract/upvotes/messages.ts';
import { reasonOf } from '../../lib/api-error.ts';
import { invalidateProduct, patchProduct } from '../../lib/product-cache.ts';
import type { LaterWrite } from '../../lib/send-later.ts';
import { showToast } from '../../lib/toasts.ts';
import { UPVOTE_TEXTS } from './messages.ts';
import { statusKey } from './queries.ts';

type QueuedUpvote = Extract<LaterWrite, { kind: 'upvote' }>;

/** Shows a wish from before the page was loaded, which neither the page nor the server knows of. */
export function showQueuedUpvote(client: QueryClient, { productId, upvoted, before }: QueuedUpvote): void {
  void client.cancelQueries({ queryKey: statusKey(productId) });
  client.setQueryData(statusKey(productId), upvoted);
  const change = Number(upvoted) - Number(before);
  patchProduct(client, productId, (product) => ({ ...product, upvotes: Math.max(0, product.upvotes + change) }));
}

/** Sends a wish that waited. @throws ApiError as the API does. */
export async function sendQueuedUpvote(
  api: Api,
  client: QueryClient,
  { productId, upvoted }: QueuedUpvote,
): Promise<void> {
  const { upvotes } = await api.setUpvote(productId, upvoted);
  void client.cancelQueries({ queryKey: statusKey(productId) });
  client.setQueryData(statusKey(productId), upvoted);
  patchProduct(client, productId, (product) => ({ ...product, upvotes }));
  showToast(upvoted ? UPVOTE_TEXTS.added : UPVOTE_TEXTS.removed);
}

/** Takes back what the server refused, and says why as of a click. */
export function takeBackUpvote(
  client: QueryClient,
  { productId, upvoted, before }: QueuedUpvote,
  error: unknown,
): void {
  const words = upvoted ? UPVOTE_MESSAGES.addFailed : UPVOTE_MESSAGES.removeFailed;
  showToast({ ...UPVOTE_TEXTS.failed(words(reasonOf(error))), tone: 'destructive' });
  client.setQueryData(statusKey(productId), before);
  const change = Number(before) - Number(upvoted);
  patchProduct(client, productId, (product) => ({ ...product, upvotes: Math.max(0, product.upvotes + change) }));
  invalidateProduct(client, productId);
}
