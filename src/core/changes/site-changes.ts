import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import type { Log } from '../runtime.ts';
import { type Change, type ChangeRecord, deleteOldChanges, isEverything, RETENTION_MS } from './change-feed.ts';
import { pollChanges } from './change-poller.ts';
import { createChangePublisher, startChangeNotify } from './change-publisher.ts';

/** More launches in one interval are announced as a change of everything. */
const MAX_LAUNCHES = 1_000;

const SELECT_LAUNCHED = `SELECT id FROM products WHERE created_at > $1::timestamptz AND created_at <= $2::timestamptz
  LIMIT ${MAX_LAUNCHES + 1}`;

/**
 * The products that launched after `from` and up to `upTo`; undefined if they are too many to be listed.
 * @throws CoreError `unavailable`.
 */
async function readLaunches(sql: Sql, from: Date, upTo: Date): Promise<string[] | undefined> {
  const rows = await sql.query<{ id: string }>(SELECT_LAUNCHED, [from.toISOString(), upTo.toISOString()]);
  return rows.length > MAX_LAUNCHES ? undefined : rows.map(({ id }) => id);
}

const CLEANUP_INTERVAL_MS = 60_000;

/** Smaller steps back of the database's clock are waited out. */
const MAX_STEP_BACK_MS = 60_000;

export interface ChangeListener {
  /** A change by this process (at once) or another (soon), sometimes twice. */
  onChange(change: Change): void;
  /** Changes may have been missed, or are too many to be listed: anything cached may be stale. */
  onGap(): void;
  /** The database has been unreachable since a moment (milliseconds since 1970), or (undefined) it is back. */
  onDisconnect?(since: number | undefined): void;
}

/** The changes of every process, as this one observes them. */
export interface SiteChanges {
  /** Call after this process committed a change and before it acknowledges it. */
  onWrite(change: Change): void;
  subscribe(listener: ChangeListener): void;
  /** Await before serving anything: earlier changes of other processes may not be passed on. Never rejects. */
  ready: Promise<void>;
  /** Everything up to this moment was observed: the database's time in milliseconds, undefined before the first read. */
  observedUpTo(): number | undefined;
  /** The changes since such a moment, of these products or of all; undefined if they are no longer known. */
  since(moment: number, productIds?: Iterable<string>): MissedChanges | undefined;
  /** The site's clock: the database's time, which all processes share. It goes back only if that is set back by more than a minute. */
  now(): Date;
  /** Publishes the remaining changes. */
  close(): Promise<void>;
}

