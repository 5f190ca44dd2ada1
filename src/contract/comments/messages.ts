/** The messages about comments that the specification prescribes for the API and the log. */
export const COMMENT_MESSAGES = {
  incomplete: 'Product ID and content are required',
  idRequired: 'Comment ID is required',
  notFound: 'Comment not found',
  fetchFailed: 'Failed to fetch comment',
  updateLikesFailed: 'Failed to update likes',
} as const;
