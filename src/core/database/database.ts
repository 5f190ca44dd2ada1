import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Log } from '../runtime.ts';
import { asCoreError, isConnectionError, UnknownOutcomeError, watchOutages } from './database-errors.ts';
import { type Listener, type Listening, NotificationListener } from './listen.ts';
import { createPoolWatchdog, openPool } from './pool.ts';

/** Runs statements, either on the pool or on the connection of a transaction. */
export interface Sql {
  /**
   * Runs one statement; `values` fill `$1`, `$2`, …
   * @throws CoreError `unavailable` while the database is unavailable.
   */
  query<Row extends object>(text: string, values?: readonly unknown[], options?: StatementOptions): Promise<Row[]>;
}

/** Options for one statement. Within a transaction, they are ignored. */
export interface StatementOptions {
  /**
   * The client's timeout for this statement; shorter than the pool's. Set it only for reads, because the server might
   * still execute a write after this timeout.
   */
  timeoutMs?: number;
  /**
   * Whether to prepare the statement once per connection, which saves parsing and planning. Set it for frequent
   * statements whose SQL has few variants.
   */
  isPrepared?: boolean;
}

export interface Database extends Sql {
  /**
   * Runs `work` in one transaction (READ COMMITTED); any error rolls it back and is rethrown.
   * @throws UnknownOutcomeError if the connection fails during COMMIT.
   */
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
  /** Listens to a channel (LISTEN) on a separate connection. */
  listen(channel: string, listener: Listener): Listening;
  /**
   * Starts checking that the connections respond. If none does, all are closed, and the pool opens new ones. Statements
   * must run regularly, because a pool without responses counts as dead.
   * @returns a function that stops the checks.
   */
  startWatchdog(intervalMs?: number): () => void;
  /** Returns the number of connections, and of callers that wait for one. */
  connections(): Connections;
  /** Waits for running statements and closes every connection. */
  close(): Promise<void>;
}

interface Connections {
  busy: number;
  idle: number;
  waiting: number;
  max: number;
}

export interface DatabaseOptions {
  url: string;
  log: Log;
  /** Maximum number of connections; default 10. */
  maxConnections?: number;
  /** The timeout for getting a connection; default 5 s. */
  connectTimeoutMs?: number;
  /** The client's timeout per statement; default 12 s. 0 means none, for work such as building an index. */
  statementTimeoutMs?: number;
  /** Statements slower than this, including their wait for a connection, are logged. */
  slowStatementMs?: number;
  /**
   * When aborted, closes the connections in use, so the server rolls their transactions back even while they wait for a
   * lock.
   */
  signal?: AbortSignal | undefined;
}

const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_MS = 12_000;
const SLOW_STATEMENT_MS = 1_000;

/** Opens a database by its PostgreSQL URL. Connects when the first statement runs. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, log, maxConnections = 10, connectTimeoutMs = CONNECT_TIMEOUT_MS, signal } = options;
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  // Callers that disable the timeout expect slow statements.
  const { slowStatementMs = statementTimeoutMs === 0 ? Number.POSITIVE_INFINITY : SLOW_STATEMENT_MS } = options;
  const pool = openPool(url, { maxConnections, connectTimeoutMs, statementTimeoutMs });
  // Without this handler, an error on an idle connection would crash the process. The pool replaces the connection.
  let isClosing = false;
  pool.on('error', (error) => {
    if (!isClosing) log.warn({ err: error }, 'An idle database connection was lost');
  });

  const logged = watchOutages(log, { signal });
  const watchdog = createPoolWatchdog(pool, log);
  signal?.addEventListener('abort', watchdog.closeBusy, { once: true });
  const timed = watchStatements(log, slowStatementMs, watchdog.noteResponse);
  const prepare = createPreparedStatements(log);

  return {
    query<Row extends object>(text: string, values?: readonly unknown[], options: StatementOptions = {}) {
      const execute = (name?: string) => run<Row>(pool, text, values, options, name);
      return logged(timed(text, options.isPrepared ? prepare(text, execute) : execute()));
    },
    transaction: (work) =>
      logged(
        inTransaction(pool, timed, async (sql) => {
          // The connection may have been taken from the pool after the abort.
          signal?.throwIfAborted();
          const result = await work(sql);
          signal?.throwIfAborted();
          return result;
        }),
      ),
    startWatchdog: watchdog.start,
    listen: (channel, listener) => new NotificationListener(url, channel, listener),
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

/** Reports responses, and logs slow statements without their values, which come from visitors. */
function watchStatements(log: Log, slowMs: number, onResponse: () => void) {
  return async <Result>(text: string, running: Promise<Result>): Promise<Result> => {
    const started = performance.now();
    try {
      const result = await running;
      onResponse();
      return result;
    } catch (error) {
      if (!isConnectionError(error)) onResponse();
      throw error;
    } finally {
      const ms = Math.round(performance.now() - started);
      if (ms > slowMs) log.info({ ms, statement: text.replaceAll(/\s+/g, ' ') }, 'Slow statement');
    }
  };
}

