import type { QueryClient } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import { LIVE_EVENTS } from '../../../contract/live/events.ts';
import type { LiveComment, LiveCounts } from '../../../contract/live/schema.ts';
import { createNewsTaker } from './apply-news.ts';
import { createLaunchWatch, type LaunchWatch } from './launch-watch.ts';
import { readCommentsAgain, readShownAgain } from './read-again.ts';
import { shownProductId, shownProducts } from './shown.ts';
import { spreadMs } from './spread.ts';
import { joinFeed, type TabFeed } from './tab-feed.ts';

/** Somebody who only glances at another tab comes back to a stream that is still open. */
const HIDDEN_MS = 10_000;

const POLL_MS = 60_000;
const FIRST_POLL_MS = 10_000;

/** All open pages hear of the same change at once, and should not ask at once. */
const READ_MS = 1_500;

/** An import changes the catalogue many times in a row. */
const REST_MS = 5_000;

export interface LiveUpdates {
  launches: LaunchWatch;
}

interface LiveOptions {
  api: ReadApi;
  client: QueryClient;
  /** The server's time at which the document was made, in milliseconds since 1970. */
  renderedAt: number;
}

/** Keeps the counts on screen as the site has them, for as long as the page lives and is looked at. */
export function startLive({ api, client, renderedAt }: LiveOptions): LiveUpdates {
  const taker = createNewsTaker(client);
  const launches = createLaunchWatch(api, client);
  const reader = { api, client, taker, launches };
  const readAgain = later(READ_MS, () => readShownAgain(reader));
  const checkLaunches = later(READ_MS, () => launches.check());
  const readComments = later(READ_MS, async () => {
    const productId = shownProductId(client);
    if (productId !== undefined) await readCommentsAgain(reader, productId);
  });

  /** By how much the server's clock is ahead of this one, at least: what it says is never later than its now. */
  let aheadMs = renderedAt - Date.now();
  let feed: TabFeed | undefined;
  let wanted: readonly string[] = [];
  /** The server's time up to which all that is on screen is known. */
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
    const { productIds, readAt } = shownProducts(client);
    if (feed && productIds.join() === wanted.join()) return;
    // Of what a stream told of already, everything up to its last word is known, however old the answers are.
    const isKnown = isAnswered && productIds.every((id) => wanted.includes(id));
    if (!isKnown) knownUpTo = Math.min(knownUpTo, readAt + aheadMs);
    wanted = productIds;
    if (productIds.length === 0) {
      leave();
      return;
    }
    isAnswered = false;
    feed ??= join();
    feed.want({ productIds, since: knownUpTo });
  }

  function join(): TabFeed {
    return joinFeed({
      onOpen() {
        isAnswered = true;
        stopPolling();
      },
      onLost() {
        pollTimer ??= setTimeout(poll, spreadMs(FIRST_POLL_MS));
      },
      onEvent({ event, data, all }) {
        if (event === LIVE_EVENTS.counts) taker.tell({ counts: JSON.parse(data) as LiveCounts[] });
        else if (event === LIVE_EVENTS.comments) taker.tell({ comments: JSON.parse(data) as LiveComment[] });
        else if (event === LIVE_EVENTS.catalogue) checkLaunches();
        else if (event === LIVE_EVENTS.refetch) readAgain();
        // A stream of everything has no comments in it.
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
    pollTimer = setTimeout(poll, spreadMs(POLL_MS));
    if (!navigator.onLine) return;
    // The next one may do better.
    await readShownAgain(reader).catch(() => {});
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
    // A change of what is on screen; for a tab that nobody sees, when somebody does.
    if (type !== 'updated' && type !== 'observerAdded' && type !== 'observerRemoved') return;
    if (isLookedAt) followTimer ??= setTimeout(follow, 0);
  });
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') hiddenTimer = setTimeout(rest, HIDDEN_MS);
    else begin();
  });
  // With a stream or a lock, the page could not be kept for when one comes back to it.
  window.addEventListener('pagehide', rest);
  window.addEventListener('pageshow', begin);
  begin();
  return { launches };
}

/** A reading that is asked for once or often, done once, and not by all browsers at the same moment. */
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
        // What changes next, or a stream that is opened next, asks for it again.
        void read().catch(() => {});
      },
      Math.max(spreadMs(ms), notBefore - performance.now()),
    );
  };
}
