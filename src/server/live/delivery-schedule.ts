/**
 * Whether a delivery is scheduled or running. `notBefore` is the earliest time of the next delivery, in milliseconds on
 * a monotonic clock. `isFailing` is set from a failed delivery until the next successful one.
 */
export type DeliveryState =
  | { kind: 'idle'; notBefore: number; isFailing: boolean }
  | { kind: 'scheduled'; notBefore: number; isFailing: boolean }
  | { kind: 'delivering'; isFailing: boolean };

export type DeliveryEvent =
  /** There is something to deliver. */
  | { kind: 'changed'; at: number }
  /** The timer fired. */
  | { kind: 'due' }
  /** The database was read at `readAt`, and all frames were sent. */
  | { kind: 'delivered'; readAt: number; at: number; hasMore: boolean }
  | { kind: 'failed'; at: number; error: unknown; hasMore: boolean }
  /** The last stream has closed. */
  | { kind: 'abandoned' };

export type DeliveryEffect =
  | { kind: 'wait'; ms: number }
  | { kind: 'cancelWait' }
  | { kind: 'deliver' }
  | { kind: 'warn'; error: unknown };

interface DeliveryStep {
  state: DeliveryState;
  effects: readonly DeliveryEffect[];
}

export const NOTHING_TO_DELIVER: DeliveryState = { kind: 'idle', notBefore: 0, isFailing: false };

/**
 * Returns the next state and the effects to run. Deliveries run one at a time, at most one per `intervalMs`, or one per
 * `retryMs` after a failure.
 */
export function step(
  state: DeliveryState,
  event: DeliveryEvent,
  { intervalMs, retryMs }: { intervalMs: number; retryMs: number },
): DeliveryStep {
  switch (event.kind) {
    case 'changed':
      return state.kind === 'idle' ? schedule(state, event.at) : { state, effects: [] };
    case 'due':
      if (state.kind !== 'scheduled') return { state, effects: [] };
      return { state: { kind: 'delivering', isFailing: state.isFailing }, effects: [{ kind: 'deliver' }] };
    case 'delivered': {
      const next = { notBefore: event.readAt + intervalMs, isFailing: false };
      return event.hasMore ? schedule(next, event.at) : { state: { kind: 'idle', ...next }, effects: [] };
    }
    case 'failed': {
      const next = { notBefore: event.at + retryMs, isFailing: true };
      const { state: after, effects } = event.hasMore
        ? schedule(next, event.at)
        : { state: { kind: 'idle' as const, ...next }, effects: [] };
      return { state: after, effects: state.isFailing ? effects : [{ kind: 'warn', error: event.error }, ...effects] };
    }
    case 'abandoned':
      if (state.kind !== 'scheduled') return { state, effects: [] };
      return { state: { ...state, kind: 'idle' }, effects: [{ kind: 'cancelWait' }] };
  }
}

function schedule({ notBefore, isFailing }: { notBefore: number; isFailing: boolean }, at: number): DeliveryStep {
  return {
    state: { kind: 'scheduled', notBefore, isFailing },
    effects: [{ kind: 'wait', ms: Math.max(0, notBefore - at) }],
  };
}
