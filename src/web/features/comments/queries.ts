import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Api, ReadApi } from '../../../contract/api.ts';
import { DEFAULT_COMMENT_SORT } from '../../../contract/comments/defaults.ts';
import type { CommentSort } from '../../../contract/comments/schema.ts';
import { commentKeys, setCommentCount } from '../../cache/cached-data.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';

/** The order of a product's comments, and the cursor from which the list starts if the URL has one. */
interface CommentOrder {
  sort: CommentSort;
  cursor?: string;
}

/** Returns the order of the list. A cursor in the URL is valid only for the default order. */
export function commentOrder(sort: CommentSort, cursor: string | null): CommentOrder {
  return { sort, ...(cursor && sort === DEFAULT_COMMENT_SORT && { cursor }) };
}

/**
 * The number of comments per further page. It is the API's maximum, so few requests are needed to reach a linked
 * comment in a long discussion.
 */
const FURTHER_COMMENTS = 100;

/** Returns the query for a product's comments, with 1 retry after 500 ms (specification, section 9). */
export function commentListOptions(api: ReadApi, productId: string, order: CommentOrder) {
  return infiniteQueryOptions({
    queryKey: commentKeys.list(productId, order),
    queryFn: async ({ client, pageParam, signal }) => {
      const query = { sort: order.sort, ...(pageParam && { cursor: pageParam, limit: FURTHER_COMMENTS }) };
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

/**
 * Returns the query for the visitor's own comments that wait for moderation. It is enabled only if this browser has
 * commented on the product, so code that posts the first comment must invalidate the query.
 */
export function heldCommentsOptions(api: Api, productId: string) {
  return queryOptions({
    queryKey: commentKeys.held(productId),
    queryFn: ({ signal }) => api.listHeldComments(productId, signal),
    enabled: () => hasCommentedOn(productId),
    staleTime: 30_000,
    retry: 1,
    retryDelay: 500,
  });
}

const texts = (stored: unknown): readonly string[] =>
  Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];

/** The ids of the products on which this browser has commented, latest first. */
export const commentedProducts = createBrowserStore('commented_on', texts);
/** The ids of the comments that this browser has posted, latest first. */
export const ownComments = createBrowserStore('own_comments', texts);

/** Returns whether this browser remembers having posted a comment on the product. */
function hasCommentedOn(productId: string): boolean {
  // On the server, reading local storage throws an error. The store catches it, but creating its stack trace is slow.
  return typeof window !== 'undefined' && commentedProducts.read().includes(productId);
}
