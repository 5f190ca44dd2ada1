import type { QueryClient } from '@tanstack/react-query';
import { LIVE_EVENTS } from '../../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import type { AppApi } from '../../api/api-context.tsx';
import { createUpdateApplier } from './apply-updates.ts';
import { createLaunchWatch, type LaunchWatch } from './launch-watch.ts';
import { refetchBoards, refetchComments, refetchVisible } from './refetch.ts';
import { createRefetchScheduler } from './refetch-scheduler.ts';
import { joinSharedStream, type SharedStream } from './shared-stream.ts';
import { jitter } from './timing.ts';
import { isBoardVisible, visibleProductId, visibleProducts } from './visible-queries.ts';

/** A hidden tab keeps its stream for this long, because many visitors only glance at another tab. */
const HIDDEN_TIMEOUT_MS = 10_000;

const POLL_INTERVAL_MS = 60_000;
const FIRST_POLL_DELAY_MS = 10_000;

export interface LiveConnection {
  launches: LaunchWatch;
}

interface LiveOptions {
  api: AppApi;
  client: QueryClient;
  /** The server's time at which the document was rendered, in milliseconds since 1970. */
  renderedAt: number;
}

/**
 * The subscription of this tab, and the time up to which it knows all changes. Times are in milliseconds since 1970.
 */
export type LiveState = {
  subscribedIds: readonly string[];
  /** Whether an open stream covers `subscribedIds`. */
  isCovered: boolean;
  /** The server's time up to which all changes of the products on screen are known. */
  knownUpTo: number;
  /**
   * A lower bound of how far the server's clock is ahead of this one. It is derived from the server's timestamps, which
   * are never in the server's future.
   */
  aheadMs: number;
} & (
  | { kind: 'hidden' }
  /** The page is visible, but shows nothing that a stream updates. */
  | { kind: 'unsubscribed' }
  | { kind: 'subscribed' }
);

export type LiveEvent =
  | { kind: 'hidden' }
  /** The page shows these products, as of `readAt` (browser time). */
  | { kind: 'shown'; productIds: readonly string[]; readAt: number; hasBoard: boolean }
  /** The open stream covers the subscription. */
  | { kind: 'opened' }
  /** Everything up to `upTo` (server time) was received, at `at` (browser time). */
  | { kind: 'received'; upTo: number; at: number };

export type LiveEffect = { kind: 'subscribe'; productIds: readonly string[]; since: number } | { kind: 'leave' };

interface LiveStep {
  state: LiveState;
  effects: readonly LiveEffect[];
}

export function initialLiveState(aheadMs: number): LiveState {
  return { kind: 'hidden', subscribedIds: [], isCovered: false, knownUpTo: Number.POSITIVE_INFINITY, aheadMs };
}

/** Pure: a visible page subscribes to its products, from the time up to which it knows all their changes. */
export function step(state: LiveState, event: LiveEvent): LiveStep {
  switch (event.kind) {
    case 'hidden':
      return { state: { ...state, kind: 'hidden' }, effects: [{ kind: 'leave' }] };
    case 'shown':
      return follow(state, event);
    case 'opened':
      return { state: { ...state, isCovered: true }, effects: [] };
    case 'received': {
      const aheadMs = Math.max(state.aheadMs, event.upTo - event.at);
      const knownUpTo = state.isCovered ? event.upTo : state.knownUpTo;
      return { state: { ...state, aheadMs, knownUpTo }, effects: [] };
    }
  }
}

function follow(state: LiveState, { productIds, readAt, hasBoard }: Extract<LiveEvent, { kind: 'shown' }>): LiveStep {
  if (state.kind === 'subscribed' && productIds.join() === state.subscribedIds.join()) return { state, effects: [] };
  // An open stream includes all changes up to its last event, even for data from older responses.
  const isKnown = state.isCovered && productIds.every((id) => state.subscribedIds.includes(id));
  const since = isKnown ? state.knownUpTo : Math.min(state.knownUpTo, readAt + state.aheadMs);
  const next = { ...state, subscribedIds: productIds, knownUpTo: since };
  // A stream without product ids carries the counts of the whole site, which only a leaderboard needs.
  if (productIds.length === 0 && !hasBoard) {
    return { state: { ...next, kind: 'unsubscribed' }, effects: [{ kind: 'leave' }] };
  }
  return {
    state: { ...next, kind: 'subscribed', isCovered: false },
    effects: [{ kind: 'subscribe', productIds, since }],
  };
}

