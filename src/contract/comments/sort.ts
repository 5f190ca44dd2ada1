import type { CommentSort } from './schema.ts';

/** Most likes first. */
export const DEFAULT_COMMENT_SORT: CommentSort = 'best';
