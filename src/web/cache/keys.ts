/** The keys of all cached queries and mutations, so a key is spelled once. */
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
  /** A product as the dialog of saved products last read it; `null` once it was removed. */
  saved: (id: string) => ['saved', id] as const,
};

export const commentKeys = {
  all: ['comments'] as const,
  /** Every cached order of a product's comments. */
  product: (productId: string) => ['comments', productId] as const,
  list: (productId: string, order: object) => ['comments', productId, order] as const,
  /** The visitor's own comments that wait for moderation. */
  held: (productId: string) => ['held-comments', productId] as const,
  addMutation: (productId: string) => ['add-comment', productId] as const,
  likeMutation: (commentId: string) => ['like', commentId] as const,
};

export const upvoteKeys = {
  status: (productId: string) => ['upvoted', productId] as const,
  /** The last confirmed state, while clicks are pending. */
  confirmed: (productId: string) => ['upvote-confirmed', productId] as const,
  mutation: (productId: string) => ['upvote', productId] as const,
};