/**
 * The SQLSTATE codes of errors that preparation can cause: a pooler switched to a server connection that does not know
 * the name (26000) or already knows it (42P05), or a migration changed the columns of the result (0A000).
 */
const PREPARATION_FAILURES = new Set(['26000', '42P05', '0A000']);

/**
 * Names statements, so the server parses and plans each statement once per connection. After the first failure that
 * preparation caused, this pool prepares no more statements, and the failed statement, which had no effect, runs again
 * without a name.
 * @returns a function that calls `execute` with the name under which to prepare `text`, or without a name if it must
 * not be prepared.
 */
export function createPreparedStatements(log: Log) {
  const names = new Map<string, string>();
  let isSupported = true;

  /** The name is a digest of the text, so clients that share a server connection never use one name for two texts. */
  function nameOf(text: string): string {
    const name = names.get(text) ?? `groundswell_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
    names.set(text, name);
    return name;
  }

  return async <Result>(text: string, execute: (name?: string) => Promise<Result>): Promise<Result> => {
    if (!isSupported) return execute();
    try {
      return await execute(nameOf(text));
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !PREPARATION_FAILURES.has(error.code ?? '')) throw error;
      if (isSupported) {
        isSupported = false;
        log.info(
          { code: error.code },
          'A prepared statement failed because of a connection pooler or a migration. No more statements will be prepared.',
        );
      }
      return execute();
    }
  };
}

async function run<Row extends object>(
  queryable: pg.Pool | pg.PoolClient,
  text: string,
  values?: readonly unknown[],
  { timeoutMs }: StatementOptions = {},
  name?: string,
): Promise<Row[]> {
  try {
    // The driver's types require a mutable array, although the driver does not change it, and lack `query_timeout`.
    const statement: pg.QueryConfig & { query_timeout?: number } = { text };
    if (values !== undefined) statement.values = values as unknown[];
    if (name !== undefined) statement.name = name;
    if (timeoutMs !== undefined) statement.query_timeout = timeoutMs;
    const result = await queryable.query<Row>(statement);
    return result.rows;
  } catch (error) {
    throw asCoreError(error);
  }
}

async function inTransaction<Result>(
  pool: pg.Pool,
  timed: ReturnType<typeof watchStatements>,
  work: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asCoreError(error);
  });
  let broken: Error | undefined;
  // A connection that breaks between two statements emits an event instead of rejecting a promise.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on('error', onError);
  try {
    await run(client, 'BEGIN');
    const result = await work({ query: (text, values) => timed(text, run(client, text, values)) });
    await timed('COMMIT', run(client, 'COMMIT')).catch((error: unknown) => {
      if (!isConnectionError(error)) throw error;
      throw new UnknownOutcomeError('unavailable', error.message, { cause: error.cause });
    });
    return result;
  } catch (error) {
    // After a timeout, the statement may still run, and a ROLLBACK would wait for it. So the connection is closed, and
    // the server rolls back when it detects the closed connection.
    if (isConnectionError(error)) broken ??= error;
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
