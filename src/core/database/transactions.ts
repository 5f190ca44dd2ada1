import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Sql } from './database.ts';
import { isSerializationFailure } from './database-faults.ts';

const MAX_TRIES = 6;
const FIRST_PAUSE_MS = 20;

/**
 * Runs `work` in a transaction, and retries it after a deadlock. On one PostgreSQL, where rows are locked in one
 * order, there are none; a database on several servers cannot guarantee that. `work` must have no other effect.
 */
export async function transactionWithRetries<Result>(
  database: Database,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await database.transaction(work);
    } catch (error) {
      if (tried === MAX_TRIES || !isSerializationFailure(error)) throw error;
      // Jittered, so the same transactions do not deadlock again.
      await sleep(FIRST_PAUSE_MS * 2 ** tried * Math.random());
    }
  }
}

const remembered = new WeakMap<Sql, Promise<boolean>>();

/**
 * Whether rows are distributed (Citus). Queried once per pool, and once per transaction that needs it.
 * @throws CoreError `unavailable`.
 */
export function isDistributed(sql: Sql): Promise<boolean> {
  const known = remembered.get(sql);
  if (known) return known;
  const asking = hasCitus(sql);
  remembered.set(sql, asking);
  // A failed query is repeated the next time.
  asking.catch(() => remembered.delete(sql));
  return asking;
}

/** Whether this database has the extension Citus. */
export async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;
}

/** The end of a SELECT whose rows are about to be changed. */
export type RowLock = 'FOR UPDATE' | 'FOR NO KEY UPDATE' | '';

/**
 * The lock that a statement takes on rows of many products before it changes them, in the order in which it reads
 * them, so two processes never deadlock. Citus cannot lock rows of many shards in order, so none is taken there:
 * deadlocks are detected, and one of the transactions is retried (40P01).
 */
export async function rowLock(sql: Sql, lock: RowLock): Promise<RowLock> {
  return (await isDistributed(sql)) ? '' : lock;
}

/** Removes the timeouts of the transaction, for operators' commands that may take long and block no visitor. */
export async function disableTimeouts(sql: Sql): Promise<void> {
  await sql.query('SET LOCAL statement_timeout = 0');
  await sql.query('SET LOCAL idle_in_transaction_session_timeout = 0');
}

/** Enough rows to hide the cost of a statement, few enough to hold in memory at any row size. */
const BATCH_ROWS = 500;

/**
 * Makes a transaction read one snapshot of the database, with times in UTC. Must be the first call of the transaction.
 */
export async function holdSnapshot(sql: Sql): Promise<void> {
  await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await sql.query("SET LOCAL TimeZone = 'UTC'");
}

/**
 * Reads the rows of a SELECT in batches. Call it in a transaction after `holdSnapshot`, for one statement at a time.
 */
export async function* readInBatches<Row extends object>(
  sql: Sql,
  select: string,
  batchRows = BATCH_ROWS,
): AsyncGenerator<Row[]> {
  await sql.query(`DECLARE snapshot_rows NO SCROLL CURSOR FOR ${select}`);
  for (;;) {
    const rows = await sql.query<Row>(`FETCH ${batchRows} FROM snapshot_rows`);
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) break;
  }
  await sql.query('CLOSE snapshot_rows');
}
