import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { LiveSubject } from '../../contract/console/records.ts';
import { readEvents, type ServerEvent } from '../../web/features/live/event-stream.ts';
import { consoleKeys } from './console-api.ts';

/** The subjects of the queries whose data is stale after each kind of change. */
const SUBJECTS_BY_CHANGE: Record<LiveSubject, readonly string[]> = {
  audit: ['audit', 'overview'],
  queue: ['queue', 'votes', 'waiting', 'overview'],
  // Removing a product also removes its comments and bursts. Excluding votes is reported as a change to the product.
  products: ['products', 'product', 'comments', 'votes', 'waiting', 'overview', 'queue'],
  comments: ['comments', 'waiting'],
  counts: ['products', 'comments', 'votes', 'overview'],
};

/** Changes often follow each other quickly, so data is refetched after a delay, which is longer for counts. */
const REFRESH_MS = { change: 500, counts: 10_000 };

/**
 * The delay before reconnecting, unless the server requests another one. A requested delay is limited to
 * `MAX_RECONNECT_MS`, because a proxy may request hours. Random jitter at most doubles either delay.
 */
const RECONNECT_MS = 3_000;
const MAX_RECONNECT_MS = 60_000;

/**
 * A tab that is hidden for this long closes its stream. Over HTTP/1.1, browsers allow six connections to a site, so the
 * streams of six tabs would block all other requests.
 */
const HIDDEN_GRACE_MS = 10_000;

/** Returns whether the tab has been hidden for `HIDDEN_GRACE_MS`. */
function useHidden(): boolean {
  const [isHidden, setHidden] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let hiddenAt = Number.POSITIVE_INFINITY;
    function update(): void {
      clearTimeout(timer);
      if (document.visibilityState === 'visible') {
        // The timer does not run while the device sleeps, and the stream may have ended unnoticed. Setting the state
        // twice reopens the stream.
        if (Date.now() - hiddenAt >= HIDDEN_GRACE_MS) flushSync(() => setHidden(true));
        setHidden(false);
      } else {
        hiddenAt = Date.now();
        timer = setTimeout(() => setHidden(true), HIDDEN_GRACE_MS);
      }
    }
    update();
    document.addEventListener('visibilitychange', update);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', update);
    };
  }, []);
  return isHidden;
}

/**
 * Refetches data when the server reports changes, unless `isPaused` is set or the tab is hidden.
 * @returns whether the stream is connected.
 */
export function useLiveUpdates(isPaused: boolean): boolean {
  const client = useQueryClient();
  const [isConnected, setConnected] = useState(true);
  const isHidden = useHidden();

  useEffect(() => {
    if (isPaused || isHidden) return;
    const closed = new AbortController();
    const timers = new Map<string, ReturnType<typeof setTimeout>>();
    const refetch = (subject: string, ms: number) => {
      const key = `${subject} ${ms}`;
      if (timers.has(key)) return;
      timers.set(
        key,
        setTimeout(() => {
          timers.delete(key);
          const queryKey = consoleKeys.subject(subject);
          // Waits for a running request. Invalidating its query would cancel the request or, if it is the query's first
          // one, have no effect.
          if (client.isFetching({ queryKey }) > 0) refetch(subject, ms);
          else void client.invalidateQueries({ queryKey });
        }, ms),
      );
    };
    const refetchAll = () => {
      for (const subject of Object.values(SUBJECTS_BY_CHANGE).flat()) refetch(subject, REFRESH_MS.change);
    };
    const handlers = {
      onOpen() {
        setConnected(true);
        // Changes before this event were not reported, so any data that was read earlier may be stale.
        refetchAll();
        // Another operator may have signed in through another window.
        refetch('session', REFRESH_MS.change);
      },
      onEvent({ event, data }: ServerEvent) {
        if (event === 'gap') refetchAll();
        if (event !== 'change') return;
        for (const kind of JSON.parse(data) as LiveSubject[]) {
          for (const subject of SUBJECTS_BY_CHANGE[kind])
            refetch(subject, kind === 'counts' ? REFRESH_MS.counts : REFRESH_MS.change);
        }
      },
      onId() {},
    };
    async function connect(): Promise<void> {
      const { status, waitMs = RECONNECT_MS } = await readEvents(CONSOLE_API.events, handlers, closed.signal);
      if (closed.signal.aborted) return;
      setConnected(false);
      timers.set('reconnect', setTimeout(reconnect, Math.min(waitMs, MAX_RECONNECT_MS) * (1 + Math.random())));
      // If the server refuses the stream, a request for the session shows whether the session has ended.
      if (status >= 400) void client.invalidateQueries({ queryKey: consoleKeys.session });
    }
    /** Makes a scheduled connection attempt now. */
    function reconnect(): void {
      clearTimeout(timers.get('reconnect'));
      if (timers.delete('reconnect')) void connect();
    }
    void connect();
    window.addEventListener('online', reconnect, { signal: closed.signal });
    return () => {
      closed.abort();
      for (const timer of timers.values()) clearTimeout(timer);
    };
  }, [client, isPaused, isHidden]);

  return isConnected;
}
