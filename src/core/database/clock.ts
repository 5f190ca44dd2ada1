import type { Sql } from './database.ts';

/** Returns the time of the database's clock. @throws CoreError `unavailable`. */
export async function readDatabaseTime(sql: Sql): Promise<Date> {
  const [row] = await sql.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return row?.now ?? new Date();
}

/**
 * Returns a clock that shows the database's time: this machine's time plus the present difference of the two clocks.
 * @throws CoreError `unavailable`.
 */
export async function readDatabaseClock(sql: Sql): Promise<() => Date> {
  const aheadMs = (await readDatabaseTime(sql)).getTime() - Date.now();
  return () => new Date(Date.now() + aheadMs);
}

/**
 * Returns the earlier of the database's time and this machine's time, for changes that cannot be reverted.
 * @throws CoreError `unavailable`.
 */
export async function readEarlierTime(sql: Sql): Promise<Date> {
  return new Date(Math.min(Date.now(), (await readDatabaseTime(sql)).getTime()));
}

/**
 * If the database's clock is set back by at most this much, the site's clock stands still until the database's clock
 * has caught up.
 */
const MAX_STEP_BACK_MS = 60_000;

/**
 * The clock of the site: the database's, which all processes share, or this machine's until the database has been read.
 * Times are in milliseconds since 1970; `monotonicMs` is the time of this process's monotonic clock.
 */
export class SiteClock {
  /** The latest time that `now` returned. `now` returns no earlier time, unless `synchronize` sets the clock back. */
  #latest = 0;
  /** The database's time minus the monotonic clock. */
  #offsetMs = 0;
  #observedUpTo: number | undefined;

  /** Returns the database's time up to which all changes were observed; undefined before the first read. */
  get observedUpTo(): number | undefined {
    return this.#observedUpTo;
  }

  /** Returns the time of the site. `systemMs` is this machine's time. */
  now(systemMs: number, monotonicMs: number): number {
    const current = this.#observedUpTo === undefined ? systemMs : this.databaseNow(monotonicMs);
    this.#latest = Math.max(this.#latest, current);
    return this.#latest;
  }

  /** Returns the time of the database, which may go back. */
  databaseNow(monotonicMs: number): number {
    return monotonicMs + this.#offsetMs;
  }

  /**
   * Sets the clock to the database's time, which was just read. If the site's clock is ahead by more than
   * `MAX_STEP_BACK_MS`, it is set back, because all votes cast while it stands still get the same time.
   * @returns the number of milliseconds by which the site's clock was set back; usually 0.
   */
  synchronize(databaseMs: number, monotonicMs: number): number {
    this.#offsetMs = databaseMs - monotonicMs;
    this.#observedUpTo = databaseMs;
    const aheadMs = this.#latest - databaseMs;
    if (aheadMs <= MAX_STEP_BACK_MS) return 0;
    this.#latest = databaseMs;
    return aheadMs;
  }
}
