/** The phase of a worker. A `spare` has loaded its code and waits until another worker exits. */
type Phase = 'booting' | 'spare' | 'starting' | 'up';

interface WorkerState {
  readonly phase: Phase;
  /** When the worker entered this phase, in milliseconds on a monotonic clock. */
  readonly since: number;
}

export type FleetState =
  | {
      /**
       * The fleet is `launching` until all workers are up for the first time. Until then, a worker that cannot start is
       * reported to the operator and not replaced.
       */
      readonly kind: 'launching' | 'running';
      readonly workers: ReadonlyMap<number, WorkerState>;
      readonly nextId: number;
      /** The number of failed starts, each at most five minutes after the previous one. */
      readonly failures: number;
      /** When the last start failed; at first, when the launch began. */
      readonly failedAt: number;
      /** The number of workers that will be forked after a pause. */
      readonly paused: number;
    }
  | {
      readonly kind: 'stopping';
      /** The workers when the stop began. They serve for the stop delay and until their requests end. */
      readonly workers: ReadonlyMap<number, WorkerState>;
    }
  | { readonly kind: 'lost' };

export type FleetEvent =
  | { readonly kind: 'booted'; readonly id: number }
  | { readonly kind: 'up'; readonly id: number }
  | { readonly kind: 'exited'; readonly id: number; readonly reason: string }
  | { readonly kind: 'retry' }
  | { readonly kind: 'stop' };

export type FleetEffect =
  | { readonly kind: 'fork'; readonly id: number }
  | { readonly kind: 'start'; readonly id: number }
  | { readonly kind: 'retry later'; readonly delayMs: number }
  | { readonly kind: 'launched' }
  | { readonly kind: 'give up'; readonly reason: string };

export interface Step {
  readonly state: FleetState;
  readonly effects: readonly FleetEffect[];
}

/** If a worker exits earlier than this after it came up, its start counts as failed. */
const MIN_UPTIME_MS = 1_000;
const FAILURE_WINDOW_MS = 5 * 60_000;
const MAX_FAILURES = 20;
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;

/** Returns the initial state of a fleet, with the effects that start its workers. */
export function launchFleet(size: number, now: number): Step {
  return fill({ kind: 'launching', workers: new Map(), nextId: 1, failures: 0, failedAt: now, paused: 0 }, size, now);
}

/**
 * Returns the next state and the effects of an event. A healthy worker that exits is replaced immediately, by the spare
 * if there is one. Failed starts are retried with exponential backoff. The fleet is lost if a start fails during the
 * launch. It is also lost if no worker serves and more than twenty starts have failed, each within five minutes of the
 * previous one: further attempts are unlikely to succeed.
 */
export function step(state: FleetState, event: FleetEvent, size: number, now: number): Step {
  if (state.kind === 'stopping' || state.kind === 'lost') return { state, effects: [] };
  switch (event.kind) {
    case 'booted':
      return fill(withPhase(state, event.id, 'spare', now), size, now);
    case 'up': {
      const next = withPhase(state, event.id, 'up', now);
      if (next.kind !== 'launching' || count(next, 'up') < size) return fill(next, size, now);
      const { state: running, effects } = fill({ ...next, kind: 'running' }, size, now);
      return { state: running, effects: [{ kind: 'launched' }, ...effects] };
    }
    case 'exited':
      return afterExit(state, event, size, now);
    case 'retry':
      return fill({ ...state, paused: Math.max(0, state.paused - 1) }, size, now);
    case 'stop':
      return { state: { kind: 'stopping', workers: state.workers }, effects: [] };
  }
}

type Active = Extract<FleetState, { kind: 'running' | 'launching' }>;

function afterExit(
  state: Active,
  { id, reason }: Extract<FleetEvent, { kind: 'exited' }>,
  size: number,
  now: number,
): Step {
  const exited = state.workers.get(id);
  if (!exited) return { state, effects: [] };
  const workers = new Map(state.workers);
  workers.delete(id);
  const next: Active = { ...state, workers };
  if (exited.phase === 'up' && now - exited.since >= MIN_UPTIME_MS) return fill(next, size, now);
  const failures = now - state.failedAt > FAILURE_WINDOW_MS ? 1 : state.failures + 1;
  const isHopeless = failures > MAX_FAILURES && count(next, 'up') === 0;
  if (state.kind === 'launching' || isHopeless)
    return { state: { kind: 'lost' }, effects: [{ kind: 'give up', reason }] };
  const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
  const filled = fill({ ...next, failures, failedAt: now, paused: state.paused + 1 }, size, now);
  return { ...filled, effects: [...filled.effects, { kind: 'retry later', delayMs }] };
}

/**
 * Starts spares in place of missing workers, then forks processes for the workers that are still missing, or for the
 * next spare.
 */
function fill(state: Active, size: number, now: number): Step {
  const workers = new Map(state.workers);
  const effects: FleetEffect[] = [];
  let { nextId } = state;
  let missing = size - count(state, 'starting') - count(state, 'up');
  for (const [id, { phase }] of state.workers) {
    if (missing <= 0 || phase !== 'spare') continue;
    workers.set(id, { phase: 'starting', since: now });
    effects.push({ kind: 'start', id });
    missing -= 1;
  }
  // The next spare is forked only when all workers are up, because it would delay their start.
  const isComplete = count(state, 'up') === size;
  const unstarted = [...workers.values()].filter(({ phase }) => phase === 'booting' || phase === 'spare').length;
  for (let forks = missing + (isComplete ? 1 : 0) - unstarted - state.paused; forks > 0; forks -= 1) {
    workers.set(nextId, { phase: 'booting', since: now });
    effects.push({ kind: 'fork', id: nextId });
    nextId += 1;
  }
  return { state: { ...state, workers, nextId }, effects };
}

function withPhase(state: Active, id: number, phase: Phase, now: number): Active {
  if (!state.workers.has(id)) return state;
  return { ...state, workers: new Map(state.workers).set(id, { phase, since: now }) };
}

function count({ workers }: Active, phase: Phase): number {
  return [...workers.values()].filter((worker) => worker.phase === phase).length;
}
