import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Comment, CommentPage, HeldComments } from '../../contract/comments/schema.ts';
import { patchQueries } from './product-cache.ts';

type CommentList = InfiniteData<CommentPage>;

/** Keys of what is cached about comments; news change likes in it, so they live below every feature. */
export const commentKeys = {
  /** Every cached order of a product's comments. */
  product: (productId: string) => ['comments', productId] as const,
  held: (productId: string) => ['held-comments', productId] as const,
  list: (productId: string, order: object) => ['comments', productId, order] as const,
};

/** By which a comment is found on the page. */
export const commentElementId = (commentId: string) => `comment-${commentId}`;

/**
 * The comments of all pages, each once: one that was just written may come again on a later page. The visitor's own that
 * are held back stand before them.
 */
export function flattenComments(list: CommentList | undefined, held: readonly Comment[] = []): Comment[] {
  const byId = new Map<string, Comment>();
  for (const comment of [...held, ...(list?.pages.flatMap((page) => page.items) ?? [])]) {
    if (!byId.has(comment.id)) byId.set(comment.id, comment);
  }
  return [...byId.values()];
}

/** Puts a comment that was just written on top of every cached order, where its author looks for it. */
export function addToLists(client: QueryClient, comment: Comment): void {
  updateLists(client, comment.productId, (list) => {
    const [first, ...rest] = list.pages;
    if (!first || flattenComments(list).some(({ id }) => id === comment.id)) return list;
    const pages = [{ ...first, items: [comment, ...first.items] }, ...rest];
    return { ...list, pages: pages.map((page) => ({ ...page, total: page.total + 1 })) };
  });
}

export function patchLikes(
  client: QueryClient,
  productId: string,
  commentId: string,
  change: (likes: number) => number,
): void {
  const patch = (item: Comment) => (item.id === commentId ? { ...item, likes: change(item.likes) } : item);
  client.setQueryData<HeldComments>(commentKeys.held(productId), (held) => held && { items: held.items.map(patch) });
  updateLists(client, productId, (list) => ({
    ...list,
    pages: list.pages.map((page) => ({
      ...page,
      items: page.items.map(patch),
    })),
  }));
}

/** Sets likes as the site tells them, by comment id, wherever they are cached. How old a list is stays as it was. */
export function setLikes(client: QueryClient, productId: string, likes: ReadonlyMap<string, number>): void {
  const isRight = ({ id, likes: shown }: Comment) => (likes.get(id) ?? shown) === shown;
  patchQueries<CommentList>(client, commentKeys.product(productId), (list) => {
    if (list.pages.every(({ items }) => items.every(isRight))) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (isRight(item) ? item : { ...item, likes: likes.get(item.id) ?? item.likes })),
    }));
    return { ...list, pages };
  });
}

function updateLists(client: QueryClient, productId: string, update: (list: CommentList) => CommentList): void {
  client.setQueriesData<CommentList>({ queryKey: commentKeys.product(productId) }, (list) => list && update(list));
}
