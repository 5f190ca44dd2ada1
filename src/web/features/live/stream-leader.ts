import { LIMITS } from '../../../contract/limits.ts';
import { LIVE_PARAMETERS } from '../../../contract/live/events.ts';
import { paths } from '../../../contract/paths.ts';
import { readEvents, type ServerEvent, type StreamEnd } from './event-stream.ts';
import { jitter } from './timing.ts';

/** A tab's subscription. */
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
  /** There is no stream for now, so tabs poll. */
  | { kind: 'lost' }
  /** `all`: the stream carries every change of the site except comments. */
  | ({ kind: 'event'; all: boolean } & ServerEvent)
  | { kind: 'id'; id: number };

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 120_000;

/** After this many failures, tabs poll until an attempt succeeds. */
const ATTEMPTS_BEFORE_LOST = 3;

/** Changed subscriptions are collected for this long, because they come in bursts and each change needs another stream. */
const RESUBSCRIBE_DELAY_MS = 300;

/**
 * The leader's stream. `failures` counts consecutive streams that ended before their first event; `isLost` is set after
 * the tabs were told that there is no stream for now.
 */
export type LeadState = { failures: number; isLost: boolean } & (
  | { kind: 'idle' }
  | { kind: 'streaming' }
  /** The stream is being closed, and will be reopened with other subscriptions. */
  | { kind: 'reopening' }
  | { kind: 'pausing' }
  | { kind: 'stopped' }
);

/** `hasTabs`: whether any tab is subscribed. */
export type LeadEvent =
  | { kind: 'changed'; hasTabs: boolean }
  | { kind: 'opened' }
  | { kind: 'received' }
  /** The stream ended. The delay before the next attempt is multiplied by `jitter`. */
  | { kind: 'ended'; end: StreamEnd; jitter: number; hasTabs: boolean }
  | { kind: 'resumed'; hasTabs: boolean }
  | { kind: 'closed' };

export type LeadEffect = { kind: 'open' } | { kind: 'abort' } | { kind: 'lost' } | { kind: 'pause'; ms: number };

interface LeadStep {
  state: LeadState;
  effects: readonly LeadEffect[];
}

export const NO_STREAM: LeadState = { kind: 'idle', failures: 0, isLost: false };

/** Pure: keeps one stream, reopened immediately after subscriptions change, and after a growing delay if it fails. */
export function step(state: LeadState, event: LeadEvent): LeadStep {
  if (state.kind === 'stopped') return { state, effects: [] };
  switch (event.kind) {
    case 'changed':
      if (state.kind === 'streaming') return { state: { ...state, kind: 'reopening' }, effects: [{ kind: 'abort' }] };
      return state.kind === 'idle' ? openIf(event.hasTabs, state) : { state, effects: [] };
    case 'opened':
      return { state: { ...state, isLost: false }, effects: [] };
    case 'received':
      return { state: { ...state, failures: 0 }, effects: [] };
    case 'ended':
      if (state.kind === 'reopening') return openIf(event.hasTabs, state);
      // For event streams, status 204 tells clients not to reconnect.
      if (event.end.status === 204) return { state: { ...state, kind: 'stopped' }, effects: [] };
      return backOff(state, event.end, event.jitter);
    case 'resumed':
      return state.kind === 'pausing' ? openIf(event.hasTabs, state) : { state, effects: [] };
    case 'closed':
      return { state: { ...state, kind: 'stopped' }, effects: [{ kind: 'abort' }] };
  }
}

function openIf(hasTabs: boolean, { failures, isLost }: LeadState): LeadStep {
  return hasTabs
    ? { state: { kind: 'streaming', failures, isLost }, effects: [{ kind: 'open' }] }
    : { state: { kind: 'idle', failures, isLost }, effects: [] };
}

function backOff(state: LeadState, { status, waitMs = 0 }: StreamEnd, jitterFactor: number): LeadStep {
  const failures = state.failures + 1;
  const isRefused = status !== 0 && status !== 200;
  const isLost = state.isLost || isRefused || failures >= ATTEMPTS_BEFORE_LOST;
  const backOffMs = jitterFactor * Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));
  // The server tells all refused clients to wait equally long, so each client adds a random delay.
  const ms = isRefused ? waitMs + backOffMs : Math.max(waitMs, backOffMs);
  return {
    state: { kind: 'pausing', failures, isLost },
    effects: [...(isLost && !state.isLost ? [{ kind: 'lost' } as const] : []), { kind: 'pause', ms }],
  };
}

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
  let timer: ReturnType<typeof setTimeout> | undefined;

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

  /** Reopens the stream with the current subscriptions, after a short delay. */
  function renew(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      dispatch({ kind: 'changed', hasTabs: subscriptions.size > 0 });
    }, RESUBSCRIBE_DELAY_MS);
  }

  async function open(): Promise<void> {
    attempt = new AbortController();
    const covered = [...subscriptions.values()];
    const productIds = [...new Set(covered.flatMap((each) => each.productIds))].sort();
    const all = productIds.length > LIMITS.eventProducts;
    const since = Math.min(...covered.map((each) => each.since));
    const query = new URLSearchParams({ [LIVE_PARAMETERS.since]: String(Math.max(0, Math.floor(since))) });
    if (!all) query.set(LIVE_PARAMETERS.products, productIds.join(','));
    let isBegun = false;
    const handlers = {
      onOpen() {
        dispatch({ kind: 'opened' });
        broadcast({ kind: 'open', covered: Object.fromEntries(covered.map((each) => [each.tab, each.number])) });
      },
      onEvent: (event: { event: string; data: string }) => broadcast({ kind: 'event', all, ...event }),
      onId(id: string) {
        // The first id is ignored: the server sends it before the missed changes, so it does not confirm them.
        if (!isBegun) {
          isBegun = true;
          return;
        }
        dispatch({ kind: 'received' });
        const since = Number(id);
        for (const { tab, number } of covered) {
          const subscription = subscriptions.get(tab);
          if (subscription?.number === number) subscriptions.set(tab, { ...subscription, since });
        }
        broadcast({ kind: 'id', id: since });
      },
    };
    const end = await readEvents(`${paths.api.events}?${query}`, handlers, attempt.signal);
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
      clearTimeout(timer);
      closed.abort();
      dispatch({ kind: 'closed' });
    },
  };
}

/** Waits for `ms`, or until the network is available again. */
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
