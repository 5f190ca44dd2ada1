import type { QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import { LIVE_EVENTS } from '../../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import { createUpdateApplier } from './apply-updates.ts';
import { createLaunchWatch, type LaunchWatch } from './launch-watch.ts';
import { refetchBoards, refetchComments, refetchVisible } from './refetch.ts';
import { joinSharedStream, type SharedStream } from './shared-stream.ts';
import { jitter } from './stream-leader.ts';
import { isBoardVisible, visibleProductId, visibleProducts } from './visible-queries.ts';

/** A hidden tab keeps its stream for this long, because many visitors only glance at another tab. */
const HIDDEN_MS = 10_000;

const POLL_MS = 60_000;
const FIRST_POLL_MS = 10_000;

/**
 * The mean delay of a refetch. All open pages learn of a change at the same moment, and should not refetch at the same moment.
 */
const READ_MS = 1_500;

/** The minimum time between two refetches, because an import changes the catalogue many times in a row. */
const REST_MS = 5_000;

export interface LiveConnection {
  launches: LaunchWatch;
}

interface LiveOptions {
  api: ReadApi;
  client: QueryClient;
  /** The server's time at which the document was rendered, in milliseconds since 1970. */
  renderedAt: number;
}

/** Keeps the counts on screen current while the page is visible. */
export function startLiveUpdates({ api, client, renderedAt }: LiveOptions): LiveConnection {
  const applier = createUpdateApplier(client);
  const launches = createLaunchWatch(api, client);
  const reader = { api, client, applier, launches };
  const refetchAll = later(READ_MS, () => refetchVisible(reader));
  const refetchRanks = later(READ_MS, () => refetchBoards(client));
  const checkLaunches = later(READ_MS, () => launches.check());
  const readComments = later(READ_MS, async () => {
    const productId = visibleProductId(client);
    if (productId !== undefined) await refetchComments(reader, productId);
  });

  /**
   * The least by which the server's clock is ahead of this one, since the times that the server sends are never in its future.
   */
  let aheadMs = renderedAt - Date.now();
  let feed: SharedStream | undefined;
  let wanted: readonly string[] = [];
  /** The server's time up to which all changes of the products on screen are known. */
  let knownUpTo = Number.POSITIVE_INFINITY;
  let isAnswered = false;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let isLookedAt = false;
  let followTimer: ReturnType<typeof setTimeout> | undefined;
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;

  function follow(): void {
    clearTimeout(followTimer);
    followTimer = undefined;
    if (!isLookedAt) return;
    const { productIds, readAt } = visibleProducts(client);
    if (feed && productIds.join() === wanted.join()) return;
    // An open stream covers everything up to its last event, even for data from older responses.
    const isKnown = isAnswered && productIds.every((id) => wanted.includes(id));
    if (!isKnown) knownUpTo = Math.min(knownUpTo, readAt + aheadMs);
    wanted = productIds;
    // Without products, the stream would carry all counts of the site, which only a leaderboard needs.
    if (productIds.length === 0 && !isBoardVisible(client)) {
      leave();
      return;
    }
    isAnswered = false;
    feed ??= join();
    feed.want({ productIds, since: knownUpTo });
  }

  function join(): SharedStream {
    return joinSharedStream({
      onOpen() {
        isAnswered = true;
        stopPolling();
      },
      onLost() {
        pollTimer ??= setTimeout(poll, jitter(FIRST_POLL_MS));
      },
      onEvent({ event, data, all }) {
        if (event === LIVE_EVENTS.counts) applier.apply({ counts: JSON.parse(data) as LiveCounts[] });
        else if (event === LIVE_EVENTS.comments) applier.apply({ comments: JSON.parse(data) as LiveComment[] });
        else if (event === LIVE_EVENTS.catalogue) checkLaunches();
        else if (event === LIVE_EVENTS.refetch) refetchAll();
        if (event !== LIVE_EVENTS.comments) refetchRanks();
        // A stream of all counts carries no comments.
        if (all && event === LIVE_EVENTS.counts) readComments();
      },
      onId(id) {
        aheadMs = Math.max(aheadMs, id - Date.now());
        if (isAnswered) knownUpTo = id;
      },
    });
  }

  function leave(): void {
    feed?.leave();
    feed = undefined;
    stopPolling();
  }

  async function poll(): Promise<void> {
    pollTimer = setTimeout(poll, jitter(POLL_MS));
    if (!navigator.onLine) return;
    // A failure is ignored, because the next refetch may succeed.
    await Promise.all([refetchVisible(reader), refetchBoards(client)]).catch(() => {});
  }

  function stopPolling(): void {
    clearTimeout(pollTimer);
    pollTimer = undefined;
  }

  function begin(): void {
    clearTimeout(hiddenTimer);
    isLookedAt = document.visibilityState === 'visible';
    if (isLookedAt) follow();
  }

  function rest(): void {
    clearTimeout(hiddenTimer);
    isLookedAt = false;
    leave();
  }

  client.getQueryCache().subscribe(({ type }) => {
    // The visible data may have changed. A hidden tab follows when it becomes visible.
    if (type !== 'updated' && type !== 'observerAdded' && type !== 'observerRemoved') return;
    if (isLookedAt) followTimer ??= setTimeout(follow, 0);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(rest, HIDDEN_MS);
    else begin();
  });
  // Browsers do not put a page with an open stream or a lock into their back/forward cache.
  window.addEventListener('pagehide', rest);
  window.addEventListener('pageshow', begin);
  begin();
  return { launches };
}

/**
 * Returns a function that schedules a refetch. Several calls cause one refetch, at a random delay, so browsers do not all
 * refetch at the same moment.
 */
function later(ms: number, read: () => Promise<void>): () => void {
  let isComing = false;
  let notBefore = 0;
  return () => {
    if (isComing) return;
    isComing = true;
    setTimeout(
      () => {
        isComing = false;
        notBefore = performance.now() + REST_MS;
        // A failure is ignored, because the next change or stream requests another refetch.
        void read().catch(() => {});
      },
      Math.max(jitter(ms), notBefore - performance.now()),
    );
  };
}
