/** A number that the caller gives to a task. The caller holds the task's content and promise. */
type TaskNumber = number;

/** The process and its queue. `waiting` is in the order of the requests. */
export type ProcessState =
  | { kind: 'stopped' }
  | { kind: 'starting'; waiting: readonly TaskNumber[] }
  | { kind: 'idle' }
  | { kind: 'running'; waiting: readonly TaskNumber[]; task: TaskNumber }
  /**
   * The process did not start, for example because a library has no build for this machine. Tasks are rejected until
   * the timeout of this state expires. After that, the next task starts the process again.
   */
  | { kind: 'unavailable' }
  | { kind: 'closed' };

export type ProcessEvent =
  | { kind: 'requested'; task: TaskNumber }
  | { kind: 'ready' }
  /** The current task has succeeded or failed. `isOversized` is set if the process uses too much memory. */
  | { kind: 'finished'; isOversized: boolean }
  | { kind: 'exited'; reason: string }
  /** The timeout of the current state has expired. */
  | { kind: 'timedOut' }
  /** Rejects the waiting tasks. From this event on, the caller passes 0 as `maxQueued`. */
  | { kind: 'drain' }
  | { kind: 'close' };

/**
 * The reason for a missing result: `busy` and `closed` come from the queue, `failed` from the task, `unavailable` from
 * a process that does not start.
 */
export type FailureKind = 'busy' | 'closed' | 'failed' | 'unavailable';

export type ProcessEffect =
  | { kind: 'start' }
  | { kind: 'run'; task: TaskNumber }
  /** Lets the process exit; the next task starts another. */
  | { kind: 'release' }
  | { kind: 'kill' }
  | { kind: 'warn'; message: string; task?: TaskNumber }
  | { kind: 'reject'; tasks: readonly TaskNumber[]; failure: FailureKind; message: string };

interface ProcessStep {
  state: ProcessState;
  effects: readonly ProcessEffect[];
}

export const INITIAL_STATE: ProcessState = { kind: 'stopped' };

/** Returns the next state and the effects of an event, as a pure function. The caller applies the effects in order. */
export function step(state: ProcessState, event: ProcessEvent, maxQueued: number): ProcessStep {
  if (state.kind === 'closed') {
    return event.kind === 'requested' ? unchanged(state, rejectClosed([event.task])) : unchanged(state);
  }
  switch (event.kind) {
    case 'requested':
      return request(state, event.task, maxQueued);
    case 'ready':
      return state.kind === 'starting' ? proceed(state.waiting) : unchanged(state);
    case 'finished':
      return finish(state, event.isOversized);
    case 'exited':
      return handleProcessLoss(state, event.reason, []);
    case 'timedOut':
      return timeOut(state);
    case 'drain':
      return drain(state);
    case 'close': {
      const tasks = [...(state.kind === 'running' ? [state.task] : []), ...waitingIn(state)];
      return { state: { kind: 'closed' }, effects: [...rejectClosed(tasks), { kind: 'kill' }] };
    }
  }
}

type OpenState = Exclude<ProcessState, { kind: 'closed' }>;

function request(state: OpenState, task: TaskNumber, maxQueued: number): ProcessStep {
  switch (state.kind) {
    case 'stopped':
      return { state: { kind: 'starting', waiting: [task] }, effects: [{ kind: 'start' }] };
    case 'idle':
      return proceed([task]);
    case 'unavailable':
      return unchanged(state, reject([task], 'unavailable', 'The process did not start; another attempt will follow'));
    case 'starting':
    case 'running':
      if (state.waiting.length >= maxQueued) {
        return unchanged(state, reject([task], 'busy', 'Too many tasks are waiting'));
      }
      return { state: { ...state, waiting: [...state.waiting, task] }, effects: [] };
  }
}

function finish(state: OpenState, oversized: boolean): ProcessStep {
  if (state.kind !== 'running') return unchanged(state);
  return oversized ? restart(state, [{ kind: 'release' }]) : proceed(state.waiting);
}

function timeOut(state: OpenState): ProcessStep {
  switch (state.kind) {
    case 'starting':
      return handleProcessLoss(state, 'The process did not start in time', [{ kind: 'kill' }]);
    case 'running':
      return handleProcessLoss(state, 'The task took too long', [{ kind: 'kill' }]);
    case 'idle':
      return { state: { kind: 'stopped' }, effects: [{ kind: 'release' }] };
    case 'unavailable':
      return { state: { kind: 'stopped' }, effects: [] };
    case 'stopped':
      return unchanged(state);
  }
}

/**
 * Handles the loss of the process. The running task fails, and waiting tasks get another process. If the process was
 * still starting, all tasks fail.
 */
function handleProcessLoss(state: OpenState, reason: string, first: readonly ProcessEffect[]): ProcessStep {
  const warning: ProcessEffect = {
    kind: 'warn',
    message: reason,
    ...(state.kind === 'running' ? { task: state.task } : {}),
  };
  switch (state.kind) {
    case 'starting': {
      const effects = [...first, warning, ...reject(state.waiting, 'unavailable', reason)];
      return { state: { kind: 'unavailable' }, effects };
    }
    case 'running':
      return restart(state, [...first, warning, ...reject([state.task], 'failed', reason)]);
    case 'idle':
      return { state: { kind: 'stopped' }, effects: [...first, warning] };
    default:
      return unchanged(state);
  }
}

function drain(state: OpenState): ProcessStep {
  if (state.kind !== 'starting' && state.kind !== 'running') return unchanged(state);
  // The first task that waits for the process to start counts as running.
  const remaining = state.kind === 'starting' ? state.waiting.slice(0, 1) : [];
  const refused = state.waiting.slice(remaining.length);
  return { state: { ...state, waiting: remaining }, effects: rejectClosed(refused) };
}

/** Gives the next task to a process that is ready. */
function proceed([task, ...waiting]: readonly TaskNumber[]): ProcessStep {
  return task === undefined
    ? { state: { kind: 'idle' }, effects: [] }
    : { state: { kind: 'running', waiting, task }, effects: [{ kind: 'run', task }] };
}

/** Returns the state after a running process was lost or released: another one starts if tasks are waiting. */
function restart(
  { waiting }: Extract<ProcessState, { kind: 'running' }>,
  effects: readonly ProcessEffect[],
): ProcessStep {
  return waiting.length === 0
    ? { state: { kind: 'stopped' }, effects }
    : { state: { kind: 'starting', waiting }, effects: [...effects, { kind: 'start' }] };
}

function unchanged(state: ProcessState, effects: readonly ProcessEffect[] = []): ProcessStep {
  return { state, effects };
}

function waitingIn(state: OpenState): readonly TaskNumber[] {
  return 'waiting' in state ? state.waiting : [];
}

function rejectClosed(tasks: readonly TaskNumber[]): ProcessEffect[] {
  return reject(tasks, 'closed', 'The process is stopping');
}

function reject(tasks: readonly TaskNumber[], failure: FailureKind, message: string): ProcessEffect[] {
  return tasks.length === 0 ? [] : [{ kind: 'reject', tasks, failure, message }];
}
