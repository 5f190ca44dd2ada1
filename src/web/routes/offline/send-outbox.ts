import type { QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import { sayCommentRefused, sendQueuedComment } from '../../features/comments/queued-comment.ts';
import { sendQueuedUpvote, takeBackUpvote } from '../../features/upvotes/queued-upvote.ts';
import { ApiError, reasonOf } from '../../lib/api-error.ts';
import {
  keyOfWrite,
  noteRefusal,
  type OutboxItem,
  outboxItems,
  removeFromOutbox,
  removeSent,
} from '../../lib/outbox.ts';

/** Sends what waits, one after another; of several tabs one does. Resolves to whether nothing is left that could be sent. */
export async function sendOutbox(api: Api, client: QueryClient): Promise<boolean> {
  if (!navigator.locks) return sendAll(api, client);
  return navigator.locks.request('outbox', { ifAvailable: true }, (lock) => (lock ? sendAll(api, client) : true));
}

async function sendAll(api: Api, client: QueryClient): Promise<boolean> {
  for (;;) {
    const next = outboxItems().find(({ refused }) => refused === undefined);
    if (!next) return true;
    try {
      await send(api, client, next);
      removeSent(next);
    } catch (error) {
      if (!isRefusal(error)) return false;
      refuse(client, next, error);
    }
  }
}

function send(api: Api, client: QueryClient, item: OutboxItem): Promise<void> {
  return item.kind === 'upvote' ? sendQueuedUpvote(api, client, item) : sendQueuedComment(api, client, item);
}

/**
 * No answer, or none that knows what will come of it, leaves a write waiting, and so does a limit: what was written one by one
 * comes all at once. Everything else is the server's last word.
 */
function isRefusal(error: unknown): boolean {
  if (!(error instanceof ApiError)) return true;
  return error.status >= 400 && error.status < 500 && error.status !== 429;
}

function refuse(client: QueryClient, item: OutboxItem, error: unknown): void {
  if (item.kind === 'upvote') {
    removeFromOutbox(keyOfWrite(item));
    takeBackUpvote(client, item, error);
  } else {
    noteRefusal(keyOfWrite(item), reasonOf(error));
    sayCommentRefused();
  }
}
