import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import type { Comment, CommentPage } from '../../contract/comments/schema.ts';
import type { Leaderboard } from '../../contract/leaderboards/schema.ts';
import type { Product, ProductDetail, ProductPage } from '../../contract/products/schema.ts';
import type { UpvoteState } from '../../contract/upvotes/schema.ts';

/** The keys of queries about products. This file defines all query keys, because several features share them. */
export const productKeys = {
  all: ['products'] as const,
  lists: ['products', 'list'] as const,
  list: (filters: object) => ['products', 'list', filters] as const,
  details: ['products', 'detail'] as const,
  detail: (id: string) => ['products', 'detail', id] as const,
  related: (id: string) => ['products', 'related', id] as const,
  boards: ['products', 'board'] as const,
  board: (period: string, cursor = '') => ['products', 'board', period, cursor] as const,
  standings: ['products', 'standing'] as const,
  standing: (id: string) => ['products', 'standing', id] as const,
  /** A product as the dialog of saved products last read it, or `null` if the site has removed the product. */
  saved: (id: string) => ['saved', id] as const,
  /** A submission as its maker sees it. */
  submission: (id: string, makerKey: string) => ['submission', id, makerKey] as const,
  /** The news since the last visit, which ended at `since` (milliseconds since 1970). */
  visitNews: (since: number | null) => ['visit-news', since] as const,
};

export const commentKeys = {
  all: ['comments'] as const,
  /** The common prefix of the keys of a product's comment lists: one list for each sort order and start cursor. */
  product: (productId: string) => ['comments', productId] as const,
  list: (productId: string, order: object) => ['comments', productId, order] as const,
  /** The visitor's own comments that wait for moderation. */
  held: (productId: string) => ['held-comments', productId] as const,
  addMutation: (productId: string) => ['add-comment', productId] as const,
  likeMutation: (commentId: string) => ['like', commentId] as const,
};

export const upvoteKeys = {
  statuses: ['upvoted'] as const,
  status: (productId: string) => ['upvoted', productId] as const,
  /** The last state that the server confirmed or that was queued. Valid only while clicks are pending. */
  confirmed: (productId: string) => ['upvote-confirmed', productId] as const,
  /** Whether there is an early vote: one that the head script showed and sent. */
  early: (productId: string) => ['upvote-early', productId] as const,
  mutation: (productId: string) => ['upvote', productId] as const,
};

/** The visitor's vote that the server last confirmed or that was last queued, with the count if the server sent one. */
export type ConfirmedVote = Pick<UpvoteState, 'upvoted'> & Partial<UpvoteState>;

type Counts = Pick<Product, 'upvotes' | 'comments'>;

type ProductChange = <Shown extends Counts>(product: Shown) => Shown;

/**
 * Applies a change to a product in all cached lists and leaderboards, in its cached detail and in the dialog of saved
 * products. A change that returns the same object has no effect.
 */
export function patchProduct(client: QueryClient, id: string, change: ProductChange): void {
  patchQueries<InfiniteData<ProductPage>>(client, productKeys.lists, (list) => {
    const items = list.pages.flatMap((page) => page.items);
    if (!items.some((item) => item.id === id && change(item) !== item)) return list;
    const pages = list.pages.map((page) => ({
      ...page,
      items: page.items.map((item) => (item.id === id ? change(item) : item)),
    }));
    return { ...list, pages };
  });
  patchQueries<InfiniteData<Leaderboard | null>>(client, productKeys.boards, (board) => {
    const entry = board.pages.flatMap((page) => page?.items ?? []).find(({ productId }) => productId === id);
    const changed = entry && change(entry);
    if (!changed || changed === entry) return board;
    const pages = board.pages.map(
      (page) => page && { ...page, items: page.items.map((item) => (item === entry ? changed : item)) },
    );
    return { ...board, pages };
  });
  patchQueries<ProductDetail>(client, productKeys.detail(id), (detail) => {
    const product = change(detail.product);
    return product === detail.product ? detail : { ...detail, product };
  });
  patchQueries<Product>(client, productKeys.saved(id), change);
}

/**
 * Changes cached data, but keeps the time and the state of its last read. For example, a changed count does not make
 * the rest of a list fresh, and does not clear the error of a failed read.
 */
export function patchQueries<Data>(
  client: QueryClient,
  queryKey: readonly string[],
  change: (data: Data) => Data,
): void {
  for (const query of client.getQueryCache().findAll({ queryKey })) {
    const { data, dataUpdatedAt, status, error, isInvalidated } = query.state;
    if (!data) continue;
    const changed = change(data as Data);
    if (changed === data) continue;
    client.setQueryData(query.queryKey, changed, { updatedAt: dataUpdatedAt });
    query.setState({ status, error, isInvalidated });
  }
}

export function incrementUpvotes(client: QueryClient, id: string, change: number): void {
  patchProduct(client, id, (product) => ({ ...product, upvotes: Math.max(0, product.upvotes + change) }));
}

/** Sets a product's number of comments to the total in a response with its comments. */
export function setCommentCount(client: QueryClient, id: string, comments: number): void {
  patchProduct(client, id, (product) => (product.comments === comments ? product : { ...product, comments }));
}

/**
 * Returns a product from the first cached list that contains it, or `undefined` if no list does. `previousId` and
 * `nextId` are null, because only the response for the product itself contains them.
 */
export function findListedProduct(client: QueryClient, id: string): ProductDetail | undefined {
  for (const [, list] of client.getQueriesData<InfiniteData<ProductPage>>({ queryKey: productKeys.lists })) {
    const product = list?.pages.flatMap((page) => page.items).find((item) => item.id === id);
    if (product) return { product, previousId: null, nextId: null };
  }
  return undefined;
}

export type CommentList = InfiniteData<CommentPage>;

/** Returns the id of a comment's element on the page. */
export const commentElementId = (commentId: string) => `comment-${commentId}`;

/**
 * Returns the items of all pages without duplicates. An item occurs twice if, between the reads of two pages, a new or
 * moved item shifted it to the later page.
 */
export function flattenPages<Item>(
  pages: readonly ({ items: readonly Item[] } | null)[],
  idOf: (item: Item) => string,
): Item[] {
  const byId = new Map<string, Item>();
  for (const item of pages.flatMap((page) => page?.items ?? [])) {
    if (!byId.has(idOf(item))) byId.set(idOf(item), item);
  }
  return [...byId.values()];
}

/**
 * Returns the comments of all pages. The visitor's held comments come last, because they arrive when the others are
 * already on screen. A held comment that was just posted is in both lists, but is returned once.
 */
export function flattenComments(list: CommentList | undefined, held: readonly Comment[] = []): Comment[] {
  return flattenPages([...(list?.pages ?? []), { items: held }], ({ id }) => id);
}
