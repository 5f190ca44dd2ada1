import { LIMITS } from '../../../contract/limits.ts';
import { LIVE_PARAMETERS } from '../../../contract/live/events.ts';
import { paths } from '../../../contract/paths.ts';
import { readEvents, type ServerEvent, type StreamEnd } from './event-stream.ts';

/** A tab's subscription. */
export interface Want {
  tab: string;
  /** The number of this subscription in its tab. A later one replaces an earlier one. */
  number: number;
  productIds: readonly string[];
  /** The server's time, in milliseconds since 1970, up to which the tab knows all changes. */
  since: number;
}

/** Messages between the tabs of a browser. One tab leads: it holds the stream for all. */
export type TabMessage =
  | { kind: 'want'; want: Want }
  | { kind: 'leave'; tab: string }
  /** Sent by a new leader: tabs repeat their subscriptions. */
  | { kind: 'who' }
  /** The stream is open; for each tab, the number of the subscription that it covers. */
  | { kind: 'open'; answers: Readonly<Record<string, number>> }
  /** There is no stream for now, so tabs poll. */
  | { kind: 'lost' }
  /** `all` tells that the stream carries every change of the site except comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 120_000;

/** After this many failures, tabs poll until an attempt succeeds. */
const ATTEMPTS_BEFORE_LOST = 3;

/** Changed subscriptions are collected for this long, because they come in bursts and each change needs another stream. */
const GATHER_MS = 300;

export interface Lead {
  take(want: Want): void;
  drop(tab: string): void;
  close(): void;
}

/** Keeps one stream open for the subscriptions of all tabs, and forwards its events. */
export function leadStream(say: (message: TabMessage) => void): Lead {
  const wants = new Map<string, Want>();
  const closed = new AbortController();
  let attempt = new AbortController();
  /** Consecutive streams that ended before their first event. */
  let failures = 0;
  let isLost = false;
  let change = signalOnce();
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Reopens the stream with the current subscriptions, after a short delay. */
  function renew(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      attempt.abort();
      change.give();
    }, GATHER_MS);
  }

  async function run(): Promise<void> {
    while (!closed.signal.aborted) {
      if (wants.size === 0) {
        await change.given;
        change = signalOnce();
        continue;
      }
      attempt = new AbortController();
      const { signal } = attempt;
      const end = await openOnce(AbortSignal.any([signal, closed.signal]));
      if (closed.signal.aborted) return;
      // The stream was closed on purpose, so it is reopened without delay.
      if (signal.aborted) continue;
      // In the protocol of event streams, 204 tells clients not to reconnect.
      if (end.status === 204) return;
      await pause(judge(end), closed.signal);
    }
  }

  function openOnce(signal: AbortSignal): Promise<StreamEnd> {
    const asked = [...wants.values()];
    const productIds = [...new Set(asked.flatMap((want) => want.productIds))].sort();
    const all = productIds.length > LIMITS.eventProducts;
    const since = Math.min(...asked.map((want) => want.since));
    const query = new URLSearchParams({ [LIVE_PARAMETERS.since]: String(Math.max(0, Math.floor(since))) });
    if (!all) query.set(LIVE_PARAMETERS.products, productIds.join(','));
    let isBegun = false;
    const handlers = {
      onOpen() {
        isLost = false;
        say({ kind: 'open', answers: Object.fromEntries(asked.map((want) => [want.tab, want.number])) });
      },
      onEvent: (event: { event: string; data: string }) => say({ kind: 'event', all, ...event }),
      onId(id: string) {
        // The first id becomes valid only with the missed changes, which follow it, so it is ignored.
        if (!isBegun) {
          isBegun = true;
          return;
        }
        failures = 0;
        const since = Number(id);
        for (const { tab, number } of asked) {
          const want = wants.get(tab);
          if (want?.number === number) wants.set(tab, { ...want, since });
        }
        say({ kind: 'id', id: since });
      },
    };
    return readEvents(`${paths.api.events}?${query}`, handlers, signal);
  }

  /** How long to wait after a stream ended. Also tells the tabs if the stream is lost for now. */
  function judge({ status, waitMs = 0 }: StreamEnd): number {
    failures += 1;
    const isRefused = status !== 0 && status !== 200;
    if ((isRefused || failures >= ATTEMPTS_BEFORE_LOST) && !isLost) {
      isLost = true;
      say({ kind: 'lost' });
    }
    const backOffMs = jitter(Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1)));
    // All refused clients are told the same time, so each adds its own random delay.
    return isRefused ? waitMs + backOffMs : Math.max(waitMs, backOffMs);
  }

  void run();
  return {
    take(want) {
      const before = wants.get(want.tab);
      if (before && before.number >= want.number) return;
      wants.set(want.tab, want);
      if (isLost) say({ kind: 'lost' });
      renew();
    },
    drop(tab) {
      if (wants.delete(tab)) renew();
    },
    close() {
      clearTimeout(timer);
      closed.abort();
      change.give();
    },
  };
}

function signalOnce(): { given: Promise<void>; give(): void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

/** Waits for a time, or until the network is back. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener('online', end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    window.addEventListener('online', end);
    signal.addEventListener('abort', end);
  });
}

/** A random time from half to one and a half times as long, so many browsers do not act at the same moment. */
export function jitter(ms: number): number {
  return ms * (0.5 + Math.random());
}
