import { mutationOptions, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { ApiError, reasonOf } from '../../api/http-api.ts';
import {
  type ConfirmedVote as Confirmed,
  incrementUpvotes,
  patchProduct,
  productKeys,
  upvoteKeys,
} from '../../cache/cached-data.ts';
import { keepPendingWrites } from '../../cache/pending-writes.ts';
import { t } from '../../language/translate.ts';
import {
  addToOutbox,
  isQueued,
  type QueuedUpvote,
  queuedUpvote,
  queueWhileOffline,
  removeSent,
} from '../../storage/outbox.ts';
import { showToast } from '../../ui/toasts.ts';
import { pendingClicks, rememberedVotes } from './queries.ts';

/** Toast messages about votes (specification, section 8). */
const TEXTS = {
  added: { title: 'Upvoted!', description: 'Thanks for your support!' },
  removed: { title: 'Upvote removed', description: 'Upvote removed successfully' },
  undo: 'Undo',
  queued: {
    title: 'Waiting to be sent',
    description: 'You are offline. Your vote will be updated when you reconnect.',
  },
  failed: (message: string) => ({
    title: t('Error'),
    description: t('Failed to update upvote: {message}', { message }),
  }),
} as const;

function translateToast({ title, description }: (typeof TEXTS)['added' | 'removed' | 'queued']) {
  return { title: t(title), description: t(description) };
}

/** Toasts about one product replace each other. */
const subjectOf = (productId: string) => `upvote:${productId}`;

/** The options of all mutations of the vote on one product, which run one after another. */
const sequentialOptions = (productId: string) => ({
  mutationKey: upvoteKeys.mutation(productId),
  scope: { id: subjectOf(productId) },
});

/**
 * Toggles the visitor's vote as shown on screen. Never rejects. Resolves to false if the change failed, and to true if
 * the server confirmed it or it was queued.
 */
export function toggleUpvote(api: Api, client: QueryClient, productId: string): Promise<boolean> {
  // The app replays an early vote as a click that adds it. If that fails, the page returns to the state before the
  // vote.
  const queryKey = upvoteKeys.early(productId);
  const isEarly = client.getQueryData<boolean>(queryKey);
  client.removeQueries({ queryKey });
  // Reads the vote at the time of the click, because two clicks may occur before the next render.
  return setUpvote(api, client, productId, isEarly || !shownVote(client, productId), isEarly);
}

async function setUpvote(
  api: Api,
  client: QueryClient,
  productId: string,
  upvoted: boolean,
  isEarly = false,
): Promise<boolean> {
  keepPendingWrites(client);
  const mutation = client.getMutationCache().build(client, setUpvoteOptions(api, client, productId, isEarly));
  await mutation.execute(upvoted).catch(() => {});
  // If the mutation failed, a toast has reported it.
  return mutation.state.status === 'success';
}

/**
 * Returns the mutation for a click on the upvote button: `true` adds the vote, `false` removes it. Requests run one
 * after another, so the last click wins. The screen shows the last click while requests are pending, and then the
 * confirmed state. If `isEarly` is true, the page already shows the vote, because the head script has sent it.
 */
export function setUpvoteOptions(api: Api, client: QueryClient, productId: string, isEarly = false) {
  const confirmed = upvoteKeys.confirmed(productId);
  const subject = subjectOf(productId);
  const undo = (upvoted: boolean) => ({
    label: t(TEXTS.undo),
    onPress() {
      // The visitor may have clicked the upvote button since the toast appeared.
      if (shownVote(client, productId) === upvoted) void setUpvote(api, client, productId, !upvoted);
    },
  });
  return mutationOptions({
    ...sequentialOptions(productId),
    mutationFn: async (upvoted: boolean): Promise<Confirmed & { isQueued?: boolean }> => {
      const before = client.getQueryData<Confirmed>(confirmed)?.upvoted ?? false;
      const queued = queuedUpvote(productId);
      if (queueWhileOffline({ kind: 'upvote', productId, upvoted, before })) {
        return { upvoted, isQueued: true };
      }
      try {
        return await api.setUpvote(productId, upvoted);
      } catch (cause) {
        // The page shows the queued vote again, so the vote must still be sent.
        if (queued) addToOutbox(queued);
        throw new Error(failureOf(upvoted, cause), { cause });
      }
    },
    onMutate: (upvoted) => {
      const before = shownVote(client, productId);
      if (pendingClicks(client, productId) === 1) {
        // Removes the entry of an earlier click, which could otherwise expire while this click is pending.
        client.removeQueries({ queryKey: confirmed });
        client.setQueryData<Confirmed>(confirmed, { upvoted: before && !isEarly });
      }
      setStatus(client, productId, upvoted);
      updateCount(client, productId, before, upvoted);
    },
    onSuccess: (state, upvoted) => {
      client.setQueryData<Confirmed>(confirmed, state);
      if (state.isQueued) showToast({ ...translateToast(TEXTS.queued), subject });
      else showToast({ ...translateToast(upvoted ? TEXTS.added : TEXTS.removed), subject, action: undo(upvoted) });
    },
    onError: (error) => {
      showToast({ ...TEXTS.failed(error.message), subject, tone: 'destructive' });
    },
    onSettled: (_state, error) => showConfirmed(client, productId, error?.cause),
  });
}

/** Shows the last confirmed state, unless another click is pending. Refetches the vote if its outcome is unknown. */
function showConfirmed(client: QueryClient, productId: string, failure?: unknown): void {
  const state = client.getQueryData<Confirmed>(upvoteKeys.confirmed(productId));
  if (!state || pendingClicks(client, productId) > 1) return;
  const { upvoted, upvotes } = state;
  if (upvotes === undefined) updateCount(client, productId, shownVote(client, productId), upvoted);
  else patchProduct(client, productId, (product) => ({ ...product, upvotes }));
  setStatus(client, productId, upvoted);
  // The server may have stored the vote despite an error response, which may also come from a proxy.
  const isUnknown = failure instanceof ApiError && (failure.status === 0 || failure.status >= 500);
  if (isUnknown) void client.invalidateQueries({ queryKey: upvoteKeys.status(productId) });
}

/**
 * Shows a vote that was queued before the page loaded or in another tab, because the server's data does not include it.
 * Has no effect if the page already shows the vote.
 */
export function showQueuedUpvote(client: QueryClient, { productId, upvoted, before }: QueuedUpvote): void {
  const shown = client.getQueryData<boolean>(upvoteKeys.status(productId)) ?? before;
  if (shown === upvoted) return;
  setStatus(client, productId, upvoted);
  updateCount(client, productId, shown, upvoted);
}

/** Sends a queued vote, unless a click has removed or replaced it. @throws ApiError if the request fails. */
export async function sendQueuedUpvote(api: Api, client: QueryClient, queued: QueuedUpvote): Promise<void> {
  const { productId, upvoted, before } = queued;
  const confirmed = upvoteKeys.confirmed(productId);
  const options = mutationOptions({
    ...sequentialOptions(productId),
    mutationFn: async () => (isQueued(queued) ? api.setUpvote(productId, upvoted) : null),
    onMutate: () => {
      if (pendingClicks(client, productId) > 1) return;
      client.setQueryData<Confirmed>(confirmed, { upvoted: before });
    },
    onSuccess: (state) => {
      if (state) {
        // Must run before the mutation of the next click, which would otherwise treat the queued vote as unsent.
        removeSent(queued);
        client.setQueryData<Confirmed>(confirmed, state);
        showToast({ ...translateToast(upvoted ? TEXTS.added : TEXTS.removed), subject: subjectOf(productId) });
      }
      showConfirmed(client, productId);
    },
  });
  await client.getMutationCache().build(client, options).execute();
}

/** Rolls back a queued vote that the server refused, with the same message as for a click. */
export function rollBackQueuedUpvote(client: QueryClient, queued: QueuedUpvote, error: unknown): void {
  const { productId, upvoted, before } = queued;
  showToast({ ...TEXTS.failed(failureOf(upvoted, error)), subject: subjectOf(productId), tone: 'destructive' });
  // A pending click shows the confirmed state when its request ends.
  if (pendingClicks(client, productId) === 0) {
    client.setQueryData(upvoteKeys.status(productId), before);
    updateCount(client, productId, upvoted, before);
  }
  // The server may have refused the vote because the product was removed.
  void client.invalidateQueries({ queryKey: productKeys.detail(productId) });
}

/** Sets the vote, and cancels pending reads, whose responses would be stale. */
function setStatus(client: QueryClient, productId: string, upvoted: boolean): void {
  const queryKey = upvoteKeys.status(productId);
  void client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, upvoted);
  rememberVote(productId, upvoted);
}

