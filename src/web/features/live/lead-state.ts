import type { StreamEnd } from './event-stream.ts';

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 120_000;

/** After this many failures, or after one refusal by the server, tabs poll until a stream opens. */
const ATTEMPTS_BEFORE_LOST = 3;

/**
 * The state of the leader's stream. `failures` counts consecutive failed attempts; an update or a heartbeat resets it.
 * `isLost` is true if the tabs were told that there is no stream, and none has opened since.
 */
export type LeadState = { failures: number; isLost: boolean } & (
  | { kind: 'idle' }
  | { kind: 'streaming' }
  /** The stream is being closed, and will be reopened with other subscriptions. */
  | { kind: 'reopening' }
  | { kind: 'pausing' }
  | { kind: 'stopped' }
);

/** What happens to the leader and its stream. `hasTabs`: whether any tab is subscribed. */
export type LeadEvent =
  | { kind: 'changed'; hasTabs: boolean }
  | { kind: 'opened' }
  | { kind: 'received' }
  /** The stream ended. The growing delay before the next attempt is multiplied by `jitter`. */
  | { kind: 'ended'; end: StreamEnd; jitter: number; hasTabs: boolean }
  | { kind: 'resumed'; hasTabs: boolean }
  | { kind: 'closed' };

export type LeadEffect = { kind: 'open' } | { kind: 'abort' } | { kind: 'lost' } | { kind: 'pause'; ms: number };

interface LeadStep {
  state: LeadState;
  effects: readonly LeadEffect[];
}

export const NO_STREAM: LeadState = { kind: 'idle', failures: 0, isLost: false };

/**
 * Returns the next state and the effects to run. While any tab is subscribed, one stream is open. It is reopened
 * immediately when subscriptions change, and after a growing delay when it fails.
 */
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
