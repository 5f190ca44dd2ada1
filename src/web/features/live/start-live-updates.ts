import type { QueryClient } from '@tanstack/react-query';
import { LIVE_EVENTS } from '../../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import type { AppApi } from '../../api/api-context.tsx';
import { announceNewItems } from './announced-lists.ts';
import { createUpdateApplier } from './apply-updates.ts';
import { createLaunchWatch, type LaunchWatch } from './launch-watch.ts';
import { type DelayedEvent, initialLiveState, type LiveEffect, type LiveEvent, step } from './live-state.ts';
import { type Refetcher, refetchBoards, refetchComments, refetchOvertaken, refetchVisible } from './refetch.ts';
import { joinSharedStream, type SharedStream, type SharedStreamHandlers } from './shared-stream.ts';
import { coalesce, createRefetchScheduler, jitter } from './timing.ts';
import { isBoardVisible, visibleProductId, visibleProducts } from './visible-queries.ts';

/** The mean interval between refetches of ranks that launches off screen may change. */
const RANK_INTERVAL_MS = 60_000;

/** Ranks that the server rendered longer ago are refetched when the page loads. */
const MAX_RANK_AGE_MS = 10_000;

interface LiveOptions {
  api: AppApi;
  client: QueryClient;
  /** The server's time at which the document was rendered, in milliseconds since 1970. */
  renderedAt: number;
}

/** Keeps the counts and ranks on screen current, and detects new launches, while the page is visible. */
export function startLiveUpdates({ api, client, renderedAt }: LiveOptions): LaunchWatch {
  const launches = createLaunchWatch(api, client);
  const refetcher: Refetcher = { api, client, applier: createUpdateApplier(client, api), launches };
  const dispatch = createDispatcher(refetcher, renderedAt - Date.now());
  const { readAt } = refetcher.applier;
  const view = () => ({ ...visibleProducts(client, readAt), hasBoard: isBoardVisible(client) });

  function begin(): void {
    dispatch(document.visibilityState === 'visible' ? { kind: 'shown', ...view() } : { kind: 'hidden' });
  }

  const followSoon = coalesce(() => dispatch({ kind: 'changed', ...view() }));
  client.getQueryCache().subscribe(({ type }) => {
    if (type === 'updated' || type === 'observerAdded' || type === 'observerRemoved') followSoon();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') dispatch({ kind: 'tabHidden' });
    else begin();
  });
  // Browsers do not put a page with an open stream or a lock into their back/forward cache, so the page releases both
  // when the visitor leaves it.
  window.addEventListener('pagehide', () => dispatch({ kind: 'hidden' }));
  window.addEventListener('pageshow', begin);
  // The stream follows only the launches on screen, but any launch may overtake them, even before this page loaded: the
  // server does not render a product's page again for votes for most other launches.
  const refetchRanks = () => {
    if (document.visibilityState === 'visible') void refetchOvertaken(client);
  };
  setInterval(refetchRanks, jitter(RANK_INTERVAL_MS));
  if (Date.now() - renderedAt > MAX_RANK_AGE_MS) refetchRanks();
  begin();
  return launches;
}

/** Holds the state of the live updates and runs the effects of each step. */
function createDispatcher(refetcher: Refetcher, aheadMs: number): (event: LiveEvent) => void {
  const timers = new Map<DelayedEvent, ReturnType<typeof setTimeout>>();
  const handlers: SharedStreamHandlers = {
    onOpen() {
      hasStream = true;
      announceNewItems(refetcher.client, () => hasStream);
      dispatch({ kind: 'opened' });
    },
    onLost() {
      // A stream that was lost because the browser is offline is expected to return.
      hasStream &&= !navigator.onLine;
      dispatch({ kind: 'lost' });
    },
    onEvent: createEventHandler(refetcher),
    onId: (id) => dispatch({ kind: 'received', upTo: id, at: Date.now() }),
  };
  /** Whether a stream is open, or was open when the browser went offline. */
  let hasStream = false;
  let state = initialLiveState(aheadMs);
  let stream: SharedStream | undefined;

  function dispatch(event: LiveEvent): void {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) apply(effect);
  }

  function apply(effect: LiveEffect): void {
    switch (effect.kind) {
      case 'subscribe':
        stream ??= joinSharedStream(handlers);
        stream.subscribe({ productIds: effect.productIds, since: effect.since });
        break;
      case 'leave':
        stream?.leave();
        stream = undefined;
        break;
      case 'poll':
        poll(refetcher);
        break;
      case 'delay': {
        const { event: kind, ms } = effect;
        clearTimeout(timers.get(kind));
        // Many pages lose their streams simultaneously, but should not poll simultaneously.
        timers.set(
          kind,
          setTimeout(() => dispatch({ kind }), kind === 'pollDue' ? jitter(ms) : ms),
        );
        break;
      }
      case 'cancel':
        clearTimeout(timers.get(effect.event));
    }
  }

  return dispatch;
}

function poll(refetcher: Refetcher): void {
  if (!navigator.onLine) return;
  // A failure is ignored, because the next poll may succeed.
  void Promise.all([refetchVisible(refetcher), refetchBoards(refetcher.client)]).catch(() => {});
}

/**
 * Returns a handler that applies the updates in a stream's events, and refetches data that the events do not contain.
 */
function createEventHandler(refetcher: Refetcher): SharedStreamHandlers['onEvent'] {
  const { client, applier, launches } = refetcher;
  const refetchAll = createRefetchScheduler(() => refetchVisible(refetcher));
  let includeFinal = false;
  const refetchRanks = createRefetchScheduler(async () => {
    const options = { includeFinal };
    includeFinal = false;
    await refetchBoards(client, options).catch(() => {
      // The next refetch must include the final boards that this one could not read.
      includeFinal ||= options.includeFinal;
    });
  });
  const checkLaunches = createRefetchScheduler(() => launches.check());
  const refetchLoadedComments = createRefetchScheduler(async () => {
    const productId = visibleProductId(client);
    if (productId !== undefined) await refetchComments(refetcher, productId);
  });
  return ({ event, data, all }) => {
    if (event === LIVE_EVENTS.counts) applier.apply({ counts: JSON.parse(data) as LiveCounts[] });
    else if (event === LIVE_EVENTS.comments) applier.apply({ comments: JSON.parse(data) as LiveComment[] });
    else if (event === LIVE_EVENTS.catalogue) checkLaunches();
    else if (event === LIVE_EVENTS.refetch) refetchAll();
    // Votes cannot change a final board, but an operator can.
    includeFinal ||= event === LIVE_EVENTS.catalogue || event === LIVE_EVENTS.refetch;
    if (event !== LIVE_EVENTS.comments) refetchRanks();
    // A stream of all counts contains no likes of comments, so they are refetched.
    if (all && event === LIVE_EVENTS.counts) refetchLoadedComments();
  };
}
