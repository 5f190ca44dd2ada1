import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Comment, CommentPage, HeldComments } from '../../../contract/comments/schema.ts';

type CommentList = InfiniteData<CommentPage>;

export const commentKeys = {
  /** Every cached order of a product's comments. */
  product: (productId: string) => ['comments', productId] as const,
  held: (productId: string) => ['held-comments', productId] as const,
  list: (productId: string, order: object) => ['comments', productId, order] as const,
};

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

function updateLists(client: QueryClient, productId: string, update: (list: CommentList) => CommentList): void {
  client.setQueriesData<CommentList>({ queryKey: commentKeys.product(productId) }, (list) => list && update(list));
}
