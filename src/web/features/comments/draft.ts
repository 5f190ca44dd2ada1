import { LIMITS } from '../../../contract/limits.ts';
import { randomId } from '../../lib/random-id.ts';

/** From how many characters left on the form counts them. */
const COUNT_FROM_LEFT = 200;

/** What a draft may do. Lengths are in code points of the trimmed text, as the server counts them. */
export function judgeDraft(text: string) {
  const content = text.trim();
  const left = LIMITS.commentCharacters - Array.from(content).length;
  return { content, left, showLeft: left <= COUNT_FROM_LEFT, postable: content !== '' && left >= 0 };
}

/** A draft keeps its key until it is posted: sent again after a lost answer, it makes no second comment. */
export function newDraftKey(): string {
  return randomId() ?? `draft-${Date.now()}`;
}
