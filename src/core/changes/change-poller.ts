import type { Database } from '../database/database.ts';
import type { Log } from '../runtime.ts';
import {
  type ChangePage,
  type ChangeRecord,
  isEverything,
  LONG_OVERLAP_MS,
  OVERLAP_MS,
  readChanges,
} from './change-feed.ts';

/** The pause between two reads. It determines how soon a process learns of a change without a notification. */
const POLL_INTERVAL_MS = 200;

/**
 * The interval between reads with the long overlap. It is shorter than the margin for clients that resume
 * (`MARGIN_MS`).
 */
const LONG_READ_INTERVAL_MS = 4_000;

/**
 * If more ids are remembered, reads with the long overlap pause for a minute, because each sends all remembered ids.
 */
const MAX_SEEN = 5_000;

/** If a read takes longer, the database counts as unreachable, and cached responses carry an `Age` header. */
const UNREACHABLE_AFTER_MS = 2_000;
/**
 * The time after which a read fails. It is longer than `UNREACHABLE_AFTER_MS`, so a process that was itself blocked can
 * still receive the response.
 */
const READ_TIMEOUT_MS = 4_000;

interface ChangePollerListener {
  /**
   * Called with the records and the time of the first successful read. The process serves nothing before it knows these
   * changes, unless an earlier read failed; in that case, `onGap` follows.
   */
  onHistory(records: readonly ChangeRecord[], now: number): void;
  /** Called once for each later record, unless its changes were too many to list. */
  onChange(record: ChangeRecord): void;
  /**
   * Called when all changes visible at `now`, the database's time in milliseconds since 1970, have been passed on.
   * `startedAt` is the time of the monotonic clock at which the read started.
   */
  onObservedUpTo(now: number, startedAt: number): void;
  /** Called when changes may have been missed, or there are too many to list: anything cached may be stale. */
  onGap(): void;
  /**
   * Called with the time (milliseconds since 1970) at which the database became unreachable, or with undefined when it
   * is back.
   */
  onDisconnect(since: number | undefined): void;
}

export interface ChangePoller {
  /** Resolves when the first read has succeeded or failed. After the first success, every change is passed on. */
  firstAttempt: Promise<void>;
  /** Reads now instead of at the next interval, unless a read is running. */
  readNow(): void;
  stop(): void;
}

/** `disconnectedSince` is in milliseconds since 1970, undefined while the database responds. */
export type PollerState =
  | { kind: 'reading'; disconnectedSince: number | undefined }
  | { kind: 'waiting'; disconnectedSince: number | undefined }
  | { kind: 'stopped' };

export type PollerEvent =
  /** The interval has passed, or a notification arrived. */
  | { kind: 'wake' }
  | { kind: 'succeeded' }
  | { kind: 'failed'; at: number; error: unknown }
  /** The read is still running after its timeout: it waits for a connection or a response. */
  | { kind: 'overdue'; at: number; error: unknown }
  | { kind: 'stop' };

export type PollerEffect =
  | { kind: 'read' }
  | { kind: 'wait' }
  | { kind: 'cancelWait' }
  | { kind: 'reportDisconnect'; since: number; error: unknown }
  | { kind: 'reportReconnect' };

interface PollerStep {
  state: PollerState;
  effects: readonly PollerEffect[];
}

/**
 * Returns the next state and the effects of an event. This pure function ensures that one read runs at a time, that an
 * interval separates two reads, and that each outage is reported once.
 */
export function nextPollerState(state: PollerState, event: PollerEvent): PollerStep {
  if (state.kind === 'stopped') return { state, effects: [] };
  switch (event.kind) {
    case 'wake':
      // The current read may miss the change that caused a notification, but the next read follows soon.
      if (state.kind === 'reading') return { state, effects: [] };
      return { state: { ...state, kind: 'reading' }, effects: [{ kind: 'cancelWait' }, { kind: 'read' }] };
    case 'succeeded':
      return {
        state: { kind: 'waiting', disconnectedSince: undefined },
        effects: [
          ...(state.disconnectedSince === undefined ? [] : [{ kind: 'reportReconnect' } as const]),
          { kind: 'wait' },
        ],
      };
    case 'failed': {
      const { disconnectedSince, effects } = disconnect(state.disconnectedSince, event);
      return { state: { kind: 'waiting', disconnectedSince }, effects: [...effects, { kind: 'wait' }] };
    }
    case 'overdue': {
      const { disconnectedSince, effects } = disconnect(state.disconnectedSince, event);
      return { state: { ...state, disconnectedSince }, effects };
    }
    case 'stop':
      return { state: { kind: 'stopped' }, effects: [{ kind: 'cancelWait' }] };
  }
}

