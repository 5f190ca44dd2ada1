import { VISITOR_AUTHOR } from '../../contract/comments/defaults.ts';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import type { Comment, NewComment } from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import { CoreError } from '../core-error.ts';
import { productNotFound } from '../products/product-not-found.ts';
import type { Sources } from '../sources.ts';

/** Who sends a comment: the session, and the key that names the draft where one was given. */
export interface Sender {
  session: string;
  idempotencyKey?: string | undefined;
}

/** What was found about a comment beside its text. */
export interface Judgement {
  /** Kept back until the operator releases it; its author sees it meanwhile. */
  held?: boolean;
}

/** A comment that is ready to be written. */
export interface Draft extends Sender {
  comment: Comment;
  /** The session that alone sees it; `null`: everybody does. */
  heldFor: string | null;
}

/** A text of spaces and characters that only shape others, such as a zero-width space, shows nothing. */
const VISIBLE = /[^\s\p{Cc}\p{Cf}\p{Z}]/u;

/**
 * Checks what a visitor wrote and makes the comment of it.
 * @throws CoreError `comment_incomplete`, `comment_too_long`, `product_not_found` for an id that no product can have.
 */
export function draftComment(
  sources: Sources,
  { productId, content }: NewComment,
  sender: Sender,
  { held = false }: Judgement = {},
): Draft {
  const text = content.trim();
  if (productId === '' || !VISIBLE.test(text)) throw new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete);
  // Code points, as a person counts characters: an emoji is not two.
  if (text.length > LIMITS.commentCharacters && [...text].length > LIMITS.commentCharacters) {
    throw new CoreError('comment_too_long', `A comment has at most ${LIMITS.commentCharacters} characters`);
  }
  if (!isProductId(productId)) throw productNotFound();
  const comment = {
    id: sources.uuid(),
    productId,
    ...VISITOR_AUTHOR,
    content: text,
    likes: 0,
    createdAt: sources.now().toISOString(),
  };
  return { ...sender, comment, heldFor: held ? sender.session : null };
}
