import { LIMITS } from '../../../contract/limits.ts';
import { LIVE_HEARTBEAT_S, LIVE_PARAMETERS } from '../../../contract/live/events.ts';
import * as paths from '../../../contract/paths.ts';
import { randomId } from '../../storage/session.ts';
import { readEvents, type ServerEvent } from './event-stream.ts';
import { type LeadEffect, type LeadEvent, NO_STREAM, step } from './lead-state.ts';
import { coalesce, jitter } from './timing.ts';

/** What a tab needs from the stream, which the tabs of a browser share. */
interface TabSubscription {
  tab: string;
  /** The sequence number of this subscription in its tab. A later subscription replaces an earlier one. */
  number: number;
  productIds: readonly string[];
  /** The server's time, in milliseconds since 1970, up to which the tab knows all changes. */
  since: number;
}

/** Messages between the tabs of a browser. One tab, the leader, holds the stream for all tabs. */
type TabMessage =
  | { kind: 'subscribe'; subscription: TabSubscription }
  | { kind: 'leave'; tab: string }
  /** Sent by a new leader, which asks all tabs to repeat their subscriptions. */
  | { kind: 'resubscribe' }
  /** The stream is open. `covered` maps each tab to the number of the subscription that the stream covers. */
  | { kind: 'open'; covered: Readonly<Record<string, number>> }
  /** No stream is available, so tabs poll until the next `open`. */
  | { kind: 'lost' }
  /** `all`: the stream carries the counts of all products, and no likes of comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };

/**
 * The name of the channel and of the lock. Change it when the messages change, because open tabs may run different
 * builds.
 */
const CHANNEL_NAME = 'live-3';

/**
 * A leader that sends nothing for three heartbeat intervals is probably frozen. Until it continues, the other tabs
 * poll.
 */
const LEADER_TIMEOUT_MS = 3 * LIVE_HEARTBEAT_S * 1_000;

export interface SharedStream {
  /** Sets the subscription of this tab. */
  subscribe(subscription: Omit<TabSubscription, 'tab' | 'number'>): void;
  /** Unsubscribes. If this tab leads, another tab takes over. */
  leave(): void;
}

/** Callbacks that each tab provides. */
export interface SharedStreamHandlers {
  /** Called when the stream is open and covers this tab's latest subscription. */
  onOpen(): void;
  onLost(): void;
  onEvent(event: Extract<TabMessage, { kind: 'event' }>): void;
  /** Called with a server time (ms) up to which all changes that the stream covers were received. */
  onId(id: number): void;
}

/**
 * Joins the one stream for all tabs of a browser: the tab that holds the lock opens the stream and forwards its events.
 * Without locks or channels, as on an insecure origin or if the browser blocks storage, each tab opens its own stream.
 */
export function joinSharedStream(handlers: SharedStreamHandlers): SharedStream {
  const tab = randomId() ?? String(Math.random());
  const left = new AbortController();
  let channel = openChannel();
  let ownSubscription: TabSubscription | undefined;
  let leader: StreamLeader | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  /** Restarts the timeout after which the leader is considered frozen. */
  function awaitLeader(): void {
    clearTimeout(silence);
    if (!leader) silence = setTimeout(handlers.onLost, LEADER_TIMEOUT_MS);
  }

  function broadcast(message: TabMessage): void {
    if (left.signal.aborted) return;
    channel?.postMessage(message);
    handleMessage(message);
  }

  function handleMessage(message: TabMessage): void {
    // Only the leader sends messages of the other kinds.
    if (message.kind !== 'subscribe' && message.kind !== 'leave') awaitLeader();
    if (message.kind === 'subscribe') leader?.subscribe(message.subscription);
    else if (message.kind === 'leave') leader?.unsubscribe(message.tab);
    else if (message.kind === 'resubscribe') {
      if (ownSubscription) broadcast({ kind: 'subscribe', subscription: ownSubscription });
    } else if (message.kind === 'open') {
      if (ownSubscription && message.covered[tab] === ownSubscription.number) handlers.onOpen();
    } else if (message.kind === 'lost') handlers.onLost();
    else if (message.kind === 'event') handlers.onEvent(message);
    else handlers.onId(message.id);
  }

  function startLeading(): void {
    leader = leadStream(broadcast);
    broadcast({ kind: 'resubscribe' });
  }

  if (channel) {
    channel.onmessage = ({ data }) => handleMessage(data as TabMessage);
    navigator.locks
      .request(CHANNEL_NAME, { signal: left.signal }, () => {
        if (left.signal.aborted) return;
        startLeading();
        return new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()));
      })
      .catch(() => {
        // The tab left before it acquired the lock.
        if (left.signal.aborted) return;
        channel?.close();
        channel = undefined;
        startLeading();
      });
  } else startLeading();

  return {
    subscribe(subscription) {
      ownSubscription = { ...subscription, tab, number: (ownSubscription?.number ?? 0) + 1 };
      broadcast({ kind: 'subscribe', subscription: ownSubscription });
      if (silence === undefined) awaitLeader();
    },
    leave() {
      clearTimeout(silence);
      broadcast({ kind: 'leave', tab });
      leader?.close();
      left.abort();
      channel?.close();
    },
  };
}

/** Returns the channel between the tabs of this browser, or `undefined` if locks or channels are unavailable. */
function openChannel(): BroadcastChannel | undefined {
  try {
    return 'locks' in navigator ? new BroadcastChannel(CHANNEL_NAME) : undefined;
  } catch {
    // With cookies blocked, Firefox throws a SecurityError.
    return undefined;
  }
}

/**
 * The delay that combines several changes of subscriptions, which often follow each other quickly, into one new stream.
 */
const RESUBSCRIBE_DELAY_MS = 300;

interface StreamLeader {
  subscribe(subscription: TabSubscription): void;
  unsubscribe(tab: string): void;
  close(): void;
}

/** Keeps one stream open for the subscriptions of all tabs, and forwards its events. */
function leadStream(broadcast: (message: TabMessage) => void): StreamLeader {
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
      onEvent: (event: ServerEvent) => broadcast({ kind: 'event', all, ...event }),
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

/** Returns the stream that covers these subscriptions. `all`: they have more products than a stream can list. */
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
