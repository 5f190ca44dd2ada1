/** An upvote or a comment that waits for the network. What is sent is a state or carries a key: twice does no harm. */
export type LaterWrite =
  | { kind: 'upvote'; productId: string; upvoted: boolean; before: boolean }
  | { kind: 'comment'; productId: string; content: string; website: string; idempotencyKey: string };

/** Where what waits is kept, across pages and tabs. */
export const OUTBOX_STORAGE_KEY = 'outbox';

let take: ((write: LaterWrite) => boolean) | null = null;

/** Names who takes writes while there is no network; nobody does until then. */
export function takeWritesBy(taker: typeof take): void {
  take = taker;
}

/** Whether the write was taken to be sent later. Every write is offered, since a newer one outdates one that waits. */
export function sendLater(write: LaterWrite): boolean {
  return take?.(write) ?? false;
}
