import { randomUUID } from 'node:crypto';
import { CoreError } from '../core-error.ts';
import type { Database } from '../database/database.ts';
import type { Listening } from '../database/listen.ts';
import type { Log } from '../runtime.ts';
import { type Change, recordChange } from './change-feed.ts';

/** How often changes are published to other processes, so thousands of writes share one record. */
const FLUSH_INTERVAL_MS = 100;

/** A process remembers this many of its own records, so it does not act on them twice. */
const MAX_OWN_RECORDS = 1_000;

interface ChangePublisher {
  /** Enqueues a committed change of this process. */
  add(change: Change): void;
  /** Whether this process wrote a record, and so has already acted on it. */
  isOwn(recordId: string): boolean;
  /** Publishes the remaining changes. */
  close(): Promise<void>;
}

/**
 * Publishes the committed changes of this process to others, up to ten times a second and outside of the transaction. A
 * crash before publication loses the changes, so responses are cached for at most a minute. `onPublished` runs when
 * others can read a record.
 */
export function createChangePublisher(
  database: Database,
  log: Log,
  onPublished: () => void = () => {},
): ChangePublisher {
  let productIds = new Set<string>();
  let commentIds = new Set<string>();
  const own = new Set<string>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (productIds.size === 0) return;
    const change = { productIds: [...productIds], commentIds: [...commentIds], catalogue: false };
    productIds = new Set();
    commentIds = new Set();
    try {
      remember(await recordChange(database, change));
      onPublished();
    } catch (error) {
      log.warn({ err: error }, 'Could not publish changes to other processes; trying again');
      add(change);
    }
  }

  function remember(recordId: string): void {
    own.add(recordId);
    for (const oldest of own) {
      if (own.size <= MAX_OWN_RECORDS) return;
      own.delete(oldest);
    }
  }

  function add(change: Change): void {
    for (const id of change.productIds) productIds.add(id);
    for (const id of change.commentIds ?? []) commentIds.add(id);
    timer ??= setTimeout(flush, FLUSH_INTERVAL_MS).unref();
  }

  return {
    add,
    isOwn: (recordId) => own.has(recordId),
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}

const CHANNEL = 'groundswell_changes';

/**
 * How long to wait for the probe's own notification: behind a pooler in transaction mode, LISTEN succeeds but no
 * notification ever arrives.
 */
const PROBE_TIMEOUT_MS = 2_000;

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
   * Whether this process receives notifications. If not, it sends none, since the others are connected in the same way.
   */
  #isWorking = false;
  /** Aborted when a probe has arrived, or is no longer awaited. */
  #probe = new AbortController();

  constructor(database: Database, log: Log, onNotify: () => void) {
    this.#database = database;
    this.#log = log;
    this.#listening = database.listen(CHANNEL, {
      onListening: () => void this.#sendProbe(),
      onNotice: (sender) => {
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

  async #sendProbe(): Promise<void> {
    this.#probe.abort();
    this.#probe = new AbortController();
    const { signal } = this.#probe;
    await this.#notify();
    // The timeout starts after the probe has been sent, which may take seconds on a busy machine.
    if (signal.aborted) return;
    const timer = setTimeout(() => this.#giveUp(), PROBE_TIMEOUT_MS).unref();
    signal.addEventListener('abort', () => clearTimeout(timer));
  }

  #giveUp(): void {
    this.#log.info('The database connection does not deliver notifications (some poolers do not): polling for changes');
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
