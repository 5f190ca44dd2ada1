/** The specification's texts about upvotes. */
export const UPVOTE_MESSAGES = {
  checkFailed: (message: string) => `Failed to check upvote status: ${message}`,
  addFailed: (message: string) => `Failed to add upvote: ${message}`,
  removeFailed: (message: string) => `Failed to remove upvote: ${message}`,
} as const;
