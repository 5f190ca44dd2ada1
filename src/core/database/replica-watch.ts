import pg from 'pg';
import type { Log } from '../runtime.ts';
import { reasonOf } from './connect.ts';
import type { Database, Sql } from './database.ts';

/** A replica, and whether it may be read. Times are in milliseconds of the monotonic clock. */
export interface Replica {
  database: Database;
  /**
   * Returns whether the replica may serve a read that must show everything committed up to a time; see
   * `isCurrentEnough`.
   */
  hasReplayed(time: number): boolean;
  /** Marks the replica as unusable until it has been verified again. */
  markUnverified(reason: unknown): void;
  close(): Promise<void>;
}

interface WatchOptions {
  /** Names the replica in the log, without secrets. */
  name: string;
  database: Database;
  primary: Database;
  log: Log;
  monotonicMs: () => number;
  /** Returns the time of the last write that this process knows of. */
  latestWrite: () => number;
  /** Called each time the replica is known to show everything up to a later time. */
  onVerified: () => void;
}

/** Interval of checks while the replica may lack known writes. */
const SHORT_INTERVAL_MS = 50;
/** Interval of checks while the replica shows every known write, or cannot be read. */
const LONG_INTERVAL_MS = 500;
/** A replica is not read if it was last verified longer ago than this, unless the primary does not respond. */
export const MAX_LAG_MS = 5_000;
/** The lag to assume for a server that cannot report its position. */
const ASSUMED_LAG_MS = 2_000;
const RESPONSE_TIMEOUT_MS = 1_000;

// Reads the insert position, not the write position: with `synchronous_commit = off`, commits are ahead of the disk.
const SELECT_POSITION = 'SELECT pg_current_wal_insert_lsn()::text AS position';
const SELECT_REPLAYED = `SELECT pg_is_in_recovery() AS follows,
  coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS has_replayed`;

/** SQLSTATE `object_not_in_prerequisite_state`: during a failover, the server may still be in recovery. */
const IN_RECOVERY = '55000';

/**
 * Returns the primary's WAL position, or undefined if the engine has none.
 * @throws if the primary does not respond, or is in recovery.
 */
export async function readPosition(primary: Sql): Promise<string | undefined> {
  try {
    const [row] = await primary.query<{ position: string }>(SELECT_POSITION, [], { timeoutMs: RESPONSE_TIMEOUT_MS });
    return row?.position;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code !== IN_RECOVERY) return undefined;
    throw error;
  }
}

const SELECT_SYSTEM = 'SELECT system_identifier::text AS system FROM pg_control_system()';

/**
 * Checks that a replica is a copy of the primary, because WAL positions of different databases cannot be compared.
 * Servers that do not reveal their system identifier are accepted.
 * @throws if the identifiers differ, or a server does not respond.
 */
export async function requireSameSystem(primary: Sql, replica: Sql): Promise<void> {
  await requireSystem(replica, await readSystem(primary));
}

async function requireSystem(replica: Sql, ours: string | undefined): Promise<void> {
  const theirs = await readSystem(replica);
  if (ours === undefined || theirs === undefined || ours === theirs) return;
  throw new Error('The server is a replica of another server, not of the one in DATABASE_URL');
}

async function readSystem(sql: Sql): Promise<string | undefined> {
  try {
    return (await sql.query<{ system: string }>(SELECT_SYSTEM, [], { timeoutMs: RESPONSE_TIMEOUT_MS }))[0]?.system;
  } catch (error) {
    // The role may lack the right to call the function, or the engine may lack the function.
    if (error instanceof pg.DatabaseError) return undefined;
    throw error;
  }
}

/**
 * Returns whether a replica has replayed the log up to a position. Without a position, only checks that the replica
 * responds.
 * @throws Error if the replica does not respond, or the server does not follow a primary.
 */
export async function hasReplayed(
  replica: Sql,
  position: string | undefined,
  timeoutMs = RESPONSE_TIMEOUT_MS,
): Promise<boolean> {
  const options = { timeoutMs };
  if (position === undefined) {
    await replica.query('SELECT 1', [], options);
    return true;
  }
  const [row] = await replica.query<{ follows: boolean; has_replayed: boolean }>(SELECT_REPLAYED, [position], options);
  if (row?.follows !== true)
    throw new Error('The server does not follow a primary: it was promoted, or was never a replica');
  return row.has_replayed;
}

/** A position in the primary's log (WAL), and when it was requested. */
interface WalPosition {
  position: string;
  requestedAt: number;
}

/**
 * The replica shows everything committed before `verifiedAt`. `goal` is the position that it has not replayed yet, and
 * `replayed` is the last position that it is known to have replayed.
 */
export type ReplicaState = { goal?: WalPosition | undefined; replayed?: WalPosition | undefined } & (
  | { kind: 'unverified' }
  | { kind: 'usable' | 'lagging'; verifiedAt: number; isPrimaryUnreachable: boolean }
);

export type ReplicaEvent =
  | { type: 'position'; goal: WalPosition }
  /**
   * The primary did not respond, so this process cannot commit writes either. The replica still shows what it had
   * `replayed`.
   */
  | { type: 'primaryUnreachable' }
  /** The engine has no WAL positions, but the replica responded. */
  | { type: 'noPosition'; requestedAt: number }
  | { type: 'replayed'; goal: WalPosition }
  | { type: 'behind'; now: number }
  | { type: 'failed' };

