import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import type { LiveSubject } from '../../contract/console/records.ts';
import { consoleKeys } from './console-api.ts';

/** The subjects of the queries whose data is stale after each kind of change. */
const STALE: Record<LiveSubject, readonly string[]> = {
  audit: ['audit', 'overview'],
  queue: ['queue', 'votes', 'waiting', 'overview'],
  // Removing a product also removes its comments and bursts. Excluding votes is reported as a change of the product.
  products: ['products', 'product', 'comments', 'votes', 'waiting', 'overview', 'queue'],
  comments: ['comments', 'waiting'],
  counts: ['products', 'comments', 'votes', 'overview'],
};

/** Changes often follow each other quickly, so data is refetched after a delay, which is longer for counts. */
const REFRESH_MS = { change: 500, counts: 10_000 };

/** The average delay before a new stream is opened after the server has refused one. */
const RECONNECT_MS = 5_000;

/**
 * Refetches data when the server reports changes to the site, unless `isPaused` is set.
 * @returns whether the stream is connected.
 */
export function useLiveUpdates(isPaused: boolean): boolean {
  const client = useQueryClient();
  const [isConnected, setConnected] = useState(true);

  useEffect(() => {
    if (isPaused) return;
    let stream: EventSource;
    let reconnect: ReturnType<typeof setTimeout>;
    const timers = new Map<string, ReturnType<typeof setTimeout>>();
    const refetch = (subject: string, ms: number) => {
      const key = `${subject} ${ms}`;
      if (timers.has(key)) return;
      timers.set(
        key,
        setTimeout(() => {
          timers.delete(key);
          void client.invalidateQueries({ queryKey: consoleKeys.subject(subject) });
        }, ms),
      );
    };
    const refetchAll = () => {
      for (const subject of Object.values(STALE).flat()) refetch(subject, REFRESH_MS.change);
    };
    function connect(): void {
      stream = new EventSource(CONSOLE_API.events);
      stream.addEventListener('ready', () => {
        setConnected(true);
        // Changes before this event were not reported, so any data that was read earlier may be stale.
        refetchAll();
      });
      stream.addEventListener('change', ({ data }: MessageEvent<string>) => {
        for (const kind of JSON.parse(data) as LiveSubject[]) {
          for (const subject of STALE[kind])
            refetch(subject, kind === 'counts' ? REFRESH_MS.counts : REFRESH_MS.change);
        }
      });
      stream.addEventListener('gap', refetchAll);
      stream.addEventListener('error', () => {
        setConnected(false);
        // The browser reconnects after a lost connection, but not after a response such as 503.
        if (stream.readyState !== EventSource.CLOSED) return;
        reconnect = setTimeout(connect, RECONNECT_MS * (0.5 + Math.random()));
        // The stream does not reveal the status, so another request finds out whether the session has ended.
        void client.invalidateQueries({ queryKey: consoleKeys.waiting });
      });
    }
    connect();
    return () => {
      clearTimeout(reconnect);
      for (const timer of timers.values()) clearTimeout(timer);
      stream.close();
    };
  }, [client, isPaused]);

  return isConnected;
}
