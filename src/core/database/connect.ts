import type { Log } from '../log.ts';
import { type Database, openDatabase } from './database.ts';
import { describeUrl } from './describe-url.ts';
import { openEmbedded } from './embedded/open-embedded.ts';
import { migrate } from './migrate.ts';

export interface ConnectOptions {
  /** A PostgreSQL server; without it the embedded one is used. */
  databaseUrl?: string | undefined;
  /** The embedded database's home. */
  dataDir: string;
  /** `own`: this process is the site. `share`: it works beside the site, or starts the database for as long as it takes. */
  mode: 'own' | 'share';
  log: Log;
  /** Connections to it at most, beside those for long work; the default suits one process. */
  maxConnections?: number;
}

export interface Connection {
  database: Database;
  /** Whether the database is the embedded one, and where it lies: a folder, or host and database name without secrets. */
  embedded: boolean;
  location: string;
  /** Brings the schema up to date from a folder of numbered files; returns those that it applied. */
  migrate(directory: string): Promise<string[]>;
  /**
   * Does work that takes as long as there is data, such as a backup, on one connection of its own: no statement of it is
   * given up for its duration.
   */
  withoutTimeLimit<Result>(work: (database: Database) => Promise<Result>): Promise<Result>;
  /** What a second site on the same data folder is told about this one, such as its address. */
  setOwnerNote(note: string): void;
  /** Ends the connections, and the embedded server where this process started it. */
  close(): Promise<void>;
}

/** A database that cannot be used as it is; the message is one line that says what to do. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

/** The oldest server that runs every statement of ours. */
const OLDEST_VERSION = 14;

/**
 * Connects to the database that the settings name and checks that it can be used.
 * @throws ConnectError, EmbeddedDatabaseError: each with one line for the operator.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  return options.databaseUrl === undefined ? connectEmbedded(options) : connectUrl(options.databaseUrl, options);
}

async function connectEmbedded({ dataDir, mode, log, maxConnections }: ConnectOptions): Promise<Connection> {
  const server = await openEmbedded({ dataDir, mode, log });
  const database = openDatabase({ url: server.url, log, ...(maxConnections !== undefined && { maxConnections }) });
  return {
    database,
    embedded: true,
    location: server.location,
    migrate: (directory) => withoutTimeLimit(server.url, log, (patient) => migrate(patient, directory, log)),
    withoutTimeLimit: (work) => withoutTimeLimit(server.url, log, work),
    setOwnerNote: (note) => server.setOwnerNote(note),
    async close() {
      await database.close();
      await server.stop();
    },
  };
}

async function connectUrl(url: string, { log, maxConnections }: ConnectOptions): Promise<Connection> {
  const location = describeUrl(url);
  const database = openDatabase({ url, log, ...(maxConnections !== undefined && { maxConnections }) });
  try {
    await checkServer(database, location);
  } catch (error) {
    await database.close();
    throw error;
  }
  return {
    database,
    embedded: false,
    location,
    migrate: (directory) => withoutTimeLimit(url, log, (patient) => migrate(patient, directory, log)),
    withoutTimeLimit: (work) => withoutTimeLimit(url, log, work),
    // Nobody owns a server: any number of sites may share it.
    setOwnerNote: () => {},
    close: () => database.close(),
  };
}

/** On a connection of its own, since building an index may take longer than any request is given. */
async function withoutTimeLimit<Result>(
  url: string,
  log: Log,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ url, log, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function checkServer(database: Database, location: string): Promise<void> {
  let version: number;
  try {
    const rows = await database.query<{ version: string }>("SELECT current_setting('server_version_num') AS version");
    version = Math.floor(Number(rows[0]?.version) / 10_000);
  } catch (error) {
    throw new ConnectError(
      `DATABASE_URL: ${location} cannot be used: ${reasonOf(error)}. Check the address, the role and the password.`,
      {
        cause: error,
      },
    );
  }
  if (version < OLDEST_VERSION) {
    throw new ConnectError(
      `DATABASE_URL: ${location} is PostgreSQL ${version}. Groundswell needs ${OLDEST_VERSION} or newer: upgrade that server, or name another one.`,
    );
  }
}

/** The innermost reason, since the outer error only says that the database is away. */
function reasonOf(error: unknown): string {
  let reason = error;
  while (reason instanceof Error && reason.cause !== undefined) reason = reason.cause;
  if (reason instanceof AggregateError && reason.errors.length > 0) reason = reason.errors[0];
  return reason instanceof Error ? reason.message : String(reason);
}
