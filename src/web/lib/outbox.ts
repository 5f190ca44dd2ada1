import { createBrowserStore, useBrowserStore } from './browser-store.ts';
import { type LaterWrite, OUTBOX_STORAGE_KEY } from './send-later.ts';

/** A write that waits; `refused` is why the server would not have it, which only a comment outlives. */
export type OutboxItem = LaterWrite & { refused?: string };

/** Beyond this, writes fail as they do without an outbox. */
const MOST = 50;

const outbox = createBrowserStore<readonly OutboxItem[]>(OUTBOX_STORAGE_KEY, (kept) =>
  Array.isArray(kept) ? kept.filter(isItem) : [],
);

/** Writes that wait, oldest first; the same array as long as nothing changes. */
export function outboxItems(): readonly OutboxItem[] {
  return outbox.read();
}

/** What makes two writes the same wish: the state of one product's upvote, or one draft. */
export function keyOfWrite(write: LaterWrite): string {
  return write.kind === 'upvote' ? `upvote ${write.productId}` : `comment ${write.idempotencyKey}`;
}

/** Adds a write, in place of an older wish for the same. Returns whether there was room. */
export function addToOutbox(write: LaterWrite): boolean {
  const key = keyOfWrite(write);
  const older = outboxItems().find((item) => keyOfWrite(item) === key);
  const others = outboxItems().filter((item) => item !== older);
  if (others.length >= MOST) return false;
  // What the server knows is from before the first wish, not from before the last.
  const before = older?.kind === 'upvote' && write.kind === 'upvote' ? { before: older.before } : {};
  store([...others, { ...write, ...before }]);
  return true;
}

/** Removes what was sent, unless a newer wish for the same took its place meanwhile. */
export function removeSent(sent: OutboxItem): void {
  const text = JSON.stringify(sent);
  if (outboxItems().some((item) => JSON.stringify(item) === text)) removeFromOutbox(keyOfWrite(sent));
}

export function removeFromOutbox(key: string): void {
  const items = outboxItems();
  const left = items.filter((item) => keyOfWrite(item) !== key);
  if (left.length < items.length) store(left);
}

/** Notes that the server refused a write, or with `undefined` that it is to be sent again. */
export function noteRefusal(key: string, reason: string | undefined): void {
  store(
    outboxItems().map((item) => {
      if (keyOfWrite(item) !== key) return item;
      const { refused: _, ...write } = item;
      return reason === undefined ? write : { ...write, refused: reason };
    }),
  );
}

export function useOutbox(): readonly OutboxItem[] {
  return useBrowserStore(outbox, (items) => items);
}

function store(items: readonly OutboxItem[]): void {
  outbox.write(items.length > 0 ? items : undefined);
}

/** Storage is open to whatever else ran here. */
function isItem(item: unknown): item is OutboxItem {
  if (typeof item !== 'object' || item === null) return false;
  const { kind, productId, upvoted, content, idempotencyKey } = item as Record<string, unknown>;
  if (typeof productId !== 'string') return false;
  if (kind === 'upvote') return typeof upvoted === 'boolean';
  return kind === 'comment' && typeof content === 'string' && typeof idempotencyKey === 'string';
}