/** Returns the vote that the button shows: the remembered one until the server responds. */
function shownVote(client: QueryClient, productId: string): boolean {
  const { data, status } = client.getQueryState<boolean>(upvoteKeys.status(productId)) ?? {};
  return data ?? (status !== 'error' && rememberedVotes.read().includes(productId));
}

function updateCount(client: QueryClient, productId: string, from: boolean, to: boolean): void {
  incrementUpvotes(client, productId, Number(to) - Number(from));
}

function failureOf(upvoted: boolean, cause: unknown): string {
  const message = reasonOf(cause);
  return upvoted
    ? t('Failed to add upvote: {message}', { message })
    : t('Failed to remove upvote: {message}', { message });
}

/** The maximum number of remembered votes. Older votes are shown only after the server has responded. */
const MAX_REMEMBERED = 500;

function rememberVote(productId: string, upvoted: boolean): void {
  // When the visitor leaves, the page is hidden and its requests appear to fail, but the browser still completes them.
  if (document.hidden) return;
  const before = rememberedVotes.read();
  if (before.includes(productId) === upvoted) return;
  const others = before.filter((id) => id !== productId);
  rememberedVotes.write((upvoted ? [productId, ...others] : others).slice(0, MAX_REMEMBERED));
}

/**
 * Stores each vote status in this browser when it changes, refetches votes that another tab has changed, and keeps
 * queued votes on screen. Returns a function that removes the listeners.
 */