/** Keeps the counts on screen current while the page is visible. */
export function startLiveUpdates({ api, client, renderedAt }: LiveOptions): LiveConnection {
  const applier = createUpdateApplier(client, api);
  const launches = createLaunchWatch(api, client);
  const refetcher = { api, client, applier, launches };
  const refetchAll = createRefetchScheduler(() => refetchVisible(refetcher));
  const refetchRanks = createRefetchScheduler(() => refetchBoards(client));
  const checkLaunches = createRefetchScheduler(() => launches.check());
  const refetchLoadedComments = createRefetchScheduler(async () => {
    const productId = visibleProductId(client);
    if (productId !== undefined) await refetchComments(refetcher, productId);
  });

  let state = initialLiveState(renderedAt - Date.now());
  let stream: SharedStream | undefined;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let followTimer: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function dispatch(event: LiveEvent): void {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) {
      if (effect.kind === 'leave') leave();
      else {
        stream ??= join();
        stream.subscribe({ productIds: effect.productIds, since: effect.since });
      }
    }
  }

  function show(): void {
    clearTimeout(followTimer);
    followTimer = undefined;
    dispatch({ kind: 'shown', ...visibleProducts(client), hasBoard: isBoardVisible(client) });
  }

  function join(): SharedStream {
    return joinSharedStream({
      onOpen() {
        dispatch({ kind: 'opened' });
        stopPolling();
      },
      onLost() {
        pollTimer ??= setTimeout(poll, jitter(FIRST_POLL_DELAY_MS));
      },
      onEvent({ event, data, all }) {
        if (event === LIVE_EVENTS.counts) applier.apply({ counts: JSON.parse(data) as LiveCounts[] });
        else if (event === LIVE_EVENTS.comments) applier.apply({ comments: JSON.parse(data) as LiveComment[] });
        else if (event === LIVE_EVENTS.catalogue) checkLaunches();
        else if (event === LIVE_EVENTS.refetch) refetchAll();
        if (event !== LIVE_EVENTS.comments) refetchRanks();
        // A stream of all counts carries no comments.
        if (all && event === LIVE_EVENTS.counts) refetchLoadedComments();
      },
      onId(id) {
        dispatch({ kind: 'received', upTo: id, at: Date.now() });
      },
    });
  }

  function leave(): void {
    stream?.leave();
    stream = undefined;
    stopPolling();
  }

  async function poll(): Promise<void> {
    pollTimer = setTimeout(poll, jitter(POLL_INTERVAL_MS));
    if (!navigator.onLine) return;
    // A failure is ignored, because the next refetch may succeed.
    await Promise.all([refetchVisible(refetcher), refetchBoards(client)]).catch(() => {});
  }

  function stopPolling(): void {
    clearTimeout(pollTimer);
    pollTimer = undefined;
  }

  function begin(): void {
    clearTimeout(hiddenTimer);
    if (document.visibilityState === 'visible') show();
    else hide();
  }

  function hide(): void {
    clearTimeout(hiddenTimer);
    clearTimeout(followTimer);
    followTimer = undefined;
    dispatch({ kind: 'hidden' });
  }

  client.getQueryCache().subscribe(({ type }) => {
    // The visible data may have changed. A hidden tab catches up when it becomes visible.
    if (type !== 'updated' && type !== 'observerAdded' && type !== 'observerRemoved') return;
    if (state.kind !== 'hidden') followTimer ??= setTimeout(show, 0);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(hide, HIDDEN_TIMEOUT_MS);
    else begin();
  });
  // Browsers do not put a page with an open stream or a lock into their back/forward cache.
  window.addEventListener('pagehide', hide);
  window.addEventListener('pageshow', begin);
  begin();
  return { launches };
}
