import { setTimeout as sleep } from 'node:timers/promises';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from './database.ts';
import { isLockTimeout, isPermissionDenied, isSerializationFailure, isUniqueViolation } from './database-errors.ts';

const MAX_ATTEMPTS = 6;
const INITIAL_BACKOFF_MS = 20;

interface RetryOptions {
  initialBackoffMs?: number;
  mayRetry?(error: unknown): boolean;
  onRetry?(): void;
}

/**
 * Runs `attempt`, and retries it after errors that `mayRetry` accepts: by default, deadlocks and serialization
 * failures.
 * @throws any other error, or the error from the sixth attempt.
 */
export async function retryConflicts<Result>(
  attempt: () => Promise<Result>,
  { initialBackoffMs = INITIAL_BACKOFF_MS, mayRetry = isSerializationFailure, onRetry }: RetryOptions = {},
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (tried === MAX_ATTEMPTS || !mayRetry(error)) throw error;
      onRetry?.();
      // Waits for a random time, so the same transactions do not deadlock again.
      await sleep(initialBackoffMs * 2 ** tried * Math.random());
    }
  }
}

/**
 * Runs `work` in a transaction, and retries it after a deadlock or a serialization failure. On a single PostgreSQL
 * server, both are rare, because most transactions lock rows in the same order; a database on several servers cannot
 * guarantee an order. `work` must have no effects outside the transaction.
 */
export function transactionWithRetries<Result>(
  database: Database,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  return retryConflicts(() => database.transaction(work));
}

/**
 * Like `transactionWithRetries`, but also retries `work` if another transaction creates one of the same rows at the
 * same time, or a submission reserves the id of a new product (CoreError `overloaded`). The next attempt finds that row
 * or reservation.
 */
export function insertWithRetries<Result>(database: Database, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const isReserved = (error: unknown) => error instanceof CoreError && error.code === 'overloaded';
  const mayRetry = (error: unknown) => isSerializationFailure(error) || isUniqueViolation(error) || isReserved(error);
  return retryConflicts(() => database.transaction(work), { mayRetry });
}

/**
 * Runs a change, then `read` at the end of its transaction. If `read` ran after the commit and failed, the change would
 * be reported as failed although it was made.
 */
export async function readBeforeCommit<Result, Read>(
  database: Database,
  change: (database: Database) => Promise<Result>,
  read: (sql: Sql) => Promise<Read>,
): Promise<[Result, Read]> {
  const found: Read[] = [];
  const result = await change({
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        const done = await work(sql);
        found[0] = await read(sql);
        return done;
      }),
  });
  return [result, found[0] as Read];
}

/**
 * Disables the server's timeouts for the rest of a transaction, for long work such as a backup or the download of a
 * tally. The client's timeout per statement still applies.
 */
export async function disableTimeouts(sql: Sql): Promise<void> {
  await sql.query('SET LOCAL statement_timeout = 0');
  await sql.query('SET LOCAL idle_in_transaction_session_timeout = 0');
}

/** Longer than PostgreSQL's `deadlock_timeout` (1 s), after which a waiting transaction cancels an autovacuum. */
const LOCK_TIMEOUT_MS = 1_500;

/**
 * Executes a LOCK statement in a transaction. Waits for at most `LOCK_TIMEOUT_MS` at a time, because other transactions
 * queue behind a waiting LOCK. Before each further attempt, calls `onWait`, which may throw to stop waiting.
 */
export async function waitForLock(sql: Sql, lock: string, onWait: () => void): Promise<void> {
  await sql.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await sql.query('SAVEPOINT before_lock');
  for (;;) {
    try {
      await sql.query(lock);
      break;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      await sql.query('ROLLBACK TO SAVEPOINT before_lock');
      onWait();
    }
  }
  await sql.query('RELEASE SAVEPOINT before_lock');
  await sql.query('SET LOCAL lock_timeout = 0');
}

