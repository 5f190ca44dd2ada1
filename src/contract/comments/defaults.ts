import type { CommentSort } from './schema.ts';

/** The default author of a comment (specification, section 3). */
export const COMMENT_DEFAULTS = {
  authorName: 'Anonymous',
  authorAvatar: '/pictures/avatar-default.svg',
} as const;

/** The default order of comments: most likes first. */
export const DEFAULT_COMMENT_SORT: CommentSort = 'best';

/**
 * The request header with the idempotency key, which keeps a retried request from adding a second comment or
 * submission.
 */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** An idempotency key: 1 to 200 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = '^[\\x21-\\x7e]{1,200}$';

/** The number of hours during which a repeated idempotency key returns the comment or submission that it created. */
export const IDEMPOTENCY_KEY_HOURS = 24;
