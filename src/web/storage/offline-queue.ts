/** An upvote or a comment that waits for the network. Sending it twice is harmless: it is a state or has an idempotency key. */
export type QueuedWrite =
  | { kind: 'upvote'; productId: string; upvoted: boolean; before: boolean }
  | { kind: 'comment'; productId: string; content: string; website: string; idempotencyKey: string };

/** The key in local storage, shared by pages and tabs. */
export const OUTBOX_KEY = 'outbox';

let take: ((write: QueuedWrite) => boolean) | null = null;

/** Registers the function that queues writes while there is no network. Until then, offline writes fail. */
export function queueWritesWith(taker: typeof take): void {
  take = taker;
}

/** Returns whether the write was queued. Callers offer every write, since a newer one replaces a queued one. */
export function queueWhileOffline(write: QueuedWrite): boolean {
  return take?.(write) ?? false;
}