function disconnect(
  since: number | undefined,
  { at, error }: { at: number; error: unknown },
): { disconnectedSince: number; effects: PollerEffect[] } {
  return since === undefined
    ? { disconnectedSince: at, effects: [{ kind: 'reportDisconnect', since: at, error }] }
    : { disconnectedSince: since, effects: [] };
}

/**
 * Polls for the changes by all processes. Unlike notifications, polling works with every engine and pooler. Times are
 * the database's, except that `onDisconnect` gets the time of this machine.
 */
export function pollChanges(database: Database, log: Log, listener: ChangePollerListener): ChangePoller {
  let state: PollerState = { kind: 'reading', disconnectedSince: undefined };
  let timer: NodeJS.Timeout | undefined;
  let cursor: string | undefined;
  /** The ids of the records in the overlap. */
  let seen: readonly string[] = [];
  /** The ids of all records since the start of the long overlap. */
  let seenInLong = new Set<string>();
  /** The time of the monotonic clock at which the next read with the long overlap is due. */
  let longReadAt = Number.NEGATIVE_INFINITY;

  function dispatch(event: PollerEvent): void {
    const next = nextPollerState(state, event);
    state = next.state;
    for (const effect of next.effects) apply(effect);
  }

  function apply(effect: PollerEffect): void {
    switch (effect.kind) {
      case 'read':
        void read();
        break;
      case 'wait':
        timer = setTimeout(() => dispatch({ kind: 'wake' }), POLL_INTERVAL_MS).unref();
        break;
      case 'cancelWait':
        clearTimeout(timer);
        break;
      case 'reportDisconnect':
        log.warn({ err: effect.error }, 'Cannot read changes from the database; serving pages from the cache');
        listener.onDisconnect(effect.since);
        break;
      case 'reportReconnect':
        log.info('Reading changes from the database again');
        listener.onDisconnect(undefined);
    }
  }

  async function read(): Promise<void> {
    let isOver = false;
    // If this process itself was blocked, `setImmediate` lets it first read a response that has already arrived.
    const overdue = setTimeout(() => {
      setImmediate(() => {
        const error = new Error(`No response within ${UNREACHABLE_AFTER_MS} ms`);
        if (!isOver) dispatch({ kind: 'overdue', at: Date.now(), error });
      });
    }, UNREACHABLE_AFTER_MS).unref();
    const startedAt = performance.now();
    const isLong = startedAt >= longReadAt;
    const overlap = isLong ? { overlapMs: LONG_OVERLAP_MS, seen: [...seenInLong] } : { overlapMs: OVERLAP_MS, seen };
    try {
      const page = await readChanges(database, { cursor, ...overlap }, READ_TIMEOUT_MS);
      // After a stop, the listener may already have closed its resources.
      if (page !== undefined && state.kind !== 'stopped') passOn(page, isLong, startedAt);
      dispatch({ kind: 'succeeded' });
    } catch (error) {
      dispatch({ kind: 'failed', at: Date.now(), error });
    } finally {
      isOver = true;
      clearTimeout(overdue);
    }
  }

  function remember(ids: readonly string[], isLong: boolean): void {
    seen = ids;
    if (isLong) seenInLong = new Set(ids);
    else for (const id of ids) seenInLong.add(id);
    if (isLong) longReadAt = performance.now() + LONG_READ_INTERVAL_MS;
    if (seenInLong.size <= MAX_SEEN) return;
    seenInLong = new Set(ids);
    longReadAt = performance.now() + LONG_OVERLAP_MS;
  }

  function passOn({ records, now, hasGap, ...page }: ChangePage, isLong: boolean, startedAt: number): void {
    const isFirst = cursor === undefined;
    if (!isFirst) {
      if (hasGap) listener.onGap();
      for (const record of records) {
        if (isEverything(record)) listener.onGap();
        else listener.onChange(record);
      }
    }
    remember(page.seen, isLong);
    cursor = page.cursor;
    listener.onObservedUpTo(now, startedAt);
    if (!isFirst) return;
    listener.onHistory(records, now);
    // If an earlier read failed, the process may already have served outdated responses.
    if (state.kind === 'reading' && state.disconnectedSince !== undefined) listener.onGap();
  }

  return {
    firstAttempt: read(),
    readNow: () => dispatch({ kind: 'wake' }),
    stop: () => dispatch({ kind: 'stop' }),
  };
}
