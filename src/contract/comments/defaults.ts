import type { CommentSort } from './schema.ts';

/** The defaults of a comment (specification, section 3). */
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

/** Most likes first. */
export const DEFAULT_COMMENT_SORT: CommentSort = 'best';

/** Identifies the draft of a comment: sent twice, it makes one comment. */
export const IDEMPOTENCY_HEADER = 'Idempotency-Key';

/** 1 to 200 visible ASCII characters. */
export const IDEMPOTENCY_KEY_PATTERN = '^[\\x21-\\x7e]{1,200}$';
