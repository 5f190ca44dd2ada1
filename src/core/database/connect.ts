import { systemCode } from '../file-system.ts';
import type { Log } from '../runtime.ts';
import { adaptToCitus } from './citus.ts';
import { type Database, type DatabaseOptions, openDatabase, type Sql } from './database.ts';
import type { OperatorTerms } from './embedded/embedded-database-error.ts';
import { type EmbeddedDatabase, openEmbedded } from './embedded/open-embedded.ts';
import { migrate } from './migrate.ts';

/** The maximum number of connections in a pool, or a function that determines it before the pool is opened. */
export type PoolSize = number | ((sql: Sql) => Promise<number>);

interface ConnectOptions {
  /** The URL of a PostgreSQL server. If unset, the embedded database is used. */
  databaseUrl?: string | undefined;
  /** The folder of the embedded database. */
  dataDir: string;
  /**
   * `own`: this process owns the embedded database, as the site does. `share`: this process uses the database of a
   * running site, as workers and most commands do. If no site runs, it starts the database and stops it afterwards.
   */
  mode: 'own' | 'share';
  /** Whether to create a missing embedded database (default), or to throw EmbeddedDatabaseError `no_database`. */
  create?: boolean;
  log: Log;
  /**
   * Maximum number of connections in the pool, not counting those for long work and notifications; default 10. It may
   * be a function only with `databaseUrl`.
   */
  maxConnections?: PoolSize;
  /**
   * Aborts migrations, and work on connections without a statement timeout; the server rolls this work back. Also ends
   * the wait for another process that uses the embedded database.
   */
  signal?: AbortSignal | undefined;
}

export interface Connection {
  database: Database;
  embedded: boolean;
  /** The folder of the embedded database, or host, port and database name of the server, without secrets. */
  location: string;
  /** Applies the pending migrations of a folder. @returns the names of the applied files. */
  migrate(directory: string): Promise<string[]>;
  /**
   * Runs work whose duration grows with the data, such as a backup, on a connection without a statement timeout. If
   * `signal` is aborted, statements fail, and the server rolls back a transaction that has not committed.
   */
  withoutStatementTimeout<Result>(work: (database: Database) => Promise<Result>, signal?: AbortSignal): Promise<Result>;
  /**
   * Sets a note about this process, such as the site's URL, for the error message of a second site on the same data
   * folder.
   */
  setOwnerNote(note: string): void;
  /**
   * Closes the connections. Stops the embedded server if this process owns it and no other process uses it. With
   * `cancel`, does not wait for running statements; the process must exit afterwards.
   */
  close(options?: { cancel: boolean }): Promise<void>;
}

/** Thrown if the database cannot be used. The message tells the operator what to do, in one line. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

const MIN_VERSION = 14;

type Server = Pick<EmbeddedDatabase, 'url' | 'location'>;

/** The name of the embedded database's role and database, and of its files on disk. */
export const EMBEDDED_NAME = 'groundswell';

/** The names of settings and the instructions that appear in messages about the embedded database. */
export const OPERATOR_TERMS: OperatorTerms = {
  product: 'Groundswell',
  dataDir: 'DATA_DIR',
  ownServer: `Set DATABASE_URL to a PostgreSQL server of your own (${MIN_VERSION} or newer).`,
  missing:
    'Start the site to create one, or run the command with the settings of the site, such as DATA_DIR and DATABASE_URL.',
  upgrade:
    'Run `groundswell backup site.backup` with the previous version, move the folder away, and run ' +
    '`groundswell restore site.backup` with this version. Or set DATABASE_URL.',
};

/**
 * Connects to the configured database and checks that it can be used.
 * @throws ConnectError or EmbeddedDatabaseError, with one line for the operator.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { databaseUrl, dataDir, mode, create = true, log, maxConnections, signal } = options;
  // A server at a URL may serve other sites as well, so it has no owner and is not stopped.
  const { url, location, setOwnerNote, stop }: Server & Partial<EmbeddedDatabase> =
    databaseUrl === undefined
      ? await openEmbedded({ name: EMBEDDED_NAME, dataDir, mode, create, log, terms: OPERATOR_TERMS, signal })
      : await checkServer(databaseUrl);
  const poolSize =
    typeof maxConnections === 'function' ? await withOneConnection({ url, log }, maxConnections) : maxConnections;
  const withoutStatementTimeout: Connection['withoutStatementTimeout'] = (work, workSignal = signal) =>
    withOneConnection({ url, log, signal: workSignal, statementTimeoutMs: 0 }, work);
  const database = open({ url, log, ...(poolSize !== undefined && { maxConnections: poolSize }) });
  return {
    database,
    embedded: databaseUrl === undefined,
    location,
    migrate: (directory) => withoutStatementTimeout((unlimited) => migrate(unlimited, directory, log)),
    withoutStatementTimeout,
    setOwnerNote: (note) => setOwnerNote?.(note),
    async close({ cancel } = { cancel: false }) {
      const closed = database.close();
      try {
        if (!cancel) await closed;
      } finally {
        await stop?.();
      }
    },
  };
}

function open(options: DatabaseOptions): Database {
  return adaptToCitus(openDatabase(options));
}

async function withOneConnection<Result>(
  options: DatabaseOptions,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = open({ ...options, maxConnections: 1 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** A log that discards all lines, for checks whose error or finding already contains everything. */
