import pg from 'pg';
import { CoreError } from '../core-error.ts';
import type { Log } from '../log.ts';
import { isUnavailable } from './database-faults.ts';
import { type Listener, type Listening, listenOn } from './listen.ts';
import { createSilenceWatch } from './silence.ts';

/** Where a statement can be sent: the pool, or the one connection of a transaction. */
export interface Sql {
  /** Runs one statement; `values` fill `$1`, `$2`, … @throws CoreError `unavailable` while the database is away. */
  query<Row extends object>(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<Row[]>;
}

export interface StatementOptions {
  /** After how long the client gives this statement up, where it needs to know sooner than others. */
  timeoutMs?: number;
}

export interface Database extends Sql {
  /** Runs `work` in one transaction (READ COMMITTED); any error rolls all of it back and is thrown on. */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Listens to a channel of notices (LISTEN) on a connection beside the others. */
  listen(channel: string, listener: Listener): Listening;
  /** For as long as something is asked all the time: makes connections anew when none of them answers. @returns how to end it. */
  watchSilence(intervalMs?: number): () => void;
  /** How many connections there are, and how many callers wait for one. */
  connections(): Connections;
  /** Waits for what is running and ends every connection. */
  close(): Promise<void>;
}

export interface Connections {
  busy: number;
  idle: number;
  waiting: number;
  max: number;
}

export interface DatabaseOptions {
  url: string;
  log: Log;
  /** Connections at most; the default suits one process beside others on one server. */
  maxConnections?: number;
  /** After how long the client gives a statement up; 0: never, for work such as building an index. */
  statementTimeoutMs?: number;
  /** A statement that takes longer, with its wait for a connection, is put into the log. */
  slowStatementMs?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 15_000;
const SLOW_STATEMENT_MS = 1_000;

/** Opens a pool on a PostgreSQL URL. Nothing is sent before the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, log, maxConnections = 10, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  // Where a statement may take for ever, it is expected to.
  const { slowStatementMs = statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : SLOW_STATEMENT_MS } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    // Client-side, since a pooler in between may refuse start-up parameters.
    query_timeout: statementTimeoutMs,
    idleTimeoutMillis: 30_000,
    application_name: 'groundswell',
  });
  // An idle connection that breaks is replaced by the pool; unheard, its error would end the process.
  let isClosing = false;
  pool.on('error', (error) => {
    if (!isClosing) log.warn({ err: error }, 'An idle database connection was lost');
  });

  const silence = createSilenceWatch(pool, log);
  const timed = watchStatements(log, slowStatementMs, silence.noteAnswer);

  return {
    query: (text, values, statement) => timed(text, run(pool, text, values, statement)),
    transaction: (work) =>
      inTransaction(pool, (sql) => work({ query: (text, values) => timed(text, sql.query(text, values)) })),
    watchSilence: silence.start,
    listen: (channel, listener) => listenOn(url, channel, listener),
    connections: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: maxConnections,
    }),
    close() {
      isClosing = true;
      return pool.end();
    },
  };
}

/** Tells of every answer, and puts slow statements into the log, without their values: those are what visitors sent. */
function watchStatements(log: Log, slowMs: number, onAnswer: () => void) {
  return async <Result>(text: string, running: Promise<Result>): Promise<Result> => {
    const started = performance.now();
    try {
      const result = await running;
      onAnswer();
      return result;
    } catch (error) {
      if (!isAway(error)) onAnswer();
      throw error;
    } finally {
      const ms = Math.round(performance.now() - started);
      if (ms > slowMs) log.info({ ms, statement: text.replaceAll(/\s+/g, ' ') }, 'A statement was slow');
    }
  };
}

async function run<Row extends object>(
  queryable: pg.Pool | pg.PoolClient,
  text: string,
  values?: readonly unknown[],
  { timeoutMs }: StatementOptions = {},
): Promise<Row[]> {
  try {
    // The driver's own types ask for a mutable array, which it does not change, and do not know the time-out of one statement.
    const statement: pg.QueryConfig & { query_timeout?: number } = { text };
    if (values !== undefined) statement.values = values as unknown[];
    if (timeoutMs !== undefined) statement.query_timeout = timeoutMs;
    const result = await queryable.query<Row>(statement);
    return result.rows;
  } catch (error) {
    throw asCoreError(error);
  }
}

async function inTransaction<Result>(pool: pg.Pool, work: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asCoreError(error);
  });
  let broken: Error | undefined;
  // A connection that breaks between two statements says so by an event, not by a rejected promise.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await run(client, 'BEGIN');
    const result = await work({ query: (text, values) => run(client, text, values) });
    await run(client, 'COMMIT');
    return result;
  } catch (error) {
    // After a time-out the statement still runs, and a ROLLBACK would queue behind it: the connection is given up, and
    // the server rolls back when it notices.
    if (isAway(error)) broken ??= error;
    else
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken ??= rollbackError;
      });
    throw error;
  } finally {
    client.off('error', onError);
    client.release(broken);
  }
}

function isAway(error: unknown): error is CoreError {
  return error instanceof CoreError && error.code === 'unavailable';
}

function asCoreError(error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  return new CoreError('unavailable', 'The database cannot be reached right now. Please try again in a moment.', {
    cause: error,
  });
}
