/** The texts of the discussion (specification, sections 2 and 8). */
export const COMMENT_TEXTS = {
  title: 'Discussion ({count})',
  placeholder: 'What do you think about this product?',
  hint: 'Be constructive and specific in your feedback',
  post: 'Post Comment',
  posting: 'Posting...',
  empty: 'No comments yet. Be the first to share your thoughts!',
} as const;
