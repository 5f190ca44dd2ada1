/** What the discussion says (specification, sections 2 and 8). */
export const COMMENT_TEXTS = {
  title: (count: number) => `Discussion (${count})`,
  placeholder: 'What do you think about this product?',
  hint: 'Be constructive and specific in your feedback',
  post: 'Post Comment',
  posting: 'Posting...',
  empty: 'No comments yet. Be the first to share your thoughts!',
  added: { title: 'Comment added!', description: 'Your comment has been posted successfully.' },
  later: { title: 'Comment kept', description: 'You are offline: it is posted when the network is back.' },
  addFailed: { title: 'Error', description: 'Failed to add comment. Please try again.' },
} as const;
