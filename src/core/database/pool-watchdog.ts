import type pg from 'pg';
import type { Log } from '../runtime.ts';

const CHECK_INTERVAL_MS = 500;
/** Counted, not timed: a process that was suspended has not read what arrived. */
const SILENT_CHECKS = 8;

export interface PoolWatchdog {
  /** Call for every response of the server. */
  noteResponse(): void;
  /** Starts, while something queries regularly. @returns how to stop. */
  start(intervalMs?: number): () => void;
}

/**
 * Closes the connections of a pool when none responds. After a failover, or behind a firewall that drops state, they
 * look alive and nothing arrives: each statement would wait for its whole timeout, even when the database is back, and
 * there would be no room for a new connection, which would reach it.
 */
export function createPoolWatchdog(pool: pg.Pool, log: Log): PoolWatchdog {
  const busy = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => busy.add(client));
  pool.on('release', (_error, client) => busy.delete(client));
  pool.on('remove', (client) => busy.delete(client));
  let silentChecks = 0;
  let isTold = false;

  function check(): void {
    silentChecks += 1;
    if (silentChecks < SILENT_CHECKS) return;
    silentChecks = 0;
    if (!isTold) log.warn('The database has not responded for some seconds; reopening the connections');
    isTold = true;
    // Statements that wait on them fail as `unavailable`, and the pool removes them. The pool's clients have more
    // methods than its types.
    for (const client of busy) void (client as pg.PoolClient & Pick<pg.Client, 'end'>).end();
    for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect().then(discard, () => {});
  }

  return {
    noteResponse() {
      silentChecks = 0;
      isTold = false;
    },
    start(intervalMs = CHECK_INTERVAL_MS) {
      const timer = setInterval(check, intervalMs).unref();
      return () => clearInterval(timer);
    },
  };
}

function discard(client: pg.PoolClient): void {
  client.release(true);
}
