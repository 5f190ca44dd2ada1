import { CoreError } from './core-error.ts';
import { isItemError } from './database/database-errors.ts';
import { retryConflicts } from './database/transactions.ts';

/** The outcome of one item of a batch: its result, or the error that concerns only this item. */
export type Outcome<Result> = Result | CoreError;

export interface GroupCommitOptions<Item, Result> {
  /**
   * Writes a batch and returns the outcome of each item, in order. If it throws `unavailable`, the items may or may not
   * have been written. After any other error, none was written, or writing them again must give the same result.
   */
  commit(items: readonly Item[]): Promise<Outcome<Result>[]>;
  /** Maximum items per transaction, which bounds the size of the statement and the time that each item waits. */
  maxBatch?: number;
  /** Maximum items in the queue. Further items are rejected, so a burst cannot exhaust memory. */
  maxQueued?: number;
  /** Maximum time that an item waits in the queue. An item that waits longer is rejected and not written. */
  maxWaitMs?: number;
  observer?: GroupCommitObserver | undefined;
}

/** Receives events for metrics. */
export interface GroupCommitObserver {
  committed(items: number, seconds: number): void;
  /** A transaction failed with a serialization failure or a deadlock and is retried. */
  retried(): void;
  /** A transaction failed with another error, or on its last attempt. */
  failed(): void;
  /** An item was rejected: the queue was full, the item waited too long, or the database is unavailable. */
  rejected(): void;
}

interface GroupCommit<Item, Result> {
  /**
   * Queues an item, and resolves to its result after the commit.
   * @throws the CoreError of the item; CoreError `overloaded`, `unavailable`; other errors of `commit`.
   */
  submit(item: Item): Promise<Result>;
  /** Returns the number of items that wait for their transaction to begin. */
  queued(): number;
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

const INITIAL_BACKOFF_MS = 5;
const MAX_WAIT_MS = 8_000;

/**
 * Implements group commit: items that arrive during a transaction are written together in the next one (DeWitt et al.,
 * "Implementation techniques for main memory database systems", 1984). No timer delays items: a single item is written
 * immediately, and under load, more items share one flush to disk.
 */
export function groupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { commit, maxBatch = 1_000, maxQueued = 20_000, maxWaitMs = MAX_WAIT_MS, observer } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;
  let lateTimer: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    while (waiting.length > 0) {
      rejectLate();
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      if (batch.length > 0) await processBatch(batch);
    }
    running = false;
  }

  /** Rejects items that have waited too long, and schedules the next check. The queue is in the order of arrival. */
  function rejectLate(): void {
    const earliest = performance.now() - maxWaitMs;
    const firstInTime = waiting.findIndex(({ since }) => since >= earliest);
    const late = waiting.splice(0, firstInTime === -1 ? waiting.length : firstInTime);
    for (const { reject } of late) {
      observer?.rejected();
      reject(new CoreError('unavailable', 'The database is too slow right now. Please try again in a moment.'));
    }
    clearTimeout(lateTimer);
    const [next] = waiting;
    if (next) lateTimer = setTimeout(rejectLate, next.since - earliest + 1).unref();
  }

  /** Never throws: a failure rejects the promises of the affected items. */
  async function processBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await commitWithRetries(batch.map(({ item }) => item));
      // The next transaction starts first, so the database works on it while this process sends the responses.
      setImmediate(() => acknowledge(batch, outcomes));
    } catch (error) {
      observer?.failed();
      // The batch is not split while the database is unavailable: further transactions would only add load, and the
      // batch may have been written before its connection was lost.
      const isUnavailable = error instanceof CoreError && error.code === 'unavailable';
      if (isUnavailable) for (const _ of batch) observer?.rejected();
      if (batch.length === 1 || isUnavailable || !isItemError(error)) for (const { reject } of batch) reject(error);
      else await processHalves(batch);
    }
  }

  function acknowledge(batch: readonly Waiting<Item, Result>[], outcomes: readonly Outcome<Result>[]): void {
    for (const [index, { resolve, reject }] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome instanceof CoreError) reject(outcome);
      else resolve(outcome as Result);
    }
  }

  /**
   * Isolates the failing items of a batch by halving it. Isolating one of a thousand items takes about twenty
   * transactions.
   */
  async function processHalves(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await processBatch(batch.slice(0, middle));
    await processBatch(batch.slice(middle));
  }

  function commitWithRetries(items: readonly Item[]): Promise<Outcome<Result>[]> {
    const attempt = async () => {
      const started = performance.now();
      const outcomes = await commit(items);
      observer?.committed(items.length, (performance.now() - started) / 1_000);
      return outcomes;
    };
    return retryConflicts(attempt, { initialBackoffMs: INITIAL_BACKOFF_MS, onRetry: () => observer?.retried() });
  }

  return {
    submit(item) {
      if (waiting.length >= maxQueued) {
        observer?.rejected();
        return Promise.reject(
          new CoreError('overloaded', 'The site is overloaded right now. Please try again in a moment.'),
        );
      }
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, since: performance.now(), resolve, reject });
        // Schedules the first timeout; `rejectLate` schedules the following ones.
        if (waiting.length === 1 && running) rejectLate();
        // Runs after the current event-loop phase, so requests that were read together share a transaction.
        if (!running) {
          running = true;
          setImmediate(run);
        }
      });
    },
    queued: () => waiting.length,
  };
}

/** The result of a batch of writes: the outcome of each item, in order, and the data that readers must reload. */
export interface BatchResult<Result> {
  outcomes: Outcome<Result>[];
  /** The distinct products whose counts or comments may have changed. */
  productIds: string[];
  /** The distinct comments that were written or liked. */
  commentIds: string[];
}
