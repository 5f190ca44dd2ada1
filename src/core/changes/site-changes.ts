import { CoreError } from '../core-error.ts';
import { SiteClock } from '../database/clock.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../runtime.ts';
import {
  type Change,
  type ChangeRecord,
  deleteOldChanges,
  isEverything,
  OVERLAP_MS,
  RETENTION_MS,
} from './change-feed.ts';
import { pollChanges } from './change-poller.ts';
import { ChangeNotify, ChangePublisher } from './change-publisher.ts';

/**
 * If more products launch in one interval, listeners get a gap, and a change to the catalogue without the products'
 * ids.
 */
const MAX_LAUNCHES = 1_000;

const SELECT_LAUNCHED = `SELECT id FROM products WHERE created_at > $1::timestamptz AND created_at <= $2::timestamptz
  LIMIT ${MAX_LAUNCHES + 1}`;

/**
 * Reads the ids of products that launched after `from` and up to `upTo`.
 * @returns undefined if there are too many to list.
 * @throws CoreError `unavailable`.
 */
async function readLaunches(sql: Sql, from: Date, upTo: Date): Promise<string[] | undefined> {
  const rows = await sql.query<{ id: string }>(SELECT_LAUNCHED, [from.toISOString(), upTo.toISOString()]);
  return rows.length > MAX_LAUNCHES ? undefined : rows.map(({ id }) => id);
}

const CLEANUP_INTERVAL_MS = 60_000;

export interface ChangeListener {
  /**
   * Called for each change: immediately if this process made it, otherwise soon afterwards. May be called twice for the
   * same change.
   */
  onChange(change: Change): void;
  /** Called when changes may have been missed, or there are too many to list: anything cached may be stale. */
  onGap(): void;
  /**
   * Called with the time (milliseconds since 1970) at which the database became unreachable, or with undefined when it
   * is back.
   */
  onDisconnect?(since: number | undefined): void;
}

/** The changes by all processes, as this process observes them. */
export interface SiteChanges {
  /** Call after this process has committed a change and before it acknowledges the change. */
  onWrite(change: Change): void;
  subscribe(listener: ChangeListener): void;
  /**
   * Resolves after the first read, and never rejects. Await it before serving anything, because changes that other
   * processes made earlier are not passed on. If this read failed, a gap is reported after the first successful one.
   */
  ready: Promise<void>;
  /**
   * Returns the database's time, in milliseconds since 1970, up to which all changes were observed; undefined before
   * the first read.
   */
  observedUpTo(): number | undefined;
  /**
   * Returns the changes of these products, or of all by default, since a time that `observedUpTo` returned; undefined
   * if the changes are no longer known.
   */
  since(time: number, productIds?: Iterable<string>): MissedChanges | undefined;
  /** Returns the comments that changed since `time`, on any product. Costs more than `since`. */
  commentsSince(time: number): MissedComments;
  /**
   * Returns the time of the site: the database's, which all processes share. It goes back only if the database's clock
   * is more than a minute behind it.
   */
  now(): Date;
  /** Stops observing, and publishes the remaining changes. */
  close(): Promise<void>;
}

/** Observes this process's own writes immediately, and those of other processes through the database. */
export function subscribeToChanges(database: Database, log: Log): SiteChanges {
  const listeners: ChangeListener[] = [];
  const recent = new RecentChanges();
  const clock = new SiteClock();
  const now = () => new Date(clock.now(Date.now(), performance.now()));
  const databaseNow = () => clock.databaseNow(performance.now());
  /** The time up to which launches were announced, in milliseconds since 1970. */
  let launchesReadUpTo: number | undefined;
  let announcing: Promise<void> | undefined;

  /**
   * Announces the products that launched since the last call. A launch changes pages without a write, so every process
   * announces it.
   */
  async function announceLaunches(): Promise<void> {
    const upTo = now();
    const from = launchesReadUpTo;
    launchesReadUpTo = upTo.getTime();
    if (from === undefined || from >= launchesReadUpTo) return;
    try {
      const productIds = await readLaunches(database, new Date(from), upTo);
      if (productIds?.length === 0) return;
      if (productIds === undefined) for (const listener of listeners) listener.onGap();
      passOn({ productIds: productIds ?? [], catalogue: true, ageMs: Math.max(0, now().getTime() - from) });
    } catch (error) {
      // The next call starts from the same time again.
      launchesReadUpTo = Math.min(launchesReadUpTo ?? from, from);
      if (!(error instanceof CoreError))
        log.warn({ err: error }, 'Cannot read the products that launched; trying again');
    }
  }

  function noteGap(): void {
    recent.evictUpTo(databaseNow());
    for (const listener of listeners) listener.onGap();
  }

  /**
   * Sets the site's clock to the database's. Reports a gap if the database's clock is behind the expected time by more
   * than the overlap, for example after a failover, because new changes may then have times before the overlap. The
   * expected time is the one at the start of the read, because a process that was blocked gets the response late.
   */
  function synchronize(time: number, startedAt: number): void {
    const isBehind = clock.observedUpTo !== undefined && time < clock.databaseNow(startedAt) - OVERLAP_MS;
    const setBackMs = clock.synchronize(time, performance.now());
    if (setBackMs > 0) {
      log.warn({ seconds: Math.round(setBackMs / 1_000) }, "The site's clock was set back to the time of the database");
      launchesReadUpTo = time;
    }
    if (isBehind || setBackMs > 0) noteGap();
  }

  function passOn(change: Change): void {
    recent.add(change, databaseNow());
    for (const listener of listeners) listener.onChange(change);
  }

  const publisher = new ChangePublisher(database, log, () => notify.send());
  const poller = pollChanges(database, log, {
    onHistory: (records, time) => recent.begin(records, time),
    onChange(record) {
      // This process's own changes were passed on when they were made. They are remembered again with the later time of
      // this read, because other processes can read them only now.
      if (publisher.isOwn(record.id)) recent.add(record, databaseNow());
      else passOn(record);
    },
    onObservedUpTo(time, startedAt) {
      synchronize(time, startedAt);
      announcing ??= announceLaunches().finally(() => {
        announcing = undefined;
      });
    },
    onGap: noteGap,
    onDisconnect(since) {
      // Clients that resume may have read outdated responses during the outage, so they must refetch everything.
      if (since === undefined) recent.evictUpTo(databaseNow());
      for (const listener of listeners) listener.onDisconnect?.(since);
    },
  });
  // The watchdog requires regular statements; the poller sends several a second.
  const endWatch = database.startWatchdog();
  const notify = new ChangeNotify(database, log, () => poller.readNow());
  const cleanUp = () =>
    deleteOldChanges(database).catch((error: unknown) =>
      log.warn({ err: error }, 'Cannot delete old changes; trying again in a minute'),
    );
  const timer = setInterval(cleanUp, CLEANUP_INTERVAL_MS).unref();

  return {
    onWrite(change) {
      passOn(change);
      publisher.add(change);
    },
    subscribe: (listener) => listeners.push(listener),
    ready: poller.firstAttempt,
    observedUpTo: () => clock.observedUpTo,
    since(time, productIds) {
      // A `time` in the future was observed before the database's clock was set back, so newer changes may have earlier
      // times.
      if (time > (clock.observedUpTo ?? time) + MARGIN_MS) return undefined;
      return recent.since(time, productIds);
    },
    commentsSince: (time) => recent.commentsSince(time),
    now,
    async close() {
      clearInterval(timer);
      poller.stop();
      endWatch();
      await announcing;
      await publisher.close();
      await notify.stop();
    },
  };
}