/** Observes this process's own writes at once and those of other processes through the database. */
export function subscribeToChanges(database: Database, log: Log): SiteChanges {
  const listeners: ChangeListener[] = [];
  const recent = new RecentChanges();
  let observedUpTo: number | undefined;
  /** What to add to this process's monotonic clock to get the database's time, in milliseconds. */
  let clockOffset = 0;
  let history: readonly ChangeRecord[] | undefined;
  const databaseNow = () => performance.now() + clockOffset;
  let lastNow = 0;
  /** Up to which moment launches were announced. */
  let launchedUpTo: number | undefined;
  let announcing: Promise<void> | undefined;

  function now(): Date {
    // Before the first read, this machine's clock has to do.
    lastNow = Math.max(lastNow, observedUpTo === undefined ? Date.now() : databaseNow());
    return new Date(lastNow);
  }

  /** A launch changes what visitors see without a write: every process announces it when its time has come. */
  async function announceLaunches(): Promise<void> {
    const upTo = now();
    const from = launchedUpTo;
    launchedUpTo = upTo.getTime();
    if (from === undefined || from >= launchedUpTo) return;
    try {
      const productIds = await readLaunches(database, new Date(from), upTo);
      if (productIds === undefined) for (const listener of listeners) listener.onGap();
      else if (productIds.length > 0) passOn({ productIds, catalogue: true });
    } catch (error) {
      // Read again next time, from the same moment on.
      launchedUpTo = Math.min(launchedUpTo ?? from, from);
      if (!(error instanceof CoreError))
        log.warn({ err: error }, 'Cannot read the products that launched; trying again');
    }
  }

  /** The clock was ahead by mistake: otherwise all votes until that time would be cast at one frozen moment. */
  function followBack(moment: number): void {
    log.warn({ seconds: Math.round((lastNow - moment) / 1_000) }, "The database's clock was set back");
    lastNow = moment;
    launchedUpTo = moment;
    recent.forget(databaseNow());
    for (const listener of listeners) listener.onGap();
  }

  function passOn(change: Change): void {
    recent.add(change, databaseNow());
    for (const listener of listeners) listener.onChange(change);
  }

  const publisher = createChangePublisher(database, log, () => notify.send());
  const poller = pollChanges(database, log, {
    onHistory(found) {
      history = found;
    },
    onChange(record) {
      // Its own changes were passed on already; other processes can read them only from now on.
      if (publisher.isOwn(record.id)) recent.add(record, databaseNow());
      else passOn(record);
    },
    onObservedUpTo(moment) {
      clockOffset = moment - performance.now();
      observedUpTo = moment;
      if (lastNow - moment > MAX_STEP_BACK_MS) followBack(moment);
      announcing ??= announceLaunches().finally(() => {
        announcing = undefined;
      });
      if (history !== undefined) recent.begin(history, moment);
      history = undefined;
    },
    onGap() {
      recent.forget(databaseNow());
      for (const listener of listeners) listener.onGap();
    },
    onDisconnect(since) {
      for (const listener of listeners) listener.onDisconnect?.(since);
    },
  });
  // Expects a query several times a second, which the poller makes.
  const endWatch = database.startWatchdog();
  const notify = startChangeNotify(database, log, () => poller.readNow());
  const cleanUp = () =>
    deleteOldChanges(database).catch((error: unknown) =>
      log.warn({ err: error }, 'Could not delete old changes; trying again in a minute'),
    );
  const timer = setInterval(cleanUp, CLEANUP_INTERVAL_MS).unref();

  return {
    onWrite(change) {
      passOn(change);
      publisher.add(change);
    },
    subscribe: (listener) => listeners.push(listener),
    ready: poller.firstTried,
    observedUpTo: () => observedUpTo,
    since: (moment, productIds) => recent.since(moment, productIds),
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
 * Processes observe the same change at different moments, and a transaction may become visible some seconds after its record's time. So
 * "since a moment" includes a little before it.
 */
const MARGIN_MS = 5_000;

/**
 * The changes since a moment, and some from shortly before it. `commentIds` is not limited to `productIds`. Callers
 * read the current state, so reporting a change twice is harmless.
 */
interface MissedChanges {
  productIds: string[];
  commentIds: string[];
  catalogue: boolean;
}

/** Remembers what changed when, by the database's time in milliseconds, which is the same in every process. */
export class RecentChanges {
  /** When each product last changed, the least recent first. */
  readonly #products = new Map<string, number>();
  /** Ordered by time; a comment liked twice is here twice. */
  #comments: { id: string; at: number }[] = [];
  #catalogueAt = Number.NEGATIVE_INFINITY;
  /** Changes up to here may be forgotten. */
  #horizon = Number.POSITIVE_INFINITY;

  /** Starts from the records made before this process. `now` is when they were read. */
  begin(records: readonly ChangeRecord[], now: number): void {
    this.#horizon = now - RETENTION_MS;
    for (const record of records.toSorted((a, b) => a.createdAt - b.createdAt)) {
      if (isEverything(record)) this.forget(record.createdAt);
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
    this.#forgetTooMany();
  }

  /** Forgets everything up to a moment. */
  forget(upTo: number): void {
    this.#products.clear();
    this.#comments = [];
    this.#horizon = upTo;
  }

  /** @returns the changes of these products (of all without `productIds`), or undefined if they are no longer known. */
  since(moment: number, productIds: Iterable<string> = this.#products.keys()): MissedChanges | undefined {
    const from = moment - MARGIN_MS;
    if (from < this.#horizon) return undefined;
    const changed = [...productIds].filter((id) => (this.#products.get(id) ?? Number.NEGATIVE_INFINITY) > from);
    return { productIds: changed, commentIds: this.#commentsSince(from), catalogue: this.#catalogueAt > from };
  }

  #commentsSince(from: number): string[] {
    const ids = new Set<string>();
    for (let index = this.#comments.length - 1; index >= 0; index -= 1) {
      const comment = this.#comments[index];
      if (comment === undefined || comment.at <= from) break;
      ids.add(comment.id);
    }
    return [...ids];
  }

  #forgetTooMany(): void {
    for (const [id, at] of this.#products) {
      if (this.#products.size <= MAX_PRODUCTS) break;
      this.#products.delete(id);
      this.#horizon = Math.max(this.#horizon, at);
    }
    // In large steps, since each removal moves all other entries.
    if (this.#comments.length < 2 * MAX_COMMENTS) return;
    const forgotten = this.#comments.splice(0, this.#comments.length - MAX_COMMENTS);
    this.#horizon = Math.max(this.#horizon, forgotten.at(-1)?.at ?? this.#horizon);
  }
}
