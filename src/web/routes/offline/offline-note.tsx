import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useLocation } from 'react-router';
import { showQueuedUpvote } from '../../features/upvotes/queued-upvote.ts';
import { useApi } from '../../lib/api-context.tsx';
import { formatAmount } from '../../lib/format-count.ts';
import { keptAt } from '../../lib/kept-at.ts';
import {
  addToOutbox,
  keyOfWrite,
  type OutboxItem,
  outboxItems,
  removeFromOutbox,
  useOutbox,
} from '../../lib/outbox.ts';
import { takeWritesBy } from '../../lib/send-later.ts';
import { RefusedComment } from './refused-comment.tsx';
import { sendOutbox } from './send-outbox.ts';
import { keepWhatIsShown, startServiceWorker } from './start-service-worker.ts';

const OFFLINE = 'You are offline: this is the page as you last saw it.';

/** After an answer that leaves it open what became of a write. */
const TRY_AGAIN_MS = 30_000;

/** Says when the page is not what the site has now, and keeps what a visitor writes until the network is back. */
export function OfflineNote() {
  const online = useOnline();
  const items = useOutbox();
  // First, so that what waits is shown before it is sent.
  useOutboxTaking();
  const isCopy = useReturnToNetwork(online);
  const { pathname } = useLocation();
  useEffect(() => void startServiceWorker(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address shows something else
  useEffect(() => void keepWhatIsShown(), [pathname]);

  const waiting = items.filter(({ refused }) => refused === undefined);
  const refused = items.filter((item) => item.refused !== undefined);
  const lines = [
    online ? isCopy && 'The network does not answer: this is the page as you last saw it.' : OFFLINE,
    waiting.length > 0 && `${describe(waiting)} for the network.`,
  ].filter((line) => line !== false);

  return (
    <section className="offline-note" aria-label="Network">
      {/* There from the start: what is added later is read out. */}
      <div role="status">{lines.length > 0 && <p className="offline-note-card">{lines.join(' ')}</p>}</div>
      {refused.map((item) => (
        <RefusedComment key={JSON.stringify(item)} item={item} />
      ))}
    </section>
  );
}

/** 2 upvotes and 1 comment → '2 upvotes and 1 comment wait'. */
function describe(items: readonly OutboxItem[]): string {
  const upvotes = items.filter(({ kind }) => kind === 'upvote').length;
  const comments = items.length - upvotes;
  const parts = [upvotes > 0 && formatAmount(upvotes, 'upvote'), comments > 0 && formatAmount(comments, 'comment')];
  return `${parts.filter((part) => part !== false).join(' and ')} ${items.length === 1 ? 'waits' : 'wait'}`;
}

function subscribeToNetwork(listener: () => void): () => void {
  window.addEventListener('online', listener);
  window.addEventListener('offline', listener);
  return () => {
    window.removeEventListener('online', listener);
    window.removeEventListener('offline', listener);
  };
}

function useOnline(): boolean {
  return useSyncExternalStore(subscribeToNetwork, () => navigator.onLine);
}

/** Takes what is written while there is no network. */
function useOutboxTaking(): void {
  const client = useQueryClient();
  useEffect(() => {
    for (const item of outboxItems()) if (item.kind === 'upvote') showQueuedUpvote(client, item);
    takeWritesBy((write) => {
      // Only where the page could be read offline as well; elsewhere a lost network fails a write as it always did.
      if (!navigator.onLine && navigator.serviceWorker?.controller) return addToOutbox(write);
      if (write.kind === 'upvote') removeFromOutbox(keyOfWrite(write));
      return false;
    });
    return () => takeWritesBy(null);
  }, [client]);
}

/**
 * Once there is a network, sends what waits, and then reads again what is on screen: in this order, so that no count is
 * from before the visitor's own upvote. Returns whether the page is still a copy.
 */
function useReturnToNetwork(online: boolean): boolean {
  const api = useApi();
  const client = useQueryClient();
  const isOld = useRef(keptAt() !== undefined || !navigator.onLine);
  const [isCopy, setCopy] = useState(() => keptAt() !== undefined);

  useEffect(() => {
    if (!online) {
      isOld.current = true;
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    async function catchUp(): Promise<void> {
      const isSent = await sendOutbox(api, client);
      const isRead = !isOld.current || (await readAgain(client));
      if (isRead) {
        isOld.current = false;
        setCopy(false);
      }
      if (!ended && !(isSent && isRead)) timer = setTimeout(catchUp, TRY_AGAIN_MS);
    }
    void catchUp();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [api, client, online]);
  return isCopy;
}

/** Resolves to whether everything on screen is as the site has it now. */
async function readAgain(client: QueryClient): Promise<boolean> {
  try {
    await client.invalidateQueries({}, { throwOnError: true });
    return true;
  } catch {
    return false;
  }
}
