import pg from 'pg';
import { inject } from 'vitest';
import type { Database } from '../../src/core/database/database.ts';
import { withDatabase, withServer } from './with-server.ts';

/** Timeouts that a busy machine does not exceed. */
export const LONG_TIMEOUTS = { connectTimeoutMs: 60_000, statementTimeoutMs: 90_000 };

export interface DatabaseLocale {
  locale?: string;
  /** The encoding, which is used only with a locale. */
  encoding?: string;
}

interface CreateOptions extends DatabaseLocale {
  /** The database to copy instead of creating an empty one. */
  template?: string;
}

/**
 * Creates a database on the run's server, with another locale and encoding if given. On Citus, also creates it on each
 * worker and adds the workers as nodes. @returns its URL.
 */
export async function createDatabase(name: string, options: CreateOptions = {}): Promise<string> {
  const [coordinator, ...workers] = servers();
  for (const server of [coordinator, ...workers]) {
    await withServer(server, (sql) => sql.query(`CREATE DATABASE ${name}${optionsOf(options)}`));
    // Four shards are enough for tests. The default is 32.
    if (workers.length > 0)
      await withServer(server, (sql) => sql.query(`ALTER DATABASE ${name} SET citus.shard_count = 4`));
    if (workers.length > 0) await withServer(withDatabase(server, name), (sql) => sql.query('CREATE EXTENSION citus'));
  }
  const url = withDatabase(coordinator, name);
  if (workers.length > 0)
    await withNodeLock(coordinator, () => withServer(url, (sql) => joinNodes(sql, coordinator, workers)));
  return url;
}

function optionsOf({ template, locale, encoding = 'UTF8' }: CreateOptions): string {
  // Copies files, because the default strategy fills the server's buffers, which makes dropping the database slower.
  // PostgreSQL 14 always copies files, and lacks this option.
  const strategy = inject('databaseServerVersion') < 150_000 ? '' : ' STRATEGY FILE_COPY';
  if (template !== undefined) return ` TEMPLATE ${template}${strategy}`;
  return locale === undefined ? '' : ` TEMPLATE template0 LOCALE '${locale}' ENCODING '${encoding}'`;
}

const REFUSE_CONNECTIONS = 'UPDATE pg_database SET datallowconn = false WHERE datname = $1';

/** Drops a database despite open connections. */
export async function dropDatabase(name: string): Promise<void> {
  const all = servers();
  // Citus nodes have connections to each other, and would reopen them.
  if (all.length > 1)
    for (const server of all) await withServer(server, (sql) => sql.query(REFUSE_CONNECTIONS, [name]));
  for (const server of all) await withServer(server, (sql) => dropWithRetries(sql, name));
}

/** PostgreSQL's error codes if a client or autovacuum, which the tests' role may not terminate, is still connected. */
const IN_USE_CODES = new Set(['55006', '42501']);

/** Drops a database with retries, because PostgreSQL waits only five seconds for connections to close. */
async function dropWithRetries(sql: Database, name: string): Promise<void> {
  for (;;) {
    try {
      await sql.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError && IN_USE_CODES.has(error.code ?? ''))) throw error;
    }
  }
}

/** Returns the URLs of the server that tests connect to, and of its Citus workers, if any. */
function servers(): [string, ...string[]] {
  const coordinator = inject('databaseServerUrl');
  const workers = inject('citusWorkers').map((address) => {
    const url = new URL(coordinator);
    url.host = address;
    return url.href;
  });
  return [coordinator, ...workers];
}

/**
 * Runs work under a lock, because adding nodes in two databases at the same time fails with 'tuple concurrently
 * updated'.
 */
function withNodeLock(coordinator: string, work: () => Promise<void>): Promise<void> {
  return withServer(coordinator, (server) =>
    server.transaction(async (sql) => {
      await sql.query('SELECT pg_advisory_xact_lock(2)');
      await work();
    }),
  );
}

async function joinNodes(sql: Database, coordinator: string, workers: readonly string[]): Promise<void> {
  const addressOf = (server: string) => [new URL(server).hostname, Number(new URL(server).port)];
  await sql.query('SELECT citus_set_coordinator_host($1, $2)', addressOf(coordinator));
  for (const worker of workers) await sql.query('SELECT citus_add_node($1, $2)', addressOf(worker));
}
