import { createBrowserStore } from '../../lib/browser-store.ts';
import { newDraftKey } from './draft.ts';

/** What somebody began to write on a product's page. */
export interface KeptDraft {
  productId: string;
  text: string;
  /** Stays with the text: sent again after a reload, it makes no second comment. */
  idempotencyKey: string;
  /** When it was last written on, in milliseconds since 1970. */
  at: number;
}

/** The one that was not written on for the longest goes first. */
const MOST = 20;

/** UTF-16 units that the text box takes: far more than a comment may have, and little for a storage. */
export const MOST_DRAFT_CHARACTERS = 10_000;

const FORGET_AFTER_MS = 30 * 24 * 60 * 60_000;

/** The latest first. */
export const drafts = createBrowserStore<readonly KeptDraft[]>('comment_drafts', (kept) =>
  Array.isArray(kept) ? kept.filter(isDraft) : [],
);

export function draftOn(all: readonly KeptDraft[], productId: string): KeptDraft | undefined {
  return all.find((draft) => draft.productId === productId);
}

/** Another text is another comment, even if the answer to the first one was lost; blanks around it make no other. */
export function keepDraft(productId: string, text: string, now = Date.now()): void {
  const before = draftOn(drafts.read(), productId);
  const isSame = before && before.text.trim() === text.trim();
  const draft = {
    productId,
    text,
    idempotencyKey: isSame ? before.idempotencyKey : newDraftKey(),
    at: now,
  };
  store([...(text === '' ? [] : [draft]), ...others(productId)], now);
}

/** A draft that was posted; what another tab wrote meanwhile stays. */
export function dropDraft(posted: Pick<KeptDraft, 'productId' | 'idempotencyKey'>, now = Date.now()): void {
  const { productId, idempotencyKey } = posted;
  if (draftOn(drafts.read(), productId)?.idempotencyKey === idempotencyKey) store(others(productId), now);
}

function others(productId: string): KeptDraft[] {
  return drafts.read().filter((draft) => draft.productId !== productId);
}

function store(all: readonly KeptDraft[], now: number): void {
  const kept = all.filter(({ at }) => now - at < FORGET_AFTER_MS).slice(0, MOST);
  drafts.write(kept.length > 0 ? kept : undefined);
}

function isDraft(value: unknown): value is KeptDraft {
  if (typeof value !== 'object' || value === null) return false;
  const { productId, text, idempotencyKey, at } = value as Record<string, unknown>;
  return (
    typeof productId === 'string' &&
    typeof text === 'string' &&
    typeof idempotencyKey === 'string' &&
    typeof at === 'number'
  );
}