export const SILENT_LOG: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** Matches the codes of Node's TLS errors, and the driver's message if the server does not support TLS. */
const TLS_ERROR = /CERT|SSL|TLS|UNABLE_TO_VERIFY/;

/** Matches PostgreSQL's message for a refused connection without TLS, which many hosts require. */
const UNENCRYPTED = /, no encryption$/;

/** SQLSTATE codes of a server that has too many connections, or is starting up or shutting down. */
const BUSY_CODES: readonly string[] = ['53300', '57P03'];

async function checkServer(url: string): Promise<Server> {
  const location = describeUrl(url);
  const database = openDatabase({ url, log: SILENT_LOG, maxConnections: 1 });
  let version: number;
  try {
    const rows = await database.query<{ version: string }>("SELECT current_setting('server_version_num') AS version");
    version = Math.floor(Number(rows[0]?.version) / 10_000);
  } catch (error) {
    const reason = reasonOf(error);
    const text = `DATABASE_URL: ${location} cannot be used: ${reason.message}. ${adviceFor(reason)}`;
    throw new ConnectError(text, { cause: error });
  } finally {
    await database.close();
  }
  if (version < MIN_VERSION) {
    throw new ConnectError(
      `DATABASE_URL: ${location} is PostgreSQL ${version}. Groundswell needs ${MIN_VERSION} or newer: upgrade that server, or use another one.`,
    );
  }
  return { url, location };
}

function adviceFor(reason: Error): string {
  const code = systemCode(reason) ?? '';
  if (BUSY_CODES.includes(code)) return 'Try again in a moment.';
  if (UNENCRYPTED.test(reason.message))
    return 'Add sslmode=verify-full to the URL, or allow this connection in pg_hba.conf.';
  // The driver opens only the files of `sslrootcert`, `sslcert` and `sslkey`, so a failed `open` concerns TLS.
  if (('syscall' in reason && reason.syscall === 'open') || TLS_ERROR.test(code || reason.message))
    return 'Check sslmode, and for a private CA, set sslrootcert to its file.';
  return 'Check the address, the role and the password.';
}

/** Returns host, port and database name of a URL, without role and password. */
export function describeUrl(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname || searchParams.get('host') || 'localhost';
  return `${host}${port ? `:${port}` : ''}${pathname}`;
}

/** Returns the driver's error, since the outer error only says that the database is unavailable. */
export function reasonOf(error: unknown): Error {
  let reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors[0];
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** The number of connections that a role may open, and the setting that limits it. */
interface ConnectionLimit {
  connections: number;
  setBy: 'max_connections' | 'the role' | 'the database';
}

// A setting that the server does not have counts as 0: `reserved_connections` was added in PostgreSQL 16. A limit of -1
// for a role or a database means no limit.
const SELECT_LIMITS = `SELECT current_setting('max_connections')::integer
    - coalesce(current_setting('superuser_reserved_connections', true)::integer, 0)
    - coalesce(current_setting('reserved_connections', true)::integer, 0) AS server,
  (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role,
  (SELECT datconnlimit FROM pg_database WHERE datname = current_database()) AS database`;

/**
 * Reads how many connections all sites and commands with this role may open together. A pooler's own limit cannot be
 * read.
 * @throws CoreError `unavailable`.
 */
export async function readConnectionLimit(sql: Sql): Promise<ConnectionLimit> {
  const [row] = await sql.query<{ server: number; role: number | null; database: number | null }>(SELECT_LIMITS);
  const unlimited = Number.POSITIVE_INFINITY;
  const known = (limit: number | null | undefined) => (limit == null || limit < 0 ? unlimited : limit);
  const limits: ConnectionLimit[] = [
    { connections: known(row?.server), setBy: 'max_connections' },
    { connections: known(row?.role), setBy: 'the role' },
    { connections: known(row?.database), setBy: 'the database' },
  ];
  return limits.reduce((least, limit) => (limit.connections < least.connections ? limit : least));
}
