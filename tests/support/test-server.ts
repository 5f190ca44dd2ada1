import pg from 'pg';
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../src/core/database/database.ts';
import { silentLog } from './silent-log.ts';

export interface DatabaseLetters {
  locale?: string;
  /** Counts where a locale is given. */
  encoding?: string;
}

/**
 * Makes an empty database on the run's server, with another locale and encoding than the server's where they are given; on
 * Citus, on each worker too, and makes them one. @returns its URL.
 */
export async function createDatabase(
  name: string,
  { locale, encoding = 'UTF8' }: DatabaseLetters = {},
): Promise<string> {
  const [coordinator, ...workers] = servers();
  const template = locale === undefined ? '' : ` TEMPLATE template0 LOCALE '${locale}' ENCODING '${encoding}'`;
  for (const server of [coordinator, ...workers]) {
    await on(server, (sql) => sql.query(`CREATE DATABASE ${name}${template}`));
    // Few shards: what is to be found out shows with two on each worker.
    if (workers.length > 0) await on(server, (sql) => sql.query(`ALTER DATABASE ${name} SET citus.shard_count = 4`));
    if (workers.length > 0) await on(withDatabase(server, name), (sql) => sql.query('CREATE EXTENSION citus'));
  }
  const url = withDatabase(coordinator, name);
  if (workers.length > 0) await oneByOne(coordinator, () => on(url, (sql) => joinNodes(sql, coordinator, workers)));
  return url;
}

const REFUSE_CONNECTIONS = 'UPDATE pg_database SET datallowconn = false WHERE datname = $1';

/** Drops a database under those who are connected to it, as if its server were gone. */
export async function dropDatabase(name: string): Promise<void> {
  const all = servers();
  // The nodes of Citus keep connections to each other, and make them again as long as they may.
  if (all.length > 1) for (const server of all) await on(server, (sql) => sql.query(REFUSE_CONNECTIONS, [name]));
  for (const server of all) await on(server, (sql) => dropWhenLeft(sql, name));
}

/** Somebody is still there, or the server's autovacuum is, which the role of the tests may not end. */
const STILL_USED = new Set(['55006', '42501']);

/** A server gives those that it ends five seconds, which is too few on a machine that has too much to do. */
async function dropWhenLeft(sql: Database, name: string): Promise<void> {
  for (;;) {
    try {
      await sql.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && STILL_USED.has(error.code ?? ''))) throw error;
    }
  }
}

/** The server that tests connect to, and the workers of Citus where it has any. */
function servers(): [string, ...string[]] {
  const coordinator = inject('databaseServerUrl');
  const workers = inject('citusWorkers').map((address) => {
    const url = new URL(coordinator);
    url.host = address;
    return url.href;
  });
  return [coordinator, ...workers];
}

/** Nodes that join tell each other of roles, which two databases at once cannot ('tuple concurrently updated'). */
function oneByOne(coordinator: string, work: () => Promise<void>): Promise<void> {
  return on(coordinator, (server) =>
    server.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock(2)');
      await work();
    }),
  );
}

async function joinNodes(sql: Database, coordinator: string, workers: readonly string[]): Promise<void> {
  const placeOf = (server: string) => [new URL(server).hostname, Number(new URL(server).port)];
  await sql.query('SELECT citus_set_coordinator_host($1, $2)', placeOf(coordinator));
  for (const worker of workers) await sql.query('SELECT citus_add_node($1, $2)', placeOf(worker));
}

async function on(url: string, work: (sql: Database) => Promise<unknown>): Promise<void> {
  const server = openDatabase({ url, log: silentLog, maxConnections: 1, statementTimeoutMs: 0 });
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

function withDatabase(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
