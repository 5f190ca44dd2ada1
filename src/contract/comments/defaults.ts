import type { CommentSort } from './schema.ts';

/** The default author of a comment (specification, section 3). */
export const COMMENT_DEFAULTS = {
  authorName: 'Anonymous',
  authorAvatar: '/pictures/avatar-default.svg',
} as const;

/** The author of every comment that a visitor writes (specification, section 6). */
export const VISITOR_AUTHOR = {
  authorName: 'You',
  authorAvatar: COMMENT_DEFAULTS.authorAvatar,
  authorBadge: null,
} as const;

/** The default order of comments: most likes first. */
export const DEFAULT_COMMENT_SORT: CommentSort = 'best';

/** The request header with the idempotency key, so a retried request adds only one comment or submission. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** An idempotency key: 1 to 200 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = '^[\\x21-\\x7e]{1,200}$';

/** The messages about comments that the specification prescribes for the API and the log. */
export const COMMENT_MESSAGES = {
  incomplete: 'Product ID and content are required',
  idRequired: 'Comment ID is required',
  notFound: 'Comment not found',
  fetchFailed: 'Failed to fetch comment',
  updateLikesFailed: 'Failed to update likes',
} as const;
