import { mutationOptions, type QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { IDEMPOTENCY_KEY_HOURS } from '../../../contract/comments/defaults.ts';
import { COMMENT_MESSAGES } from '../../../contract/comments/messages.ts';
import type { Comment, HeldComments } from '../../../contract/comments/schema.ts';
import { ApiError, reasonOf } from '../../api/http-api.ts';
import {
  type CommentList,
  commentKeys,
  flattenComments,
  patchProduct,
  patchQueries,
  productKeys,
} from '../../cache/cached-data.ts';
import { keepPendingWrites } from '../../cache/pending-writes.ts';
import { t } from '../../language/translate.ts';
import { makerKeyOf } from '../../storage/maker-keys.ts';
import { type QueuedWrite, queueWhileOffline } from '../../storage/outbox.ts';
import { showToast } from '../../ui/toasts.ts';
import { draftOn, drafts, saveDraft } from './drafts.ts';
import { commentedProducts, ownComments } from './queries.ts';

/** Toast messages about comments (specification, section 8). */
const TEXTS = {
  added: { title: 'Comment added!', description: 'Your comment has been posted successfully.' },
  queued: { title: 'Comment queued', description: 'You are offline. It will be posted when you reconnect.' },
  addFailed: { title: 'Error', description: 'Failed to add comment. Please try again.' },
} as const;

function showCommentToast({ title, description }: (typeof TEXTS)[keyof typeof TEXTS], tone?: 'destructive'): void {
  showToast({ title: t(title), description: t(description), ...(tone && { tone }) });
}

/**
 * The maximum numbers of products and comments that this browser remembers. Older held comments have probably been
 * moderated.
 */
const MAX_REMEMBERED = 200;

/**
 * The time after the first attempt during which a comment may be sent again. It is an hour shorter than the time for
 * which the server recognizes the idempotency key, to allow for slow requests.
 */
export const RESEND_MS = (IDEMPOTENCY_KEY_HOURS - 1) * 3_600_000;

/** Thrown if a comment may have been posted and its idempotency key may have expired. A retry could post it twice. */
export class UncertainError extends Error {}

/** Returns the time of the first attempt to send a comment. @throws UncertainError if that was too long ago. */
export function firstAttempt(firstSentAt = Date.now(), now = Date.now()): number {
  if (now - firstSentAt < RESEND_MS) return firstSentAt;
  throw new UncertainError('An earlier attempt may have posted it. Check before you try again.');
}

interface Draft {
  content: string;
  /** The value of the honeypot field. */
  website: string;
  idempotencyKey: string;
}

/**
 * Posts a draft, or queues it while offline, unless a comment on the product is already being posted. Never rejects: a
 * toast reports the result.
 */
export async function postComment(api: Api, client: QueryClient, productId: string, draft: Draft): Promise<void> {
  const mutationKey = commentKeys.addMutation(productId);
  if (client.isMutating({ mutationKey }) > 0) return;
  const options = mutationOptions({
    mutationKey,
    /** Resolves to `null` if the draft was queued. */
    mutationFn: async () => {
      const saved = drafts.read().find(({ idempotencyKey }) => idempotencyKey === draft.idempotencyKey);
      const { firstSentAt } = saved ?? {};
      if (queueWhileOffline({ kind: 'comment', productId, ...draft, ...(firstSentAt && { firstSentAt }) })) return null;
      recordAttempt(draft.idempotencyKey, firstAttempt(firstSentAt));
      return sendDraft(api, productId, draft);
    },
    onSuccess: (added) => {
      deleteDraft(productId, draft.idempotencyKey);
      if (added) return showAdded(client, added);
      showCommentToast(TEXTS.queued);
    },
    onError(error) {
      if (!(error instanceof UncertainError)) return reportRefusedComment();
      showToast({ title: t('Error'), description: reasonOf(error), tone: 'destructive' });
      const { text = '' } = draftOn(drafts.read(), productId) ?? {};
      // A new draft has another idempotency key. The next attempt posts it, because the visitor has been warned.
      deleteDraft(productId, draft.idempotencyKey);
      saveDraft(productId, text);
    },
  });
  const mutation = client.getMutationCache().build(client, options);
  await mutation.execute().catch(() => {});
}

function recordAttempt(idempotencyKey: string, firstSentAt: number): void {
  const all = drafts.read();
  drafts.write(all.map((draft) => (draft.idempotencyKey === idempotencyKey ? { ...draft, firstSentAt } : draft)));
}

/** Deletes a posted draft, unless its text has changed since. */
export function deleteDraft(productId: string, idempotencyKey: string): void {
  if (draftOn(drafts.read(), productId)?.idempotencyKey === idempotencyKey) saveDraft(productId, '');
}

/** Sends a queued comment. @throws ApiError if the request fails. */
export async function sendQueuedComment(
  api: Api,
  client: QueryClient,
  queued: Extract<QueuedWrite, { kind: 'comment' }>,
): Promise<void> {
  await showAdded(client, await sendDraft(api, queued.productId, queued));
}

export function reportRefusedComment(): void {
  showCommentToast(TEXTS.addFailed, 'destructive');
}

function sendDraft(api: Api, productId: string, { content, website, idempotencyKey }: Draft) {
  const comment = { productId, content, ...(website === '' ? {} : { website }) };
  // A maker key marks the comment as the maker's.
  return api.addComment(comment, idempotencyKey, makerKeyOf(productId));
}

async function showAdded(
  client: QueryClient,
  { comment, isNew }: Awaited<ReturnType<typeof sendDraft>>,
): Promise<void> {
  const { productId } = comment;
  // Cancels pending refetches, whose responses may be older than the comment. A first read continues, because it has no
  // data to overwrite.
  await client.cancelQueries({
    queryKey: commentKeys.product(productId),
    predicate: (query) => query.state.data !== undefined,
  });
  rememberComment(comment);
  // The site may hold the comment for moderation. In that case, only this query returns it.
  void client.invalidateQueries({ queryKey: commentKeys.held(productId) });
  // If an earlier attempt posted the comment but its response was lost, the page may already show the comment, or count
  // it without showing it.
  if (addToLists(client, comment, isNew === true)) {
    if (isNew) patchProduct(client, productId, (product) => ({ ...product, comments: product.comments + 1 }));
    else void client.invalidateQueries({ queryKey: productKeys.detail(productId) });
  }
  refetchOrdersWhenChosen(client, productId);
  showCommentToast(TEXTS.added);
}

/** The visitor's own comment or like may move comments, but only once the visitor chooses an order. */
function refetchOrdersWhenChosen(client: QueryClient, productId: string): void {
  void client.invalidateQueries({ queryKey: commentKeys.product(productId), refetchType: 'none' });
}

function rememberComment({ id, productId }: { id: string; productId: string }): void {
  for (const [store, item] of [
    [commentedProducts, productId],
    [ownComments, id],
  ] as const) {
    store.write([item, ...store.read().filter((other) => other !== item)].slice(0, MAX_REMEMBERED));
  }
}

/**
 * Adds a comment to the top of the product's cached lists in every order, because its author looks for it there.
 * Returns false if a list already contains the comment. `isNew` is false if an earlier attempt posted the comment.
 */
export function addToLists(client: QueryClient, comment: Comment, isNew = true): boolean {
  const queryKey = commentKeys.product(comment.productId);
  let isAdded = true;
  patchQueries<CommentList>(client, queryKey, (list) => {
    const [first, ...rest] = list.pages;
    const isListed = flattenComments(list).some(({ id }) => id === comment.id);
    if (isListed) isAdded = false;
    if (!first || isListed) return list;
    const query = client
      .getQueryCache()
      .find({ queryKey, exact: false, predicate: ({ state }) => state.data === list });
    // A list that was read after the earlier attempt counts the comment, which may be on a page that is not loaded.
    const isCounted =
      !isNew &&
      list.pages.at(-1)?.nextCursor != null &&
      Date.parse(comment.createdAt) < (query?.state.dataUpdatedAt ?? 0);
    const pages = [{ ...first, items: [comment, ...first.items] }, ...rest];
    return { ...list, pages: pages.map((page) => ({ ...page, total: page.total + Number(!isCounted) })) };
  });
  return isAdded;
}

/** Adds one like per call. Never rejects: a failure removes the like and is only logged (specification, section 8). */
export async function likeComment(api: Api, client: QueryClient, { id, productId }: Comment): Promise<void> {
  keepPendingWrites(client);
  const mutationKey = commentKeys.likeMutation(id);
  const patch = (change: (likes: number) => number) => patchLikes(client, productId, id, change);
  const options = mutationOptions({
    mutationKey,
    scope: { id: `like:${id}` },
    mutationFn: () => api.likeComment(id),
    onMutate: () => patch((likes) => likes + 1),
    // The response does not include further likes that are pending.
    onSuccess: ({ likes }) => {
      patch(() => likes + client.isMutating({ mutationKey }) - 1);
      refetchOrdersWhenChosen(client, productId);
    },
    onError: (error) => {
      patch((likes) => likes - 1);
      console.warn(likeFailure(error));
    },
  });
  const mutation = client.getMutationCache().build(client, options);
  await mutation.execute().catch(() => {});
}

function likeFailure(error: Error): string {
  if (!(error instanceof ApiError)) return COMMENT_MESSAGES.updateLikesFailed;
  if (error.status === 404) return COMMENT_MESSAGES.notFound;
  // Without a response, it is unknown whether the comment exists.
  return error.status === 0 ? COMMENT_MESSAGES.fetchFailed : COMMENT_MESSAGES.updateLikesFailed;
}

export function patchLikes(
  client: QueryClient,
  productId: string,
  commentId: string,
  change: (likes: number) => number,
): void {
  const patch = (item: Comment) => (item.id === commentId ? { ...item, likes: change(item.likes) } : item);
  client.setQueryData<HeldComments>(commentKeys.held(productId), (held) => held && { items: held.items.map(patch) });
  patchQueries<CommentList>(client, commentKeys.product(productId), (list) => ({
    ...list,
    pages: list.pages.map((page) => ({ ...page, items: page.items.map(patch) })),
  }));
}
