import type { Database } from '../database/database.ts';
import type { Log } from '../runtime.ts';
import { type ChangePage, type ChangeRecord, isEverything, readChanges } from './change-feed.ts';

/** How soon every process knows what any process committed. */
const POLL_INTERVAL_MS = 200;

/** When a read takes longer, the database counts as unreachable, and responses from the cache carry their age. */
const READ_TIMEOUT_MS = 2_000;
/** When the read is cancelled. Later, so a process that was held up itself still gets the response. */
const ABANDON_READ_MS = 4_000;

export interface ChangePollerListener {
  /** The first read, of changes made before this process served anything. */
  onHistory(records: readonly ChangeRecord[]): void;
  /** Every later record, once. */
  onChange(record: ChangeRecord): void;
  /** Everything visible at this moment of the database (milliseconds since 1970) has been passed on. */
  onObservedUpTo(now: number): void;
  /** Changes may have been missed, or are too many to be listed: anything cached may be stale. */
  onGap(): void;
  /** The database has been unreachable since a moment (milliseconds since 1970), or (undefined) it is back. */
  onDisconnect(since: number | undefined): void;
}

export interface ChangePoller {
  /** Resolves when the first read has succeeded or failed: from then on every change is passed on. */
  firstTried: Promise<void>;
  /** Reads now instead of at the next interval. */
  readNow(): void;
  stop(): void;
}

/** `disconnectedSince` is in milliseconds since 1970, undefined while the database responds. */
export type PollerState =
  | { kind: 'reading'; disconnectedSince: number | undefined }
  | { kind: 'waiting'; disconnectedSince: number | undefined }
  | { kind: 'stopped' };

export type PollerEvent =
  /** The interval has passed, or there is something to read. */
  | { kind: 'wake' }
  | { kind: 'succeeded' }
  | { kind: 'failed'; at: number; error: unknown }
  /** The read is still under way after its timeout: it waits for a connection or a response. */
  | { kind: 'overdue'; at: number; error: unknown }
  | { kind: 'stop' };

export type PollerEffect =
  | { kind: 'read' }
  | { kind: 'wait' }
  | { kind: 'cancelWait' }
  | { kind: 'reportDisconnect'; since: number; error: unknown }
  | { kind: 'reportReconnect' };

export interface PollerStep {
  state: PollerState;
  effects: readonly PollerEffect[];
}

/** Pure: one read at a time, an interval between two, and one report per loss of the database. */
export function step(state: PollerState, event: PollerEvent): PollerStep {
  if (state.kind === 'stopped') return { state, effects: [] };
  switch (event.kind) {
    case 'wake':
      // While a read is under way, the next one is near enough.
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

/** Polls for changes of any process, which works on every engine and behind every pooler. Times are the database's own. */
export function pollChanges(database: Database, log: Log, listener: ChangePollerListener): ChangePoller {
  let state: PollerState = { kind: 'reading', disconnectedSince: undefined };
  let timer: NodeJS.Timeout | undefined;
  let cursor: string | undefined;
  let seen = new Set<string>();

  function dispatch(event: PollerEvent): void {
    const next = step(state, event);
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
        log.warn({ err: effect.error }, 'The database does not respond: serving pages from the cache');
        listener.onDisconnect(effect.since);
        break;
      case 'reportReconnect':
        log.info('The database responds again');
        listener.onDisconnect(undefined);
    }
  }

  async function read(): Promise<void> {
    let isOver = false;
    // A process that was held up itself reads what has arrived before it blames the database.
    const overdue = setTimeout(() => {
      setImmediate(() => {
        const error = new Error(`No response within ${READ_TIMEOUT_MS} ms`);
        if (!isOver) dispatch({ kind: 'overdue', at: Date.now(), error });
      });
    }, READ_TIMEOUT_MS).unref();
    try {
      const page = await readChanges(database, cursor, ABANDON_READ_MS);
      if (page !== undefined) passOn(page);
      dispatch({ kind: 'succeeded' });
    } catch (error) {
      dispatch({ kind: 'failed', at: Date.now(), error });
    } finally {
      isOver = true;
      clearTimeout(overdue);
    }
  }

  function passOn({ records, cursor: next, now, hasGap }: ChangePage): void {
    if (cursor === undefined) listener.onHistory(records);
    else {
      if (hasGap) listener.onGap();
      for (const record of records) {
        if (seen.has(record.id)) continue;
        if (isEverything(record)) listener.onGap();
        else listener.onChange(record);
      }
    }
    seen = new Set(records.map(({ id }) => id));
    cursor = next;
    listener.onObservedUpTo(now);
  }

  return {
    firstTried: read(),
    readNow: () => dispatch({ kind: 'wake' }),
    stop: () => dispatch({ kind: 'stop' }),
  };
}
