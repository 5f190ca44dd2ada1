import { COMMENT_DEFAULTS } from '../../contract/comments/defaults.ts';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Comment, NewComment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/fields.ts';
import { formatCount, isLongerThan, isVisible } from '../../contract/text.ts';
import { CoreError, productNotFound } from '../core-error.ts';
import type { Runtime } from '../runtime.ts';

/** The sender of a comment. The idempotency key identifies the comment, so repeated requests create it only once. */
export interface Sender {
  session: string;
  idempotencyKey?: string | undefined;
}

/** The author of a comment as readers see it. */
export type CommentAuthor = Pick<Comment, 'authorName' | 'authorAvatar' | 'authorBadge'>;

/** The author of every comment that a visitor writes (specification, section 6). */
const VISITOR_AUTHOR: CommentAuthor = {
  authorName: 'You',
  authorAvatar: COMMENT_DEFAULTS.authorAvatar,
  authorBadge: null,
};

/** A comment that is ready to be stored. */
export interface PreparedComment extends Sender {
  comment: Comment;
  /** The only session that sees the comment while it is held; `null` if the comment is public. */
  heldSession: string | null;
}

/** Returns the trimmed text. @throws CoreError `comment_incomplete` if the text or the product id is empty. */
export function requireComplete({ productId, content }: NewComment): string {
  const text = content.trim();
  if (productId === '' || !isVisible(text)) throw new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete);
  return text;
}

/**
 * Validates a visitor's input and builds the comment. Until an operator releases a held comment, only its author sees
 * it.
 * @throws CoreError `comment_incomplete`, `comment_too_long`, `product_not_found` if the id is invalid.
 */
export function prepareComment(
  runtime: Runtime,
  sent: NewComment,
  sender: Sender,
  { held = false, author = VISITOR_AUTHOR }: { held?: boolean; author?: CommentAuthor | undefined } = {},
): PreparedComment {
  const { productId } = sent;
  const text = requireComplete(sent);
  if (isLongerThan(text, LIMITS.commentCharacters)) {
    throw new CoreError(
      'comment_too_long',
      `The comment is longer than ${formatCount(LIMITS.commentCharacters)} characters.`,
    );
  }
  if (!isProductId(productId)) throw productNotFound();
  const comment = {
    id: runtime.uuid(),
    productId,
    ...author,
    content: text,
    likes: 0,
    createdAt: runtime.now().toISOString(),
  };
  return { ...sender, comment, heldSession: held ? sender.session : null };
}
