import { createBrowserStore, OUTBOX_KEY, useBrowserStore } from './browser-store.ts';

/**
 * An upvote or a comment to send when the network is available. `before` is the vote on the server. Repeated sending is
 * harmless: an upvote sets a state, and a comment has an idempotency key, until the server forgets the key.
 */
export type QueuedWrite =
  | { kind: 'upvote'; productId: string; upvoted: boolean; before: boolean }
  | { kind: 'comment'; productId: string; content: string; website: string; idempotencyKey: string };

export type QueuedUpvote = Extract<QueuedWrite, { kind: 'upvote' }>;

/**
 * A queued write. `refused` is the reason why a comment was not posted. A refused upvote leaves the queue.
 * `firstSentAt` is the time of the first attempt to send a comment, in milliseconds since 1970.
 */
export type OutboxItem = QueuedWrite & { refused?: string; firstSentAt?: number };

/** The maximum number of queued writes. Beyond it, offline writes fail. */
const MAX_ITEMS = 50;

const outbox = createBrowserStore<readonly OutboxItem[]>(OUTBOX_KEY, (stored) =>
  Array.isArray(stored) ? stored.filter(isItem) : [],
);

/** Returns the queued writes, oldest first. The array is the same until the queue changes. */
export function outboxItems(): readonly OutboxItem[] {
  return outbox.read();
}

/** Returns the queued change of the visitor's upvote on a product. */
export function queuedUpvote(productId: string): QueuedUpvote | undefined {
  return outboxItems().find((item) => item.kind === 'upvote' && item.productId === productId) as
    | QueuedUpvote
    | undefined;
}

/** Identifies the target of a write: the upvote on a product, or a draft. */
export function writeKey(write: QueuedWrite): string {
  return write.kind === 'upvote' ? `upvote ${write.productId}` : `comment ${write.idempotencyKey}`;
}

/**
 * Queues a write if the browser is offline. Returns whether it was queued. Callers pass every write, because an upvote
 * that is sent directly must remove an older one from the queue.
 */
export function queueWhileOffline(write: QueuedWrite): boolean {
  // Queues writes only if the page can also be read offline. Otherwise, they fail while offline, as the specification
  // requires.
  if (!navigator.onLine && navigator.serviceWorker?.controller) return addToOutbox(write);
  if (write.kind === 'upvote') removeFromOutbox(writeKey(write));
  return false;
}

/**
 * Adds a write, or replaces an older one with the same key. Returns false, and leaves the queue unchanged, if the queue
 * is full or cannot be stored. A write that is not stored would be lost with the page.
 */
export function addToOutbox(write: QueuedWrite): boolean {
  const key = writeKey(write);
  const before = outboxItems();
  const older = before.find((item) => writeKey(item) === key);
  const others = before.filter((item) => item !== older);
  if (others.length >= MAX_ITEMS) return false;
  // Keeps the first queued write's `before`, because that is the state on the server.
  const first = older?.kind === 'upvote' && write.kind === 'upvote' ? { before: older.before } : {};
  store([...others, { ...write, ...first }]);
  if (outbox.isPersisted()) return true;
  store(before);
  return false;
}

/** Returns whether a write is queued, and no newer write has replaced it. */
export function isQueued(write: OutboxItem): boolean {
  const text = JSON.stringify(write);
  return outboxItems().some((item) => JSON.stringify(item) === text);
}

/** Removes a sent write, unless a newer write has replaced it. */
export function removeSent(sent: OutboxItem): void {
  if (isQueued(sent)) removeFromOutbox(writeKey(sent));
}

export function removeFromOutbox(key: string): void {
  const items = outboxItems();
  const left = items.filter((item) => writeKey(item) !== key);
  if (left.length < items.length) store(left);
}

/** Records the time of the first attempt to send a write. Returns the write as it is queued now. */
export function recordAttempt(item: OutboxItem, firstSentAt: number): OutboxItem {
  const sent = { ...item, firstSentAt };
  replace(writeKey(item), () => sent);
  return sent;
}

/** Records why a write was not posted. Without a reason, the write is queued again, as if it had never been sent. */
export function setRefusal(key: string, reason: string | undefined): void {
  replace(key, ({ refused: _, firstSentAt: __, ...write }) =>
    reason === undefined ? write : { ...write, refused: reason },
  );
}

function replace(key: string, change: (item: OutboxItem) => OutboxItem): void {
  store(outboxItems().map((item) => (writeKey(item) === key ? change(item) : item)));
}

export function useOutbox(): readonly OutboxItem[] {
  return useBrowserStore(outbox, (items) => items);
}

function store(items: readonly OutboxItem[]): void {
  outbox.write(items.length > 0 ? items : undefined);
}

/** Validates items, because other code on this origin may write to the storage. */
function isItem(item: unknown): item is OutboxItem {
  const { kind, productId, upvoted, before, ...comment } = (item ?? {}) as Record<string, unknown>;
  if (typeof productId !== 'string') return false;
  if (kind === 'upvote') return typeof upvoted === 'boolean' && typeof before === 'boolean';
  const texts = [comment.content, comment.website, comment.idempotencyKey];
  return kind === 'comment' && texts.every((text) => typeof text === 'string');
}
