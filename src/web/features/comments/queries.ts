import {
  infiniteQueryOptions,
  keepPreviousData,
  mutationOptions,
  type QueryClient,
  queryOptions,
} from '@tanstack/react-query';
import type { Api, ReadApi } from '../../../contract/api.ts';
import { COMMENT_MESSAGES } from '../../../contract/comments/messages.ts';
import type { Comment, CommentSort } from '../../../contract/comments/schema.ts';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/sort.ts';
import { ApiError } from '../../lib/api-error.ts';
import { addToLists, commentKeys, patchLikes } from '../../lib/comment-cache.ts';
import { patchProduct, setCommentCount } from '../../lib/product-cache.ts';
import { sendLater } from '../../lib/send-later.ts';
import { showToast } from '../../lib/toasts.ts';
import { dropDraft } from './drafts.ts';
import { COMMENT_TEXTS } from './messages.ts';
import { hasWrittenOn, rememberWriting } from './written-on.ts';

/** How a product's comments are listed; `cursor` is where the list starts when the address names a later page. */
export interface CommentOrder {
  sort: CommentSort;
  cursor?: string;
}

/** A later page's address holds a place in the default order only. */
export function commentOrder(sort: CommentSort, cursor: string | null): CommentOrder {
  return cursor && sort === DEFAULT_COMMENT_SORT ? { sort, cursor } : { sort };
}

/** Specification, section 9: 1 retry after 500 ms. */
export function commentListOptions(api: ReadApi, productId: string, order: CommentOrder) {
  return infiniteQueryOptions({
    queryKey: commentKeys.list(productId, order),
    queryFn: async ({ client, pageParam, signal }) => {
      const query = { sort: order.sort, ...(pageParam ? { cursor: pageParam } : {}) };
      const page = await api.listComments(productId, query, signal);
      setCommentCount(client, productId, page.total);
      return page;
    },
    initialPageParam: order.cursor ?? null,
    getNextPageParam: (last) => last.nextCursor,
    placeholderData: (previous, query) => (query?.queryKey[1] === productId ? keepPreviousData(previous) : undefined),
    staleTime: 30_000,
    retry: 1,
    retryDelay: 500,
  });
}

/** What of this visitor is held back; asked only by a browser that remembers to have written here. */
export function heldCommentsOptions(api: Api, productId: string) {
  return queryOptions({
    queryKey: commentKeys.held(productId),
    queryFn: ({ signal }) => api.listHeldComments(productId, signal),
    enabled: () => hasWrittenOn(productId),
    staleTime: 30_000,
    retry: 1,
    retryDelay: 500,
  });
}

interface Draft {
  content: string;
  /** What stands in the field that no person sees. */
  website: string;
  idempotencyKey: string;
}

export function sendDraft(api: Api, productId: string, { content, website, idempotencyKey }: Draft): Promise<Comment> {
  return api.addComment({ productId, content, ...(website === '' ? {} : { website }) }, idempotencyKey);
}

/** Shows a comment that the server has just taken. */
export async function showAdded(client: QueryClient, comment: Comment): Promise<void> {
  const { productId } = comment;
  // An answer to a question older than the comment must not overwrite it; a first answer has nothing to overwrite.
  await client.cancelQueries({
    queryKey: commentKeys.product(productId),
    predicate: (query) => query.state.data !== undefined,
  });
  rememberWriting(productId);
  addToLists(client, comment);
  patchProduct(client, productId, (product) => ({ ...product, comments: product.comments + 1 }));
  showToast(COMMENT_TEXTS.added);
}

export function addCommentOptions(api: Api, client: QueryClient, productId: string) {
  return mutationOptions({
    mutationKey: ['add-comment', productId],
    /** `null`: it waits for the network. */
    mutationFn: async (draft: Draft): Promise<Comment | null> =>
      sendLater({ kind: 'comment', productId, ...draft }) ? null : sendDraft(api, productId, draft),
    onSuccess: (comment, { idempotencyKey }) => {
      dropDraft({ productId, idempotencyKey });
      if (comment) return showAdded(client, comment);
      showToast(COMMENT_TEXTS.later);
    },
    onError: () => showToast({ ...COMMENT_TEXTS.addFailed, tone: 'destructive' }),
  });
}

/** One like more per click. A failure takes the click back and is only logged (specification, section 8). */
export function likeCommentOptions(api: Api, client: QueryClient, productId: string, commentId: string) {
  const mutationKey = ['like', commentId];
  const patch = (change: (likes: number) => number) => patchLikes(client, productId, commentId, change);
  return mutationOptions({
    mutationKey,
    scope: { id: `like:${commentId}` },
    mutationFn: () => api.likeComment(commentId),
    onMutate: () => patch((likes) => likes + 1),
    onSuccess: (answer) => {
      // While more clicks wait, the count on screen already holds them.
      if (client.isMutating({ mutationKey }) === 1) patch(() => answer.likes);
    },
    onError: (error) => {
      patch((likes) => likes - 1);
      console.warn(likeFailure(error));
    },
  });
}

function likeFailure(error: Error): string {
  if (!(error instanceof ApiError)) return COMMENT_MESSAGES.updateLikesFailed;
  if (error.status === 404) return COMMENT_MESSAGES.notFound;
  // No answer at all: it is not even known whether the comment is there.
  return error.status === 0 ? COMMENT_MESSAGES.fetchFailed : COMMENT_MESSAGES.updateLikesFailed;
}
