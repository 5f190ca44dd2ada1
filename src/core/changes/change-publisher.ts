import { randomUUID } from 'node:crypto';
import { CoreError } from '../core-error.ts';
import type { Database } from '../database/database.ts';
import type { Listening } from '../database/listen.ts';
import type { Log } from '../runtime.ts';
import { type Change, OVERLAP_MS, recordChange } from './change-feed.ts';

/** Changes are published to other processes at this interval, so thousands of writes share one record. */
const FLUSH_INTERVAL_MS = 100;

/**
 * If a record takes longer to commit, its changes are published again, because other processes may find the record only
 * seconds later.
 */
const MAX_COMMIT_MS = (2 / 3) * OVERLAP_MS;

/** A process remembers this many of its own records, so it does not act on them twice. */
const MAX_OWN_RECORDS = 1_000;

const NOTHING: Change = { productIds: [], catalogue: false };

/**
 * Publishes the committed changes of this process to other processes, up to ten times a second and outside the
 * transactions of the changes. If this process crashes before it publishes a change, the others do not learn of it;
 * therefore, cached responses count as stale after a minute.
 */
export class ChangePublisher {
  readonly #database: Database;
  readonly #log: Log;
  readonly #onPublished: () => void;
  readonly #productIds = new Set<string>();
  readonly #commentIds = new Set<string>();
  #catalogue = false;
  /**
   * Changes to publish a second time. They are not published a third time, because a busy database would delay the
   * third record, too.
   */
  #late: Change = NOTHING;
  readonly #ownRecords = new Set<string>();
  /** Whether the last publication failed. Only the first failure of an outage is logged. */
  #isFailing = false;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** @param onPublished called after a change record is committed, when other processes can read it */
  constructor(database: Database, log: Log, onPublished: () => void = () => {}) {
    this.#database = database;
    this.#log = log;
    this.#onPublished = onPublished;
  }

  /** Enqueues a committed change. */
  add({ productIds, commentIds = [], catalogue }: Change): void {
    for (const id of productIds) this.#productIds.add(id);
    for (const id of commentIds) this.#commentIds.add(id);
    this.#catalogue ||= catalogue;
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    this.#timer ??= setTimeout(() => {
      this.#flushing = this.#flushing.then(() => this.#flush());
    }, FLUSH_INTERVAL_MS).unref();
  }

  /** Returns whether this process wrote a record, and so has already acted on it. */
  isOwn(recordId: string): boolean {
    return this.#ownRecords.has(recordId);
  }

  /** Waits for a publication that is under way, then publishes the remaining changes once, without retries. */
  async close(): Promise<void> {
    await this.#flushing;
    this.#isClosed = true;
    await this.#flush();
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const added = {
      productIds: [...this.#productIds],
      commentIds: [...this.#commentIds],
      catalogue: this.#catalogue,
    };
    const late = this.#late;
    const change = union(added, late);
    if (change.productIds.length === 0) return;
    this.#productIds.clear();
    this.#commentIds.clear();
    this.#catalogue = false;
    this.#late = NOTHING;
    const id = randomUUID();
    // The id is remembered before the INSERT, because another connection may read the record before this process learns
    // of the commit.
    this.#remember(id);
    const begunAt = performance.now();
    try {
      await recordChange(this.#database, change, id);
      this.#isFailing = false;
      this.#onPublished();
      // The commit may have taken so long that only reads with the long overlap find the record.
      if (performance.now() - begunAt > MAX_COMMIT_MS && !this.#isClosed) {
        this.#late = added;
        this.#scheduleFlush();
      }
    } catch (error) {
      const next = this.#isClosed ? '' : '; trying again';
      if (this.#isClosed || !this.#isFailing)
        this.#log.warn({ err: error }, `Cannot publish changes to other processes${next}`);
      this.#isFailing = true;
      if (this.#isClosed) return;
      this.#late = late;
      this.add(added);
    }
  }

  #remember(recordId: string): void {
    this.#ownRecords.add(recordId);
    for (const oldest of this.#ownRecords) {
      if (this.#ownRecords.size <= MAX_OWN_RECORDS) return;
      this.#ownRecords.delete(oldest);
    }
  }
}

function union(added: Change, late: Change): Change {
  const commentIds = [...new Set([...(added.commentIds ?? []), ...(late.commentIds ?? [])])];
  const productIds = [...new Set([...added.productIds, ...late.productIds])];
  return { productIds, commentIds, catalogue: added.catalogue || late.catalogue };
}

export const CHANNEL = 'groundswell_changes';

/**
 * How long to wait for a probe to come back to this process. Behind a pooler in transaction mode, LISTEN succeeds, but
 * no notification ever arrives.
 */
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Notifies other processes of new changes with LISTEN and NOTIFY, if the database supports that, so they read the table
 * of changes immediately instead of at their next interval. Nothing depends on notifications: they name only their
 * sender, and polling finds every change.
 */
export class ChangeNotify {
  readonly #database: Database;
  readonly #log: Log;
  readonly #self = randomUUID();
  readonly #listening: Listening;
  /**
   * Whether this process receives notifications. If not, it sends only probes, because the other processes are
   * connected in the same way and would not receive notifications either.
   */
  #isWorking = false;
  /** Aborted when a probe has arrived, or is no longer awaited. */
  #probe = new AbortController();

  constructor(database: Database, log: Log, onNotify: () => void) {
    this.#database = database;
    this.#log = log;
    this.#listening = database.listen(CHANNEL, {
      onListening: (ended) => void this.#sendProbe(ended),
      onNotification: (sender) => {
        if (sender !== this.#self) return onNotify();
        this.#probe.abort();
        this.#isWorking = true;
      },
    });
  }

  send(): void {
    if (this.#isWorking) void this.#notify();
  }

  stop(): Promise<void> {
    this.#probe.abort();
    return this.#listening.stop();
  }

  async #sendProbe(ended: Promise<void>): Promise<void> {
    this.#probe.abort();
    const probe = new AbortController();
    this.#probe = probe;
    const { signal } = probe;
    // After the connection is lost, the next one sends another probe.
    void ended.then(() => probe.abort());
    await this.#notify();
    // The timeout starts after the probe has been sent, which may take seconds on a busy machine.
    if (signal.aborted) return;
    // If this process itself was blocked, `setImmediate` lets it first read a notification that has already arrived.
    const timer = setTimeout(() => setImmediate(() => this.#giveUp(signal)), PROBE_TIMEOUT_MS).unref();
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  #giveUp(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#log.info(
      'No notification arrived over the database connection (some poolers forward none); polling for changes instead',
    );
    this.#isWorking = false;
    this.#listening.pause();
  }

  #notify(): Promise<unknown> {
    return this.#database.query('SELECT pg_notify($1, $2)', [CHANNEL, this.#self]).catch((error: unknown) => {
      if (error instanceof CoreError) return;
      // The database does not support NOTIFY, so every further attempt would fail.
      this.#isWorking = false;
    });
  }
}
