import { type Query, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { FOLDERS } from '../../../contract/paths/folders.ts';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { isAnnounced } from '../../features/live/announced-lists.ts';
import { showQueuedUpvote } from '../../features/upvotes/set-upvote.ts';
import { plural, rich, t } from '../../language/translate.ts';
import { useLocation } from '../../routing/router.tsx';
import { cachedAt } from '../../service-worker/cached-at.ts';
import { type OutboxItem, setRefusal, useOutbox, writeKey } from '../../storage/outbox.ts';
import { Link } from '../../ui/link.tsx';
import { discardComment, sendOutbox } from './send-outbox.ts';

const OFFLINE = 'You are offline: this is the page as you last saw it.';

/** The delay before queued writes and failed reads are tried again. */
const RETRY_INTERVAL_MS = 30_000;

/** Tells the visitor when the page may be stale, and sends queued writes when the network is available again. */
export function OfflineNote() {
  const online = useOnline();
  const items = useOutbox();
  // Must precede `useReconnect`, so queued votes are shown before they are sent.
  useQueuedUpvotes(items);
  const isCopy = useReconnect(online);
  const { pathname, search } = useLocation();
  useEffect(() => void startServiceWorker(), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another URL shows other data
  useEffect(() => void cacheVisiblePage(), [pathname, search]);

  const waiting = items.filter(({ refused }) => refused === undefined);
  // Newest first, because the note grows upwards. In this order, earlier comments and their buttons stay in place.
  const comments = items.filter(({ kind }) => kind === 'comment').reverse();
  const unsent = comments.filter(({ refused }) => refused === undefined);
  const lines = [
    online ? isCopy && t('The network is not responding: this is the page as you last saw it.') : t(OFFLINE),
    waiting.length > 0 && describe(waiting),
  ].filter((line) => line !== false);
  // The text is empty in the first render, because screen readers announce only text that is added later.
  const text = useDeferredValue(lines.join(' '), '');

  return (
    <section className="offline-note" aria-label={t('Network')}>
      <div className={text || unsent.length > 0 ? 'offline-note-card' : undefined}>
        <p role="status">{text}</p>
        {unsent.length > 0 && (
          <details className="offline-note-list" ref={passFocusOn}>
            <summary>{plural('{count} comment', '{count} comments', unsent.length)}</summary>
            {unsent.map((item) => (
              <QueuedComment key={writeKey(item)} item={item} />
            ))}
          </details>
        )}
      </div>
      {comments.map((item) => item.refused !== undefined && <QueuedComment key={writeKey(item)} item={item} />)}
    </section>
  );
}

/** Describes queued writes, e.g. '2 upvotes and 1 comment are waiting to be sent.' */
function describe(items: readonly OutboxItem[]): string {
  const upvotes = items.filter(({ kind }) => kind === 'upvote').length;
  const comments = items.length - upvotes;
  const ofUpvotes = plural('{count} upvote', '{count} upvotes', upvotes);
  const ofComments = plural('{count} comment', '{count} comments', comments);
  if (upvotes > 0 && comments > 0)
    return t('{upvotes} and {comments} are waiting to be sent.', { upvotes: ofUpvotes, comments: ofComments });
  return plural('{items} is waiting to be sent.', '{items} are waiting to be sent.', items.length, {
    items: upvotes > 0 ? ofUpvotes : ofComments,
  });
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

/** Shows the votes that an earlier page or another tab queued. */
function useQueuedUpvotes(items: readonly OutboxItem[]): void {
  const client = useQueryClient();
  useEffect(() => {
    for (const item of items) if (item.kind === 'upvote') showQueuedUpvote(client, item);
  }, [client, items]);
}

/**
 * Sends queued writes while the browser is online. Then refetches the visible data if the page may be stale, so each
 * count includes the visitor's own upvote. Repeats both, because a failed click may queue its vote again, and another
 * tab may queue writes. Returns whether the page still shows a cached copy.
 */
function useReconnect(online: boolean): boolean {
  const api = useApi();
  const client = useQueryClient();
  /** Data read since this time may be stale: 0 if the page itself may be a cached copy, undefined if all is current. */
  const staleSince = useRef<number | undefined>(cachedAt() !== undefined || !navigator.onLine ? 0 : undefined);
  const [isCopy, setCopy] = useState(() => cachedAt() !== undefined);

  useEffect(() => {
    if (!online) {
      staleSince.current ??= Date.now();
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    async function synchronize(): Promise<void> {
      await sendOutbox(api, client);
      if (staleSince.current === undefined || (await refetchStale(client, staleSince.current))) {
        staleSince.current = undefined;
        setCopy(false);
      }
      if (!ended) timer = setTimeout(synchronize, RETRY_INTERVAL_MS);
    }
    void synchronize();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [api, client, online]);
  return isCopy;
}

/**
 * Refetches the visible data. Skips lists that were read before `time` (milliseconds since 1970) if live updates
 * announce their new items. Resolves to whether all reads succeeded.
 */
async function refetchStale(client: QueryClient, time: number): Promise<boolean> {
  const predicate = (query: Query) => {
    const { status, dataUpdatedAt } = query.state;
    return status === 'error' || dataUpdatedAt === 0 || dataUpdatedAt >= time || !isAnnounced(client, query);
  };
  try {
    await client.invalidateQueries({ predicate }, { throwOnError: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * A comment that waits to be sent, or that the server refused. A refused comment stays in the queue until the visitor
 * sends it again or discards it.
 */
function QueuedComment({ item }: { item: OutboxItem }) {
  const api = useApi();
  const client = useQueryClient();
  const [isDiscarding, setDiscarding] = useState(false);
  if (item.kind !== 'comment') return null;
  const key = writeKey(item);
  const product = <Link to={paths.product(item.productId)}>{item.productId}</Link>;

  function sendAgain(): void {
    setRefusal(key, undefined);
    // If this attempt fails, `useReconnect` tries again.
    void sendOutbox(api, client);
  }

  function discard(): void {
    setDiscarding(true);
    void discardComment(item);
  }

  const isRefused = item.refused !== undefined;
  const label = t(isRefused ? 'Comment that was not posted' : 'Comment queued');
  return (
    <section ref={passFocusOn} className={isRefused ? 'offline-note-card' : 'offline-note-queued'} aria-label={label}>
      <p>
        {isRefused
          ? rich('Your comment on {product} was not posted: {reason}', { product, reason: item.refused })
          : product}
      </p>
      <blockquote
        className="offline-note-text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable text must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        dir="auto"
      >
        {item.content}
      </blockquote>
      <div className="offline-note-actions">
        {isRefused && (
          <button type="button" className="button" data-tone="outline" onClick={sendAgain}>
            {t('Try again')}
          </button>
        )}
        <button
          type="button"
          className="button"
          data-tone="quiet"
          // The attribute `disabled` would remove the focus.
          aria-disabled={isDiscarding}
          onClick={() => !isDiscarding && discard()}
        >
          {t('Discard')}
        </button>
      </div>
    </section>
  );
}

/**
 * A ref callback for a card. When the card is removed, moves the focus from it to an adjacent card or, without one, to
 * the page.
 */
function passFocusOn(card: Element | null) {
  return () => {
    if (!card?.contains(document.activeElement)) return;
    const [next] = [card.nextElementSibling, card.previousElementSibling].flatMap(
      (other) => other?.querySelector<HTMLElement>('summary, button') ?? [],
    );
    if (next) next.focus();
    else document.querySelector('main')?.focus({ preventScroll: true });
  };
}

/** Starts the service worker, which caches visited pages. Without it, pages can be read only online. */
async function startServiceWorker(): Promise<void> {
  // Not in development, because the development server has no bundled files to cache.
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  // The worker of a new build has empty caches, so this code asks it to cache the page. `OfflineNote` asks the first
  // worker.
  let hasWorker = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (hasWorker) void cacheVisiblePage();
    hasWorker = true;
  });
  try {
    await navigator.serviceWorker.register(paths.serviceWorker);
  } catch (error) {
    console.warn(`Cannot start the service worker, so pages cannot be read offline: ${error}`);
  }
}

/** Asks the service worker to cache the visible page, which may have loaded before the worker was active. */
async function cacheVisiblePage(): Promise<void> {
  if (!import.meta.env.PROD || !('serviceWorker' in navigator)) return;
  const { active } = await navigator.serviceWorker.ready;
  const language = performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .find((name) => name.includes(`${FOLDERS.assets}language-`));
  active?.postMessage({ page: window.location.href, pictures: picturesOf(document), language });
}

/** Returns the URLs of the loaded pictures on the page that are files of this site. */
function picturesOf({ images }: Document): string[] {
  const shown = [...images].filter(({ complete, naturalWidth }) => complete && naturalWidth > 0);
  return [...new Set(shown.map(({ currentSrc }) => currentSrc))].filter((address) =>
    [FOLDERS.pictures, FOLDERS.images, FOLDERS.brand].some((folder) =>
      address.startsWith(`${window.location.origin}${folder}`),
    ),
  );
}