export function watchVotes(api: Api, client: QueryClient): () => void {
  const known = new Map<string, boolean>();
  const record = ({ queryKey, state }: { queryKey: readonly unknown[]; state: { data?: unknown } }, isRead = false) => {
    const [kind, productId] = queryKey;
    if (kind !== upvoteKeys.statuses[0] || typeof productId !== 'string' || typeof state.data !== 'boolean') return;
    // The visitor voted in another tab or on the previous page, so the count on screen is stale as well.
    if (isRead && known.get(productId) === !state.data) void readUpvotes(api, client, productId);
    known.set(productId, state.data);
    rememberVote(productId, state.data);
  };
  for (const query of client.getQueryCache().getAll()) record(query);
  const unsubscribe = client.getQueryCache().subscribe((event) => {
    // Other events contain no new status, and an old status must not overwrite a vote that another tab has stored.
    if (event.type !== 'updated' || event.action.type !== 'success') return;
    const isRead = !event.action.manual;
    if (isRead) showQueuedStatus(client, event.query.queryKey);
    record(event.query, isRead);
  });
  const onStorage = ({ key, newValue }: StorageEvent) => {
    // The key of `rememberedVotes`. A null value means that other code on this origin deleted the key.
    if (key === 'upvoted' && newValue !== null) readChangedVotes(client);
  };
  window.addEventListener('storage', onStorage);
  return () => {
    unsubscribe();
    window.removeEventListener('storage', onStorage);
  };
}

/**
 * Refetches a product's number of upvotes. Does not refetch the lists that contain the product, because that would
 * insert and move other products. A count that changed during the read is newer than the response, so it stays.
 */
async function readUpvotes(api: Api, client: QueryClient, productId: string): Promise<void> {
  const before = new Set<number>();
  patchProduct(client, productId, (product) => {
    before.add(product.upvotes);
    return product;
  });
  const detail = await api.getProduct(productId).catch(() => null);
  if (!detail || pendingClicks(client, productId) > 0) return;
  const { upvotes } = detail.product;
  patchProduct(client, productId, (product) => (before.has(product.upvotes) ? { ...product, upvotes } : product));
}

/** Shows a queued change again after a read of the vote, because the response does not include the change. */
function showQueuedStatus(client: QueryClient, queryKey: readonly unknown[]): void {
  const [kind, productId] = queryKey;
  if (kind !== upvoteKeys.statuses[0]) return;
  const queued = queuedUpvote(String(productId));
  if (queued && pendingClicks(client, queued.productId) === 0) client.setQueryData(queryKey, queued.upvoted);
}

/** Refetches the votes that differ from the remembered ones, except those with a pending click in this tab. */
function readChangedVotes(client: QueryClient): void {
  const remembered = rememberedVotes.read();
  for (const [queryKey, known] of client.getQueriesData<boolean>({ queryKey: upvoteKeys.statuses })) {
    const productId = String(queryKey[1]);
    const isRemembered = remembered.includes(productId);
    // A known upvote may be missing from the remembered ones because it is too old.
    const isSame = known === isRemembered || (known && remembered.length === MAX_REMEMBERED);
    if (known === undefined || isSame || pendingClicks(client, productId) > 0) continue;
    void client.invalidateQueries({ queryKey });
  }
}
