/** The specification's words about comments, as the API and the log say them. */
export const COMMENT_MESSAGES = {
  incomplete: 'Product ID and content are required',
  idRequired: 'Comment ID is required',
  notFound: 'Comment not found',
  fetchFailed: 'Failed to fetch comment',
  updateLikesFailed: 'Failed to update likes',
} as const;
