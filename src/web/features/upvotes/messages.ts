/** What a vote tells the visitor (specification, sections 4 and 8). */
export const UPVOTE_TEXTS = {
  addTooltip: 'Upvote this product',
  removeTooltip: 'Remove upvote',
  added: { title: 'Upvoted!', description: 'Thanks for your support!' },
  removed: { title: 'Upvote removed', description: 'Upvote removed successfully' },
  undo: 'Undo',
  later: { title: 'Kept for later', description: 'You are offline: it is sent when the network is back.' },
  failed: (message: string) => ({ title: 'Error', description: `Failed to update upvote: ${message}` }),
} as const;
