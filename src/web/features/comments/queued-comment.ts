import type { QueryClient } from '@tanstack/react-query';
import type { Api } from '../../../contract/api.ts';
import type { LaterWrite } from '../../lib/send-later.ts';
import { showToast } from '../../lib/toasts.ts';
import { COMMENT_TEXTS } from './messages.ts';
import { sendDraft, showAdded } from './queries.ts';

type QueuedComment = Extract<LaterWrite, { kind: 'comment' }>;

/** Sends a comment that waited. @throws ApiError as the API does. */
export async function sendQueuedComment(api: Api, client: QueryClient, write: QueuedComment): Promise<void> {
  await showAdded(client, await sendDraft(api, write.productId, write));
}

/** The text is not lost: whoever keeps it offers to send it again. */
export function sayCommentRefused(): void {
  showToast({ ...COMMENT_TEXTS.addFailed, tone: 'destructive' });
}