/** Returns the state of a replica after an event. */
export function nextReplicaState(state: ReplicaState, event: ReplicaEvent): ReplicaState {
  switch (event.type) {
    case 'position':
      return {
        ...state,
        ...(state.kind !== 'unverified' && { isPrimaryUnreachable: false }),
        // An older goal stays, because a replica that always lags would never reach a new one. A goal beyond the
        // primary's position is replaced: the primary lost that part of its log in a crash.
        goal: state.goal && isAtMost(state.goal.position, event.goal.position) ? state.goal : event.goal,
      };
    case 'primaryUnreachable':
      if (state.kind !== 'unverified') return { ...state, isPrimaryUnreachable: true };
      if (state.replayed === undefined) return state;
      return { ...state, kind: 'usable', verifiedAt: state.replayed.requestedAt, isPrimaryUnreachable: true };
    case 'noPosition':
      return { kind: 'usable', verifiedAt: event.requestedAt - ASSUMED_LAG_MS, isPrimaryUnreachable: false };
    case 'replayed':
      return {
        kind: 'usable',
        verifiedAt: event.goal.requestedAt,
        isPrimaryUnreachable: state.kind !== 'unverified' && state.isPrimaryUnreachable,
        replayed: event.goal,
      };
    case 'behind':
      return state.kind !== 'unverified' && !state.isPrimaryUnreachable && event.now - state.verifiedAt >= MAX_LAG_MS
        ? { ...state, kind: 'lagging' }
        : state;
    case 'failed':
      return { kind: 'unverified', replayed: state.replayed };
  }
}

/** Returns whether a replica in this state may serve a read that must show everything committed up to a time. */
export function isCurrentEnough(state: ReplicaState, time: number, now: number): boolean {
  if (state.kind === 'unverified' || state.verifiedAt <= time) return false;
  return state.isPrimaryUnreachable || now - state.verifiedAt < MAX_LAG_MS;
}

/**
 * Checks repeatedly whether a replica has caught up: reads the primary's WAL position, then asks the replica whether it
 * has replayed the log up to this position. If so, the replica shows everything committed before the position was
 * requested.
 */
export function watchReplica(options: WatchOptions): Replica {
  const { name, database, primary, log, monotonicMs, latestWrite, onVerified } = options;
  let state: ReplicaState = { kind: 'unverified' };
  /** The primary's system identifier. */
  let system: string | undefined;
  let wasUsable: boolean | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let running = Promise.resolve();

  function dispatch(event: ReplicaEvent, reason?: unknown): void {
    state = nextReplicaState(state, event);
    if (event.type === 'replayed' || event.type === 'noPosition') onVerified();
    // A new goal does not change whether the replica is usable.
    if (event.type === 'position') return;
    const isUsable = state.kind === 'usable';
    if (isUsable === wasUsable) return;
    wasUsable = isUsable;
    if (isUsable) log.info({ replica: name }, 'Reading from a replica');
    else if (!isClosed) {
      log.warn({ replica: name, reason: reasonOf(reason).message }, 'Skipping a replica until it is usable');
    }
  }

  async function check(): Promise<void> {
    // While the replica cannot be read, requests a new goal even if one is pending: a primary that crashed may never
    // send the log up to the pending goal.
    if (state.goal === undefined || state.kind !== 'usable' || state.isPrimaryUnreachable) await requestPosition();
    const { goal } = state;
    if (goal === undefined) return;
    if (await hasReplayed(database, goal.position)) dispatch({ type: 'replayed', goal });
    else dispatch({ type: 'behind', now: monotonicMs() }, 'The replica lags');
  }

  async function requestPosition(): Promise<void> {
    const requestedAt = monotonicMs();
    let position: string | undefined;
    try {
      position = await readPosition(primary);
      if (state.kind === 'unverified') system = await readSystem(primary);
    } catch {
      await requireReplayed();
      return dispatch({ type: 'primaryUnreachable' }, 'The primary does not respond');
    }
    if (position === undefined) {
      await hasReplayed(database, position);
      return dispatch({ type: 'noPosition', requestedAt });
    }
    if (state.kind === 'unverified') await requireSystem(database, system);
    dispatch({ type: 'position', goal: { position, requestedAt } });
  }

  /**
   * Checks that the replica still shows everything that it had replayed. A restarted replica replays part of the log
   * again.
   */
  async function requireReplayed(): Promise<void> {
    if (state.replayed === undefined) return;
    if (state.kind === 'unverified') await requireSystem(database, system);
    if (await hasReplayed(database, state.replayed.position)) return;
    throw new Error('The replica has restarted, and lacks data that it had before');
  }

  const markUnverified = (reason: unknown) => dispatch({ type: 'failed' }, reason);

  function run(): void {
    running = check()
      .catch(markUnverified)
      .then(() => {
        const isBehind = state.kind === 'usable' && state.verifiedAt <= latestWrite();
        if (!isClosed) timer = setTimeout(run, isBehind ? SHORT_INTERVAL_MS : LONG_INTERVAL_MS).unref();
      });
  }
  run();

  return {
    database,
    hasReplayed: (time) => isCurrentEnough(state, time, monotonicMs()),
    markUnverified,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await database.close();
    },
  };
}

/** Returns whether a WAL position, such as `16/B374D848`, is at or before another. */
function isAtMost(position: string, other: string): boolean {
  const [sortable, limit] = [position, other].map((each) =>
    each
      .split('/')
      .map((half) => half.padStart(8, '0'))
      .join(),
  );
  return (sortable ?? '') <= (limit ?? '');
}