/** Enough rows to amortize the cost of a statement, but few enough to hold in memory at the usual size of a row. */
const BATCH_ROWS = 500;

/**
 * Makes a transaction read-only, on one snapshot of the database, with times in UTC. Must be the first call of the
 * transaction.
 */
export async function holdSnapshot(sql: Sql): Promise<void> {
  await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await sql.query("SET LOCAL TimeZone = 'UTC'");
}

/**
 * Runs `read` in a read-only transaction on one snapshot of the whole site, without timeouts.
 * @throws an Error with advice if the database's role may not read all rows; the errors of `read`.
 */
export function readSnapshot<Result>(database: Database, read: (sql: Sql) => Promise<Result>): Promise<Result> {
  const reading = database.transaction(async (sql) => {
    await holdSnapshot(sql);
    await disableTimeouts(sql);
    // Without this setting, row-level security would omit rows. With it, PostgreSQL raises an error instead.
    await sql.query('SET LOCAL row_security = off');
    return read(sql);
  });
  return reading.catch((error: unknown) => {
    throw explainDenial(error);
  });
}

/** Explains the error of a role that lacks a privilege, or from which row-level security hides rows. */
function explainDenial(error: unknown): unknown {
  if (!isPermissionDenied(error)) return error;
  return new Error(
    `The database's role may not read all rows (${(error as Error).message}). Let the role read the tables without row-level security, for example as their owner or with BYPASSRLS.`,
    { cause: error },
  );
}

/**
 * Reads the rows of a SELECT in batches. Call it in a transaction, for one SELECT at a time. If the caller stops before
 * the last batch, the cursor stays open, so this transaction cannot read in batches again.
 */
export async function* readInBatches<Row extends object>(
  sql: Sql,
  select: string,
  { values, batchRows = BATCH_ROWS }: { values?: readonly unknown[]; batchRows?: number | undefined } = {},
): AsyncGenerator<Row[]> {
  await sql.query(`DECLARE batch_rows NO SCROLL CURSOR FOR ${select}`, values);
  for (;;) {
    const rows = await sql.query<Row>(`FETCH ${batchRows} FROM batch_rows`);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await sql.query('CLOSE batch_rows');
}

/**
 * Maps the parts of a source in order, and prepares the next result while the consumer uses the current one.
 * @throws the errors of `prepare`, in order. An error of the source is thrown immediately, and the prepared result is
 * discarded.
 */
export async function* prefetchOne<Part, Result>(
  source: AsyncIterable<Part>,
  prepare: (part: Part) => Promise<Result>,
): AsyncGenerator<Result> {
  let prefetched: Promise<Result> | undefined;
  for await (const part of source) {
    const pending = prepare(part);
    // Prevents an unhandled rejection if the consumer stops. Otherwise, the consumer gets the error from `await` below.
    pending.catch(() => {});
    if (prefetched !== undefined) yield await prefetched;
    prefetched = pending;
  }
  if (prefetched !== undefined) yield await prefetched;
}

/** A connection that accepts a statement before the previous one has ended. */
interface StatementQueue {
  /** Runs statements one after the other. After a failure, all later statements fail with the same error. */
  sql: Sql;
  /** Waits for the running statement. Later statements fail and are never sent. */
  end(): Promise<void>;
}

/**
 * Queues statements and sends them one at a time. Call `end` before the transaction ends; otherwise, a queued statement
 * could be sent after the transaction.
 */
export function serializeStatements(connection: Sql): StatementQueue {
  let last: Promise<unknown> = Promise.resolve();
  let ended = false;
  return {
    sql: {
      query(text, values, options) {
        const result = last.then(() => {
          if (ended) throw new Error('The statement was not sent, because its transaction has ended');
          return connection.query<never>(text, values, options);
        });
        // Prevents an unhandled rejection. The caller gets the error from this statement or from the next one.
        result.catch(() => {});
        last = result;
        return result;
      },
    },
    async end() {
      ended = true;
      await last.catch(() => {});
    },
  };
}
