import { InfiniteQueryObserver, type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { commentElementId, commentKeys, productKeys } from '../../cache/cached-data.ts';
import { localAddress, plural, t } from '../../language/translate.ts';
import { abortedByVisitor } from '../../routing/scroll-on.ts';
import { findRendered, isTyping, scrollBehavior } from '../../ui/focus.ts';
import { ArrowUpIcon } from '../../ui/icons.tsx';
import { useRenderedAt } from '../../ui/time.tsx';
import { showLoadFailure } from '../../ui/toasts.ts';
import type { LaunchWatch } from './launch-watch.ts';
import { startLiveUpdates } from './start-live-updates.ts';
import { newCommentCount, visibleComments, visibleList } from './visible-queries.ts';

const started = new WeakMap<QueryClient, LaunchWatch>();

/** Starts the page's live updates on first use. Returns the watch for new launches. */
function useLiveUpdates(client: QueryClient): LaunchWatch {
  const api = useApi();
  const renderedAt = useRenderedAt();
  const launches = started.get(client) ?? startLiveUpdates({ api, client, renderedAt });
  started.set(client, launches);
  return launches;
}

/** Announces new items: comments on a product or, without one, launches. */
export function LiveUpdates({ productId }: { productId?: string | undefined }) {
  return productId === undefined ? <NewLaunches /> : <NewComments key={productId} productId={productId} />;
}

/** Announces launches that the list below does not show yet, e.g. '2 new launches'. */
function NewLaunches() {
  const client = useQueryClient();
  const launches = useLiveUpdates(client);
  const count = useSyncExternalStore(
    (listener) => combine(launches.subscribe(listener), subscribe(client, productKeys.lists[1], listener)),
    () => launches.waiting().length,
  );

  async function show(stopped: AbortSignal): Promise<void> {
    const before = visibleList(client)?.ids ?? new Set();
    await client.refetchQueries({ queryKey: productKeys.lists, type: 'active' }, { throwOnError: true });
    const added = [...(visibleList(client)?.ids ?? [])].find((id) => !before.has(id));
    await highlight(added === undefined ? undefined : () => cardOf(added), 'list-title', stopped);
  }

  return (
    <LiveUpdatesButton
      count={count}
      label={
        count >= LIMITS.pageSize.default
          ? t('{count}+ new launches', { count: LIMITS.pageSize.default })
          : plural('{count} new launch', '{count} new launches', count)
      }
      onShow={show}
    />
  );
}

/** Announces comments that the list below does not show yet, e.g. '3 new comments'. */
function NewComments({ productId }: { productId: string }) {
  const client = useQueryClient();
  useLiveUpdates(client);
  const count = useSyncExternalStore(
    (listener) => subscribe(client, productId, listener),
    () => newCommentCount(client, productId),
  );

  async function show(stopped: AbortSignal): Promise<void> {
    const idsNow = () =>
      visibleComments(client, productId)?.pages.flatMap(({ items }) => items.map(({ id }) => id)) ?? [];
    const before = new Set(idsNow());
    const path = window.location.pathname;
    await client.refetchQueries({ queryKey: commentKeys.product(productId), type: 'active' }, { throwOnError: true });
    const added = await fetchUntil(client, commentKeys.product(productId), () =>
      idsNow().find((id) => !before.has(id)),
    );
    // The visitor may have opened another product during the requests.
    if (window.location.pathname !== path) return;
    const find = added === undefined ? undefined : () => document.getElementById(commentElementId(added));
    await highlight(find, 'comments-title', stopped);
  }

  return (
    <LiveUpdatesButton
      count={count}
      label={plural('{count} new comment', '{count} new comments', count)}
      onShow={show}
    />
  );
}

function cardOf(productId: string): HTMLElement | null {
  const link = document.querySelector(`.product-list a[href="${localAddress(paths.product(productId))}"]`);
  return link?.closest('article') ?? null;
}

/**
 * Calls the listener when a query whose key contains `part` changes. Other queries change too often to compare the
 * lists each time, for example the vote on each of a thousand products.
 */
function subscribe(client: QueryClient, part: string, listener: () => void): () => void {
  return client.getQueryCache().subscribe(({ query }) => {
    if (query.queryKey.includes(part)) listener();
  });
}

function combine(one: () => void, other: () => void): () => void {
  return () => {
    one();
    other();
  };
}

/** The maximum number of further pages that are loaded to find a new item. */
const MAX_PAGES = 5;

/** Loads further pages of the list on screen, at most `MAX_PAGES`, until the item is found. */
async function fetchUntil<Found>(
  client: QueryClient,
  queryKey: readonly string[],
  find: () => Found | undefined,
): Promise<Found | undefined> {
  for (let page = 0; page < MAX_PAGES && find() === undefined; page += 1) {
    const [query] = client.getQueryCache().findAll({ queryKey, type: 'active' });
    const observer = query?.observers.find((each) => each instanceof InfiniteQueryObserver);
    if (!observer) break;
    const { hasNextPage } = await observer.fetchNextPage();
    if (!hasNextPage) break;
  }
  return find();
}

/**
 * Scrolls to the new item, focuses it and highlights it. Without an item, scrolls to the heading and focuses that. Does
 * not scroll if the visitor has done anything in the meantime.
 */
async function highlight(
  find: (() => HTMLElement | null) | undefined,
  headingId: string,
  stopped: AbortSignal,
): Promise<void> {
  const found = find && (await findRendered(find));
  const target = found ?? document.getElementById(headingId);
  if (!target || isTyping()) return;
  // The pressed button disappears and loses the focus, so the focus moves to the target, unless the visitor has moved
  // the focus.
  if (stopped.aborted && !document.activeElement?.matches('body, .live-updates-button')) return;
  if (found) target.dataset.highlighted = 'true';
  if (!target.hasAttribute('tabindex')) target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (!stopped.aborted) target.scrollIntoView({ block: found ? 'center' : 'start', behavior: scrollBehavior() });
}

/** The minimum interval between announcements. In a busy hour, screen readers would otherwise read every change. */
const ANNOUNCE_INTERVAL_MS = 3_000;

interface LiveUpdatesButtonProps {
  count: number;
  label: string;
  /** The signal aborts as soon as the visitor does anything else. */
  onShow: (stopped: AbortSignal) => Promise<void>;
}

/** A button that shows new items. It is placed over the gap above the list, so the layout does not shift. */
function LiveUpdatesButton({ count, label, onShow }: LiveUpdatesButtonProps) {
  const throttledLabel = useThrottledText(count > 0 ? label : '');
  const [isBusy, setBusy] = useState(false);

  async function show(): Promise<void> {
    setBusy(true);
    const stopped = abortedByVisitor();
    try {
      await onShow(stopped.signal);
    } catch {
      showLoadFailure();
    } finally {
      // Removes the listeners for the visitor's input.
      stopped.abort();
      setBusy(false);
    }
  }

  return (
    <div className="live-updates" role="status">
      {throttledLabel !== '' && (
        <button type="button" className="live-updates-button" aria-disabled={isBusy} onClick={() => !isBusy && show()}>
          <ArrowUpIcon />
          <span>{throttledLabel}</span>
        </button>
      )}
    </div>
  );
}

/** Limits how often a text changes. The text still appears and disappears immediately. */
function useThrottledText(text: string): string {
  const [shown, setShown] = useState({ text, at: 0 });
  if (text !== shown.text && (text === '' || shown.text === '')) setShown({ text, at: performance.now() });
  useEffect(() => {
    if (text === shown.text) return;
    const timer = setTimeout(
      () => setShown({ text, at: performance.now() }),
      Math.max(0, shown.at + ANNOUNCE_INTERVAL_MS - performance.now()),
    );
    return () => clearTimeout(timer);
  }, [text, shown]);
  return shown.text;
}
