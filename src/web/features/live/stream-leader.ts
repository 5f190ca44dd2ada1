import { LIMITS } from '../../../contract/limits.ts';
import { LIVE_PARAMETERS } from '../../../contract/live/events.ts';
import * as paths from '../../../contract/paths.ts';
import { readEvents, type ServerEvent } from './event-stream.ts';
import { type LeadEffect, type LeadEvent, NO_STREAM, step } from './lead-state.ts';
import { coalesce, jitter } from './timing.ts';

/** What a tab needs from the stream, which the tabs of a browser share. */
export interface TabSubscription {
  tab: string;
  /** The number of this subscription in its tab. A later one replaces an earlier one. */
  number: number;
  productIds: readonly string[];
  /** The server's time, in milliseconds since 1970, up to which the tab knows all changes. */
  since: number;
}

/** Messages between the tabs of a browser. One tab leads: it holds the stream for all. */
export type TabMessage =
  | { kind: 'subscribe'; subscription: TabSubscription }
  | { kind: 'leave'; tab: string }
  /** Sent by a new leader, which asks all tabs to repeat their subscriptions. */
  | { kind: 'resubscribe' }
  /** The stream is open. `covered` maps each tab to the number of the subscription that the stream covers. */
  | { kind: 'open'; covered: Readonly<Record<string, number>> }
  /** No stream is available, so tabs poll until the next `open`. */
  | { kind: 'lost' }
  /** `all`: the stream carries every change of the site except comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };

/**
 * The delay for collecting changed subscriptions, which often change several times at once. Each change needs a new
 * stream.
 */
const RESUBSCRIBE_DELAY_MS = 300;

export interface StreamLeader {
  subscribe(subscription: TabSubscription): void;
  unsubscribe(tab: string): void;
  close(): void;
}

/** Keeps one stream open for the subscriptions of all tabs, and forwards its events. */
export function leadStream(broadcast: (message: TabMessage) => void): StreamLeader {
  const subscriptions = new Map<string, TabSubscription>();
  const closed = new AbortController();
  let attempt = new AbortController();
  let state = NO_STREAM;
  /** Reopens the stream with the current subscriptions. */
  const renew = coalesce(
    () => dispatch({ kind: 'changed', hasTabs: subscriptions.size > 0 }),
    () => RESUBSCRIBE_DELAY_MS,
  );

  function dispatch(event: LeadEvent): void {
    const next = step(state, event);
    state = next.state;
    for (const effect of next.effects) apply(effect);
  }

  function apply(effect: LeadEffect): void {
    if (effect.kind === 'open') void open();
    else if (effect.kind === 'abort') attempt.abort();
    else if (effect.kind === 'lost') broadcast({ kind: 'lost' });
    else {
      void pause(effect.ms, closed.signal).then(() => dispatch({ kind: 'resumed', hasTabs: subscriptions.size > 0 }));
    }
  }

  async function open(): Promise<void> {
    attempt = new AbortController();
    const covered = [...subscriptions.values()];
    const { url, all } = streamFor(covered);
    const handlers = {
      onOpen() {
        dispatch({ kind: 'opened' });
        broadcast({ kind: 'open', covered: Object.fromEntries(covered.map((each) => [each.tab, each.number])) });
      },
      onEvent: (event: { event: string; data: string }) => broadcast({ kind: 'event', all, ...event }),
      onId(id: string) {
        dispatch({ kind: 'received' });
        const since = Number(id);
        for (const { tab, number } of covered) {
          const subscription = subscriptions.get(tab);
          if (subscription?.number === number) subscriptions.set(tab, { ...subscription, since });
        }
        broadcast({ kind: 'id', id: since });
      },
    };
    const end = await readEvents(url, handlers, attempt.signal);
    dispatch({ kind: 'ended', end, jitter: jitter(1), hasTabs: subscriptions.size > 0 });
  }

  return {
    subscribe(subscription) {
      const before = subscriptions.get(subscription.tab);
      if (before && before.number >= subscription.number) return;
      subscriptions.set(subscription.tab, subscription);
      if (state.isLost) broadcast({ kind: 'lost' });
      renew();
    },
    unsubscribe(tab) {
      if (subscriptions.delete(tab)) renew();
    },
    close() {
      closed.abort();
      dispatch({ kind: 'closed' });
    },
  };
}

/** Returns the stream that covers these subscriptions. `all`: it carries every change of the site except comments. */
function streamFor(covered: readonly TabSubscription[]): { url: string; all: boolean } {
  const productIds = [...new Set(covered.flatMap((each) => each.productIds))].sort();
  const all = productIds.length > LIMITS.eventProducts;
  const since = Math.min(...covered.map((each) => each.since));
  const query = new URLSearchParams({ [LIVE_PARAMETERS.since]: String(Math.max(0, Math.floor(since))) });
  if (!all) query.set(LIVE_PARAMETERS.products, productIds.join(','));
  return { url: `${paths.api.events}?${query}`, all };
}

/** Waits for `ms`, or until the network is available again or `signal` is aborted. */
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
