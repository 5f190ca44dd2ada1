/** A hidden tab keeps its stream for this long, because many visitors look at another tab only briefly. */
const HIDDEN_TIMEOUT_MS = 10_000;

const FIRST_POLL_DELAY_MS = 10_000;
const POLL_INTERVAL_MS = 60_000;

/** This tab's subscription, and the time up to which all changes are known. Times are in milliseconds since 1970. */
export type LiveState = {
  /** The products of the latest subscription. */
  subscribedIds: readonly string[];
  /**
   * Whether a stream has opened for `subscribedIds`. If so, all changes to these products up to the stream's latest
   * event id are known.
   */
  isCovered: boolean;
  /**
   * The server's time up to which all changes to the products on screen are known. The next stream starts at this time.
   */
  knownUpTo: number;
  /**
   * A lower bound on the milliseconds by which the server's clock is ahead of the browser's. It is derived from
   * received server times, which have already passed when they arrive.
   */
  aheadMs: number;
} & (
  | { kind: 'subscribed' }
  /** The page is subscribed, but polls because no stream is available. */
  | { kind: 'polling' }
  /** The page shows nothing that a stream updates. */
  | { kind: 'unsubscribed' }
  /** The tab has been hidden for `HIDDEN_TIMEOUT_MS`, or the page is in the back/forward cache. */
  | { kind: 'hidden' }
);

/** What the page shows, as of `readAt` (browser time). */
interface View {
  productIds: readonly string[];
  readAt: number;
  hasBoard: boolean;
}

/** The events that a `delay` effect dispatches later. */
export type DelayedEvent = 'hidden' | 'pollDue';

export type LiveEvent =
  /** The page became visible. */
  | ({ kind: 'shown' } & View)
  /** The data on screen may have changed. */
  | ({ kind: 'changed' } & View)
  /** The visitor switched to another tab, perhaps only for a moment. */
  | { kind: 'tabHidden' }
  /** The tab stayed hidden for `HIDDEN_TIMEOUT_MS`, or the visitor left the page. */
  | { kind: 'hidden' }
  /** An open stream covers the subscription. */
  | { kind: 'opened' }
  /** No stream is available until the next `opened`. */
  | { kind: 'lost' }
  | { kind: 'pollDue' }
  /** Everything up to `upTo` (server time) was received, at `at` (browser time). */
  | { kind: 'received'; upTo: number; at: number };

export type LiveEffect =
  | { kind: 'subscribe'; productIds: readonly string[]; since: number }
  /** Ends the subscription. */
  | { kind: 'leave' }
  | { kind: 'poll' }
  /** Dispatches the event after `ms`. Replaces a pending delay of the same event. */
  | { kind: 'delay'; event: DelayedEvent; ms: number }
  | { kind: 'cancel'; event: DelayedEvent };

interface LiveStep {
  state: LiveState;
  effects: readonly LiveEffect[];
}

export function initialLiveState(aheadMs: number): LiveState {
  return { kind: 'hidden', subscribedIds: [], isCovered: false, knownUpTo: Number.POSITIVE_INFINITY, aheadMs };
}

/**
 * Returns the next state and the effects to run. A visible page subscribes to its products, starting at the time up to
 * which all their changes are known. It polls while there is no stream.
 */
export function step(state: LiveState, event: LiveEvent): LiveStep {
  switch (event.kind) {
    case 'shown': {
      const next = follow(state, event);
      return { state: next.state, effects: [{ kind: 'cancel', event: 'hidden' }, ...next.effects] };
    }
    case 'changed':
      return state.kind === 'hidden' ? { state, effects: [] } : follow(state, event);
    case 'tabHidden':
      if (state.kind === 'hidden') return { state, effects: [] };
      return { state, effects: [{ kind: 'delay', event: 'hidden', ms: HIDDEN_TIMEOUT_MS }] };
    case 'hidden':
      return { state: { ...state, kind: 'hidden' }, effects: leave(state) };
    case 'opened':
      if (!isSubscribed(state)) return { state, effects: [] };
      return { state: { ...state, kind: 'subscribed', isCovered: true }, effects: stopPolling(state) };
    case 'lost':
      if (state.kind !== 'subscribed') return { state, effects: [] };
      return {
        state: { ...state, kind: 'polling' },
        effects: [{ kind: 'delay', event: 'pollDue', ms: FIRST_POLL_DELAY_MS }],
      };
    case 'pollDue':
      if (state.kind !== 'polling') return { state, effects: [] };
      return { state, effects: [{ kind: 'poll' }, { kind: 'delay', event: 'pollDue', ms: POLL_INTERVAL_MS }] };
    case 'received': {
      const aheadMs = Math.max(state.aheadMs, event.upTo - event.at);
      const knownUpTo = state.isCovered ? event.upTo : state.knownUpTo;
      return { state: { ...state, aheadMs, knownUpTo }, effects: [] };
    }
  }
}

function follow(state: LiveState, { productIds, readAt, hasBoard }: View): LiveStep {
  // A stream without product ids carries the counts of the whole site, which only a leaderboard needs.
  const needsStream = productIds.length > 0 || hasBoard;
  const isSame = isSubscribed(state) && productIds.join() === state.subscribedIds.join();
  if (isSame && needsStream) return { state, effects: [] };
  // All changes up to the last event of an open stream are known, even if the data on screen is from older responses.
  const isKnown = state.isCovered && productIds.every((id) => state.subscribedIds.includes(id));
  const since = isKnown ? state.knownUpTo : Math.min(state.knownUpTo, readAt + state.aheadMs);
  const next = { ...state, subscribedIds: productIds, knownUpTo: since };
  if (!needsStream) return { state: { ...next, kind: 'unsubscribed' }, effects: leave(state) };
  return {
    state: { ...next, kind: isSubscribed(state) ? state.kind : 'subscribed', isCovered: false },
    effects: [{ kind: 'subscribe', productIds, since }],
  };
}

function leave(state: LiveState): LiveEffect[] {
  return isSubscribed(state) ? [{ kind: 'leave' }, ...stopPolling(state)] : [];
}

function stopPolling(state: LiveState): LiveEffect[] {
  return state.kind === 'polling' ? [{ kind: 'cancel', event: 'pollDue' }] : [];
}

function isSubscribed(state: LiveState): state is LiveState & { kind: 'subscribed' | 'polling' } {
  return state.kind === 'subscribed' || state.kind === 'polling';
}
