import type { QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { ApiError, reasonOf } from '../../api/http-api.ts';
import {
  firstAttempt,
  reportRefusedComment,
  sendQueuedComment,
  UncertainError,
} from '../../features/comments/write-comments.ts';
import { rollBackQueuedUpvote, sendQueuedUpvote } from '../../features/upvotes/set-upvote.ts';
import {
  isQueued,
  type OutboxItem,
  outboxItems,
  recordAttempt,
  removeFromOutbox,
  removeSent,
  setRefusal,
  writeKey,
} from '../../storage/outbox.ts';

/**
 * Sends queued writes one after another. If the browser offers locks, only one tab sends at a time. The other tabs wait
 * until that tab has finished, so the data that they refetch afterwards includes the writes. After a temporary failure,
 * a write stays in the queue.
 */
export function sendOutbox(api: Api, client: QueryClient): Promise<void> {
  return withLock('outbox', () => sendAll(api, client));
}

/**
 * Removes a comment from the queue. If the comment is being sent, first waits for the result, because it may be posted
 * after all.
 */
export function discardComment(item: OutboxItem): Promise<void> {
  const key = writeKey(item);
  return withLock(key, async () => removeFromOutbox(key));
}

async function withLock(name: string, run: () => Promise<void>): Promise<void> {
  let running: Promise<void> | undefined;
  const runOnce = () => (running ??= run());
  // If the browser blocks storage, it also rejects the lock. In that case, tabs do not share the queue, so it needs no
  // lock.
  await navigator.locks?.request(name, runOnce).catch(() => {});
  await runOnce();
}

async function sendAll(api: Api, client: QueryClient): Promise<void> {
  /** The keys of writes that stay queued, but whose failure must not block the others. */
  const skipped = new Set<string>();
  for (;;) {
    const next = outboxItems().find((item) => item.refused === undefined && !skipped.has(writeKey(item)));
    if (!next) return;
    try {
      await withLock(writeKey(next), () => send(api, client, next));
    } catch (error) {
      if (isOutage(error)) return;
      if (isRefusal(next, error)) refuse(client, next, error);
      else skipped.add(writeKey(next));
    }
  }
}

async function send(api: Api, client: QueryClient, item: OutboxItem): Promise<void> {
  // The visitor may have discarded the comment while this function waited for the lock.
  if (!isQueued(item)) return;
  if (item.kind === 'upvote') {
    await sendQueuedUpvote(api, client, item);
    return removeSent(item);
  }
  const sent = recordAttempt(item, firstAttempt(item.firstSentAt));
  await sendQueuedComment(api, client, item);
  removeSent(sent);
}

/**
 * Returns whether other writes would probably fail as well: after network errors, server errors and the statuses 408
 * and 429 (many queued writes may exceed a rate limit).
 */
function isOutage(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { status } = error;
  return status < 400 || status >= 500 || status === 408 || status === 429;
}

/**
 * Returns whether a failure other than an outage is final. Error pages from a proxy are temporary, except if it refuses
 * a comment with a status other than 404: the proxy may object to the text, so the visitor must see the refusal.
 */
function isRefusal({ kind }: OutboxItem, error: unknown): boolean {
  return !(error instanceof ApiError) || error.code !== 'unknown' || (kind === 'comment' && error.status !== 404);
}

function refuse(client: QueryClient, item: OutboxItem, error: unknown): void {
  if (item.kind === 'upvote') {
    removeFromOutbox(writeKey(item));
    rollBackQueuedUpvote(client, item, error);
  } else {
    setRefusal(writeKey(item), reasonOf(error));
    // No toast appears for an uncertain comment, because the toast would ask the visitor to try again, which could post
    // the comment twice.
    if (!(error instanceof UncertainError)) reportRefusedComment();
  }
}
