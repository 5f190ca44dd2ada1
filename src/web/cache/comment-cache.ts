import type { InfiniteData } from '@tanstack/react-query';
import type { Comment, CommentPage } from '../../contract/comments/schema.ts';

export type CommentList = InfiniteData<CommentPage>;

/** The id of a comment's element on the page. */
export const commentElementId = (commentId: string) => `comment-${commentId}`;

/**
 * The comments of all pages, each once, since a new comment can shift others to a later page. The visitor's held ones
 * come first.
 */
export function flattenComments(list: CommentList | undefined, held: readonly Comment[] = []): Comment[] {
  const byId = new Map<string, Comment>();
  for (const comment of [...held, ...(list?.pages.flatMap((page) => page.items) ?? [])]) {
    if (!byId.has(comment.id)) byId.set(comment.id, comment);
  }
  return [...byId.values()];
}
