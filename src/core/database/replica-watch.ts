import pg from 'pg';
import type { Log } from '../log.ts';
import type { Database } from './database.ts';

/** A replica as it may be read. */
export interface Replica {
  database: Database;
  /** Whether it is known to show everything that was committed up to a moment, and does not lag by more than some seconds. */
  hasReplayed(moment: number): boolean;
  /** Is not read before it was looked at again. */
  distrust(reason: unknown): void;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** For the log; without secrets. */
  name: string;
  database: Database;
  primary: Database;
  log: Log;
  /** The last write that this process knows of. */
  wantedSince: () => number;
  onVerified: () => void;
}

/** While something was written that it may not show yet. */
const SOON_MS = 50;
/** While nothing is written, and while it cannot be read. */
const CALM_MS = 500;
/** It is not read when it was last known to be up to date longer ago than this. */
const LONGEST_LAG_MS = 5_000;
/** Where a server does not tell how far it has come, as much lag is taken for granted. */
const ASSUMED_LAG_MS = 2_000;
const PATIENCE_MS = 1_000;

// Up to what was inserted, not written: where commits are not waited for (`synchronous_commit = off`), they are ahead of the disk.
const POSITION = 'SELECT pg_current_wal_insert_lsn()::text AS position';
const REPLAYED = `SELECT pg_is_in_recovery() AS follows,
  coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS has_replayed`;

/**
 * Finds out again and again how far a replica has come: it asks the primary for its position in the log (WAL), and the replica
 * whether it has replayed that. What was committed before the asking is then shown by the replica.
 */
export function watchReplica({ name, database, primary, log, wantedSince, onVerified }: WatchOptions): Replica {
  /** It shows everything that was committed before this moment; 0: it is not to be read. */
  let verified = 0;
  /** A position that it has not replayed yet, and when it was asked for. */
  let goal: { position: string; askedAt: number } | undefined;
  let isUsable: boolean | undefined;
  let isPrimaryAway = false;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let running = Promise.resolve();

  async function look(): Promise<void> {
    goal ??= await askPrimary();
    if (goal === undefined) return;
    const [row] = await database.query<{ follows: boolean; has_replayed: boolean }>(REPLAYED, [goal.position], {
      timeoutMs: PATIENCE_MS,
    });
    if (row?.follows !== true) throw new Error('It follows no primary: it was promoted, or never was a replica');
    if (!row.has_replayed) return say(Date.now() - verified < LONGEST_LAG_MS, 'It lags');
    verified = Math.max(verified, goal.askedAt);
    goal = undefined;
    say(true);
    onVerified();
  }

  /** Undefined while the primary is away: then nothing is committed either. */
  async function askPrimary(): Promise<typeof goal> {
    const askedAt = Date.now();
    try {
      const [row] = await primary.query<{ position: string }>(POSITION, [], { timeoutMs: PATIENCE_MS });
      isPrimaryAway = false;
      return row && { position: row.position, askedAt };
    } catch (error) {
      // An engine of another kind that knows no such position.
      if (error instanceof pg.DatabaseError) {
        await database.query('SELECT 1', [], { timeoutMs: PATIENCE_MS });
        verified = askedAt - ASSUMED_LAG_MS;
        say(true);
        onVerified();
      } else isPrimaryAway = true;
      return undefined;
    }
  }

  function say(usable: boolean, reason?: unknown): void {
    if (usable === isUsable) return;
    isUsable = usable;
    if (usable) log.info({ replica: name }, 'A replica is read from');
    else if (!isClosed) log.warn({ replica: name, reason: String(reason) }, 'A replica is not read from for now');
  }

  function distrust(reason: unknown): void {
    verified = 0;
    goal = undefined;
    say(false, reason);
  }

  function turn(): void {
    running = look()
      .catch(distrust)
      .then(() => {
        const isBehind = isUsable === true && verified <= wantedSince();
        if (!isClosed) timer = setTimeout(turn, isBehind ? SOON_MS : CALM_MS).unref();
      });
  }
  turn();

  return {
    database,
    // Within the same millisecond, which was first is not known.
    hasReplayed: (moment) => verified > moment && (isPrimaryAway || Date.now() - verified < LONGEST_LAG_MS),
    distrust,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running;
      await database.close();
    },
  };
}
