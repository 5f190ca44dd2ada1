import { setTimeout as sleep } from 'node:timers/promises';
import { CoreError } from './core-error.ts';
import { isSerializationFailure } from './database/database-faults.ts';

/** What became of one item of a batch: its result, or why it alone was refused. */
export type Outcome<Result> = Result | CoreError;

export interface GroupCommitOptions<Item, Result> {
  /**
   * Writes a batch in one transaction and tells what became of each item, in the same order. An error that is thrown is
   * about the batch as a whole, and means that nothing of it was written.
   */
  commit(items: readonly Item[]): Promise<Outcome<Result>[]>;
  /** Items in one transaction at most: bounds the statement, and how long the first waits for the last. */
  maxBatch?: number;
  /** Items waiting at most; more are refused, so that a burst cannot eat the memory. */
  maxQueued?: number;
  observer?: GroupCommitObserver | undefined;
}

/** Is told what happens, for whoever measures it. */
export interface GroupCommitObserver {
  committed(items: number, seconds: number): void;
  /** A transaction met another one crosswise and is tried again. */
  retried(): void;
  /** A transaction failed, and nothing of it was written. */
  failed(): void;
  /** An item found the queue full. */
  refused(): void;
}

export interface GroupCommit<Item, Result> {
  /** Resolves after the commit. @throws CoreError of the item, or `overloaded`, `unavailable`. */
  submit(item: Item): Promise<Result>;
  /** How many items wait for a transaction. */
  queued(): number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 5;

/**
 * Group commit: whatever arrives while a transaction is in flight goes together into the next one (DeWitt et al.,
 * "Implementation techniques for main memory database systems", 1984). There is no timer: alone, an item is written at
 * once; under load, batches grow by themselves to what one flush to disk can carry.
 */
export function groupCommit<Item, Result>(options: GroupCommitOptions<Item, Result>): GroupCommit<Item, Result> {
  const { commit, maxBatch = 1_000, maxQueued = 20_000, observer } = options;
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;

  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      await settle(batch);
    }
    running = false;
  }

  /** Never throws: whatever goes wrong is the answer to those who wait. */
  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await commitWithRetries(batch.map(({ item }) => item));
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome instanceof CoreError) reject(outcome);
        else resolve(outcome as Result);
      }
    } catch (error) {
      observer?.failed();
      // While the database is away, asking again for each item would only make it worse; and after a lost connection
      // nobody knows whether the batch was written.
      const isAway = error instanceof CoreError && error.code === 'unavailable';
      if (batch.length === 1 || isAway) for (const { reject } of batch) reject(error);
      else await settleHalves(batch);
    }
  }

  /** Finds the items at which a batch fails by halving it: one of a thousand costs twenty transactions. */
  async function settleHalves(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    await settle(batch.slice(0, middle));
    await settle(batch.slice(middle));
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
        // Spread, so that the transactions that met do not meet again.
        await sleep(FIRST_PAUSE_MS * 2 ** tried * Math.random());
      }
    }
  }

  return {
    submit(item) {
      if (waiting.length >= maxQueued) {
        observer?.refused();
        return Promise.reject(
          new CoreError('overloaded', 'Too much is going on right now. Please try again in a moment.'),
        );
      }
      return new Promise<Result>((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // After the current turn, so that all that arrived in one reading of the sockets shares a transaction.
        if (!running) {
          running = true;
          setImmediate(run);
        }
      });
    },
    queued: () => waiting.length,
  };
}
