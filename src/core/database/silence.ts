import type pg from 'pg';
import type { Log } from '../log.ts';

const CHECK_INTERVAL_MS = 500;
/** Counted, not timed: a process that was held up itself has not read what came. */
const SILENT_CHECKS = 8;

export interface SilenceWatch {
  /** To be told of every answer of the server, whatever it was. */
  noteAnswer(): void;
  /** Begins, for as long as something is asked all the time. @returns how to end it. */
  start(intervalMs?: number): () => void;
}

/**
 * Ends the connections of a pool when none of them answers any more. After a failover, or behind a firewall that forgets, they look
 * alive and nothing comes: each statement would wait for its whole time-out on them, also when the database is there again, and there
 * would be no place for a new connection, which would find it.
 */
export function createSilenceWatch(pool: pg.Pool, log: Log): SilenceWatch {
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
    if (!isTold) log.warn('The database has been silent for some seconds: its connections are made anew');
    isTold = true;
    // What waits on them fails as `unavailable`, and the pool forgets them. The pool's clients can do more than its types tell.
    for (const client of busy) void (client as pg.PoolClient & Pick<pg.Client, 'end'>).end();
    for (let idle = pool.idleCount; idle > 0; idle -= 1) pool.connect().then(discard, () => {});
  }

  return {
    noteAnswer() {
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
