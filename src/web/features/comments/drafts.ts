import { LIMITS } from '../../../contract/limits.ts';
import { isVisible } from '../../../contract/text.ts';
import { createBrowserStore } from '../../storage/browser-store.ts';
import { randomId } from '../../storage/session.ts';

/** A comment that the visitor has not posted yet. */
interface SavedDraft {
  productId: string;
  text: string;
  /** Stored with the text, so posting again after a reload does not create a second comment. */
  idempotencyKey: string;
  /** Time of the first attempt to post this text, in milliseconds since 1970. */
  firstSentAt?: number;
  /** Time of the last edit, in milliseconds since 1970. */
  at: number;
}

/** The form shows the number of remaining characters once it is at most this number. */
const MAX_SHOWN_LEFT = 200;

/** The maximum number of drafts. Beyond it, the least recently edited ones are deleted. */
const MAX_ITEMS = 20;

/**
 * The `maxlength` of the text box, in UTF-16 code units: well above the limit for comments, but small for local
 * storage.
 */
export const MAX_DRAFT_CHARACTERS = 10_000;

const MAX_AGE_MS = 30 * 24 * 60 * 60_000;

/** The saved drafts, latest edit first. */
export const drafts = createBrowserStore<readonly SavedDraft[]>('comment_drafts', (saved) =>
  Array.isArray(saved) ? saved.filter(isDraft) : [],
);

export function draftOn(all: readonly SavedDraft[], productId: string): SavedDraft | undefined {
  return all.find((draft) => draft.productId === productId);
}

/**
 * Saves a draft. Changed text gets a new idempotency key: even if the response to an earlier attempt was lost, the new
 * text is a different comment.
 */
export function saveDraft(productId: string, text: string, now = Date.now()): void {
  const before = draftOn(drafts.read(), productId);
  const isSame = before && before.text.trim() === text.trim();
  const draft = {
    ...(isSame ? before : { productId, idempotencyKey: randomId() ?? `draft-${now}` }),
    text,
    at: now,
  };
  const others = drafts.read().filter((saved) => saved.productId !== productId);
  const current = [...(text === '' ? [] : [draft]), ...others].filter(({ at }) => now - at < MAX_AGE_MS);
  drafts.write(current.length > 0 ? current.slice(0, MAX_ITEMS) : undefined);
}

/**
 * Saves text that was typed before hydration. Appends it to the saved draft, which the box did not show at that time.
 */
export function adoptText(productId: string, typed: string): void {
  const before = draftOn(drafts.read(), productId);
  // In strict mode, React calls this function twice.
  if (!before?.text.endsWith(typed)) saveDraft(productId, before ? `${before.text}\n\n${typed}` : typed);
}

/**
 * Trims a text, counts the remaining characters (as code points, like the server), and decides whether it can be
 * posted.
 */
export function validateDraft(text: string) {
  const content = text.trim();
  const left = LIMITS.commentCharacters - [...content].length;
  return { content, left, showLeft: left <= MAX_SHOWN_LEFT, postable: isVisible(content) && left >= 0 };
}

function isDraft(value: unknown): value is SavedDraft {
  const { productId, text, idempotencyKey, at } = (value ?? {}) as Record<string, unknown>;
  return [productId, text, idempotencyKey].every((each) => typeof each === 'string') && typeof at === 'number';
}