/** Enough for several minutes on a busy site; older changes are evicted. */
const MAX_PRODUCTS = 10_000;
const MAX_COMMENTS = 10_000;

/**
 * How far before the requested time the returned changes begin: processes observe the same change at different times,
 * and a transaction may become visible several seconds after its record's time.
 */
const MARGIN_MS = 5_000;

/** If more comments changed, only the latest are returned. Clients that missed earlier changes refetch. */
const MAX_MISSED_COMMENTS = 1_000;

/**
 * The changes since a time, and possibly some from shortly before it. Callers read the current state, so reporting a
 * change twice is harmless.
 */
interface MissedChanges {
  productIds: string[];
  catalogue: boolean;
}

interface MissedComments {
  commentIds: string[];
  /** `commentIds` is complete for readers that missed the changes since this time or a later one. */
  completeSince: number;
}

/** Remembers recent changes. Times are the database's, which all processes share, in milliseconds since 1970. */
export class RecentChanges {
  /** The time of each product's last change, ordered by time. */
  readonly #products = new Map<string, number>();
  /** Ordered by time. A comment that was liked twice is listed twice. */
  #comments: { id: string; at: number }[] = [];
  #catalogueAt = Number.NEGATIVE_INFINITY;
  /** Changes up to this time may have been evicted. */
  #horizon = Number.POSITIVE_INFINITY;

  /** Adds the records from before this process started. `now` is the time at which they were read. */
  begin(records: readonly ChangeRecord[], now: number): void {
    this.#horizon = now - RETENTION_MS;
    for (const record of records.toSorted((a, b) => a.createdAt - b.createdAt)) {
      if (isEverything(record)) this.evictUpTo(record.createdAt);
      else this.add(record, record.createdAt);
    }
  }

  add({ productIds, commentIds = [], catalogue }: Change, at: number): void {
    if (catalogue) this.#catalogueAt = at;
    for (const id of productIds) {
      this.#products.delete(id);
      this.#products.set(id, at);
    }
    for (const id of commentIds) this.#comments.push({ id, at });
    this.#evictExcess();
  }

  /** Evicts all changes. Afterwards, the changes up to `upTo` are unknown. */
  evictUpTo(upTo: number): void {
    this.#products.clear();
    this.#comments = [];
    this.#horizon = upTo;
  }

  /** Returns the changes of these products, or of all by default; undefined if they are no longer known. */
  since(time: number, productIds: Iterable<string> = this.#products.keys()): MissedChanges | undefined {
    const from = time - MARGIN_MS;
    if (from < this.#horizon) return undefined;
    const changed = [...productIds].filter((id) => (this.#products.get(id) ?? Number.NEGATIVE_INFINITY) > from);
    return { productIds: changed, catalogue: this.#catalogueAt > from };
  }

  commentsSince(time: number): MissedComments {
    const ids = new Set<string>();
    for (let index = this.#comments.length - 1; index >= 0; index -= 1) {
      const comment = this.#comments[index];
      if (comment === undefined || comment.at <= time - MARGIN_MS) break;
      if (ids.size === MAX_MISSED_COMMENTS) return { commentIds: [...ids], completeSince: comment.at + MARGIN_MS };
      ids.add(comment.id);
    }
    return { commentIds: [...ids], completeSince: time };
  }

  #evictExcess(): void {
    for (const [id, at] of this.#products) {
      if (this.#products.size <= MAX_PRODUCTS) break;
      this.#products.delete(id);
      this.#horizon = Math.max(this.#horizon, at);
    }
    // Comments are removed in large steps, since each removal moves all remaining entries.
    if (this.#comments.length < 2 * MAX_COMMENTS) return;
    const evicted = this.#comments.splice(0, this.#comments.length - MAX_COMMENTS);
    this.#horizon = Math.max(this.#horizon, evicted.at(-1)?.at ?? this.#horizon);
  }
}
