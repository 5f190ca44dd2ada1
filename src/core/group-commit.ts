import { setTimeout as sleep } from 'node:timers/promises';
import { CoreError } from './core-error.ts';
import { isFaultOfAnItem, isSerializationFailure } from './database/database-faults.ts';

/** The outcome of one item of a batch: its result, or why it alone was refused. */
export type Outcome<Result> = Result | CoreError;

export interface GroupCommitOptions<Item, Result> {
  /**
   * Writes a batch in one transaction and returns the outcome of each item, in order. A thrown error concerns the whole
   * batch, of which no item was written.
   */
  commit(items: readonly Item[]): Promise<Outcome<Result>[]>;
  /** Maximum items per transaction: bounds the statement, and how long the first waits for the last. */
  maxBatch?: number;
  /** Maximum items in the queue; further ones are refused, so a burst cannot exhaust the memory. */
  maxQueued?: number;
  /** How long an item may wait for its transaction to begin. A late one is refused and never written. */
  maxWaitMs?: number;
  observer?: GroupCommitObserver | undefined;
}

/** Receives events for metrics. */
export interface GroupCommitObserver {
  committed(items: number, seconds: number): void;
  /** A transaction ended in a deadlock and is retried. */
  retried(): void;
  /** A transaction failed and was rolled back. */
  failed(): void;
  /** An item found the queue full. */
  refused(): void;
}

export interface GroupCommit<Item, Result> {
  /** Resolves after the commit. @throws CoreError of the item, or `overloaded`, `unavailable`. */
  submit(item: Item): Promise<Result>;
  /** The number of queued items. */
  queued(): number;
}

interface Waiting<Item, Result> {
  item: Item;
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 5;
const MAX_WAIT_MS = 8_000;

/**
 * Group commit: items that arrive during a transaction go together into the next one (DeWitt et al., "Implementation
 * techniques for main memory database systems", 1984). There is no timer: a single item is written at once; under load,
 * batches grow to the capacity of one flush to disk.
 */
export function groupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { commit, maxBatch = 1_000, maxQueued = 20_000, maxWaitMs = MAX_WAIT_MS, observer } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;
  let lateTimer: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      refuseLate();
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      if (batch.length > 0) await processBatch(batch);
    }
    running = false;
  }

  /** Queued items, in the order of arrival. */
  function refuseLate(): void {
    const earliest = performance.now() - maxWaitMs;
    const firstInTime = waiting.findIndex(({ since }) => since >= earliest);
    const late = waiting.splice(0, firstInTime === -1 ? waiting.length : firstInTime);
    for (const { reject } of late) {
      observer?.refused();
      reject(new CoreError('unavailable', 'The database is too slow right now. Please try again in a moment.'));
    }
    clearTimeout(lateTimer);
    const [next] = waiting;
    if (next) lateTimer = setTimeout(refuseLate, next.since - earliest + 1).unref();
  }

  /** Never throws: every failure is returned to the callers. */
  async function processBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await commitWithRetries(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome instanceof CoreError) reject(outcome);
        else resolve(outcome as Result);
      }
    } catch (error) {
      observer?.failed();
      // While the database is unavailable, retrying items would make it worse; after a lost connection it is unknown
      // whether the batch was written.
      const isAway = error instanceof CoreError && error.code === 'unavailable';
      if (batch.length === 1 || isAway || !isFaultOfAnItem(error)) for (const { reject } of batch) reject(error);
      else await processHalves(batch);
    }
  }

  /** Finds the failing items of a batch by halving it: one of a thousand costs twenty transactions. */
  async function processHalves(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await processBatch(batch.slice(0, middle));
    await processBatch(batch.slice(middle));
  }

  async function commitWithRetries(items: readonly Item[]): Promise<Outcome<Result>[]> {
    for (let tried = 1; ; tried += 1) {
      try {
        const started = performance.now();
        const outcomes = await commit(items);
        observer?.committed(items.length, (performance.now() - started) / 1_000);
        return outcomes;
      } catch (error) {
        if (tried === MAX_TRIES || !isSerializationFailure(error)) throw error;
        observer?.retried();
        // Jittered, so the same transactions do not deadlock again.
        await sleep(FIRST_PAUSE_MS * 2 ** tried * Math.random());
      }
    }
  }

  return {
    submit(item) {
      if (waiting.length >= maxQueued) {
        observer?.refused();
        return Promise.reject(
          new CoreError('overloaded', 'The site is overloaded right now. Please try again in a moment.'),
        );
      }
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, since: performance.now(), resolve, reject });
        if (waiting.length === 1 && running) refuseLate();
        // After the current turn, so everything that arrived in one read of the sockets shares a transaction.
        if (!running) {
          running = true;
          setImmediate(run);
        }
      });
    },
    queued: () => waiting.length,
  };
}

/** The result of a batch of writes: an outcome for each item, in order, and what readers must reload. */
export interface BatchResult<Result> {
  outcomes: Outcome<Result>[];
  /** Products whose counts or comments changed, each once. */
  productIds: string[];
  /** Comments that were written or liked, each once. */
  commentIds: string[];
}
