import { createBrowserStore } from '../../storage/browser-store.ts';

const texts = (stored: unknown): readonly string[] =>
  Array.isArray(stored) ? stored.filter((id) => typeof id === 'string') : [];

/** The products on which this browser posted a comment, and those comments, latest first. */
export const commentedProducts = createBrowserStore('commented_on', texts);
export const ownComments = createBrowserStore('own_comments', texts);

/** Whether this browser remembers having posted a comment on the product. */
export function hasCommentedOn(productId: string): boolean {
  // The server knows no visitor, and throwing there would cost a stack trace per page.
  return typeof window !== 'undefined' && commentedProducts.read().includes(productId);
}
