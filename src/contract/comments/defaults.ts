/** What a comment shows where nothing was given (specification, section 3). */
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
