import { useSyncExternalStore } from 'react';
import { type LaterWrite, OUTBOX_STORAGE_KEY } from './send-later.ts';

/** A write that waits; `refused` is why the server would not have it, which only a comment outlives. */
export type OutboxItem = LaterWrite & { refused?: string };

/** Beyond this, writes fail as they do without an outbox. */
const MOST = 50;

const NONE: readonly OutboxItem[] = [];
const listeners = new Set<() => void>();

/** What storage refused, for as long as the page lives; it stands for what is in the storage, which is older. */
let inMemory: string | undefined;
let parsed: { text: string; items: readonly OutboxItem[] } = { text: '[]', items: NONE };

/** Writes that wait, oldest first; the same array as long as nothing changes. */
export function outboxItems(): readonly OutboxItem[] {
  const text = readText();
  if (text !== parsed.text) parsed = { text, items: parse(text) };
  return parsed.items;
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
  return useSyncExternalStore(subscribe, outboxItems, () => NONE);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab may have sent what waits.
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}

function readText(): string {
  if (inMemory !== undefined) return inMemory;
  try {
    return window.localStorage.getItem(OUTBOX_STORAGE_KEY) ?? '[]';
  } catch {
    return '[]';
  }
}

function store(items: readonly OutboxItem[]): void {
  const text = JSON.stringify(items);
  try {
    if (items.length > 0) window.localStorage.setItem(OUTBOX_STORAGE_KEY, text);
    else window.localStorage.removeItem(OUTBOX_STORAGE_KEY);
    inMemory = undefined;
  } catch {
    inMemory = text;
  }
  for (const listener of listeners) listener();
}

function parse(text: string): readonly OutboxItem[] {
  try {
    const items: unknown = JSON.parse(text);
    return Array.isArray(items) ? items.filter(isItem) : NONE;
  } catch {
    return NONE;
  }
}

/** Storage is open to whatever else ran here. */
function isItem(item: unknown): item is OutboxItem {
  if (typeof item !== 'object' || item === null) return false;
  const { kind, productId, upvoted, content, idempotencyKey } = item as Record<string, unknown>;
  if (typeof productId !== 'string') return false;
  if (kind === 'upvote') return typeof upvoted === 'boolean';
  return kind === 'comment' && typeof content === 'string' && typeof idempotencyKey === 'string';
}
