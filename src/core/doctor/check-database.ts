import { setTimeout as delay } from 'node:timers/promises';
import type { Finding } from '../../contract/console/records.ts';
import { formatCount } from '../../contract/text.ts';
import { SITE_TABLES } from '../backups/site-tables.ts';
import { checkCounts } from '../counts/check-counts.ts';
import { readDatabaseTime } from '../database/clock.ts';
import { describeUrl, readConnectionLimit, reasonOf, SILENT_LOG } from '../database/connect.ts';
import { openDatabase, type Sql } from '../database/database.ts';
import { hasReplayed, MAX_LAG_MS, readPosition, requireSameSystem } from '../database/replica-watch.ts';
import { searchIndexOf } from '../products/search-trigrams.ts';
import { failure, ok, warning } from './finding.ts';

/** Slower responses delay pages noticeably, because a page runs several queries in sequence. */
const SLOW_RESPONSE_MS = 20;

const SELECT_SERVER = `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
  current_setting('transaction_read_only') = 'on' AS read_only`;

/** Checks that the database responds quickly, uses UTF-8 and accepts writes. */
export async function checkServer(sql: Sql, location: string): Promise<Finding> {
  const [about] = await sql.query<{ version: string; encoding: string; read_only: boolean }>(SELECT_SERVER);
  const times: number[] = [];
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const begin = performance.now();
    await sql.query('SELECT 1');
    times.push(performance.now() - begin);
  }
  const responseMs = Math.min(...times);
  const message = `PostgreSQL ${about?.version} at ${location} responds in ${responseMs.toFixed(1)} ms`;
  if (about?.encoding !== 'UTF8') {
    return failure(
      'database',
      `${message}, but its encoding is ${about?.encoding}`,
      'Move to a database with the encoding UTF8.',
    );
  }
  if (about?.read_only) {
    return failure(
      'database',
      `${message}, but it is read-only`,
      'Set DATABASE_URL to the primary server, or find out why this server or its host made the database read-only.',
    );
  }
  if (responseMs > SLOW_RESPONSE_MS) return warning('database', message, 'Run the site closer to the database.');
  return ok('database', message);
}

const HIGH_USAGE_SHARE = 0.9;

/**
 * Counts the connections to which the limit of $1 applies. Without the role `pg_monitor`, other roles' sessions have no
 * `backend_type`, but unlike the server's own processes, they have a database and a role.
 */
const COUNT_CONNECTIONS = `SELECT count(*)::integer AS open FROM pg_stat_activity
  WHERE coalesce(backend_type, 'client backend') = 'client backend' AND datname IS NOT NULL AND usename IS NOT NULL
    AND ($1 <> 'the role' OR usename = current_user) AND ($1 <> 'the database' OR datname = current_database())`;

/**
 * Checks that the site opens no more connections than the database allows, and that some connections are free.
 * `neededOf` returns the maximum number of connections that the site opens under a limit.
 */
export async function checkConnections(sql: Sql, neededOf: (limit: number) => number): Promise<Finding> {
  const { connections, setBy } = await readConnectionLimit(sql);
  const [row] = await sql.query<{ open: number }>(COUNT_CONNECTIONS, [setBy]);
  const open = row?.open ?? 0;
  const needed = neededOf(connections);
  const message = `${open} of ${connections} open (limited by ${setBy}); this site opens up to ${needed}`;
  const advice = `Raise ${setBy === 'max_connections' ? setBy : `the limit of ${setBy}`}, lower WEB_CONCURRENCY, or use a connection pooler.`;
  if (needed > connections || open > connections * HIGH_USAGE_SHARE) return warning('connections', message, advice);
  return ok('connections', message);
}

/** Checks that exactly the migrations of this version, `names`, have been applied. */
export async function checkMigrations(sql: Sql, names: readonly string[]): Promise<Finding> {
  const [table] = await sql.query<{ present: boolean }>(
    "SELECT to_regclass('schema_migrations') IS NOT NULL AS present",
  );
  const rows = table?.present
    ? await sql.query<{ name: string }>('SELECT name FROM schema_migrations ORDER BY version')
    : [];
  const applied = rows.map(({ name }) => name);
  const unknown = applied.filter((name) => !names.includes(name));
  const pending = names.filter((name) => !applied.includes(name));
  if (unknown.length > 0)
    return failure(
      'migrations',
      `the database has ${unknown.join(', ')}, which this version of Groundswell does not know`,
      'Run the newer version that applied them.',
    );
  if (pending.length > 0)
    return failure(
      'migrations',
      `${pending.join(', ')} not applied yet`,
      'Run `groundswell migrate`, or start the site.',
    );
  return ok('migrations', `all ${applied.length} applied`);
}

const SELECT_EXTENSION = `SELECT extversion AS version, nspname AS schema, nspname = ANY(current_schemas(true)) AS visible
  FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'pg_trgm'`;

/** Checks that searches can use their index. */
export async function checkSearch(sql: Sql): Promise<Finding> {
  const [extension] = await sql.query<{ version: string; schema: string; visible: boolean }>(SELECT_EXTENSION);
  if (!extension) {
    return warning(
      'search',
      'the extension pg_trgm is missing, so searches for English words read all products',
      'As a superuser, run `CREATE EXTENSION pg_trgm` in the database, then restart the site.',
    );
  }
  if (!extension.visible)
    return warning(
      'search',
      `the extension pg_trgm is in the schema ${extension.schema}, which is not in the search path`,
      `Add ${extension.schema} to the end of the role's search_path, then run \`groundswell migrate\`.`,
    );
  const index = await searchIndexOf(sql);
  if (index === 'none')
    return warning(
      'search',
      'the index products_search is missing or incomplete',
      'Run `DROP INDEX IF EXISTS products_search` in the database, then `groundswell migrate`.',
    );
  return ok('search', `pg_trgm ${extension.version} with its index`);
}

const SELECT_INDEXES = `SELECT i.relname AS index, pg_index.indisvalid AS valid
  FROM pg_index JOIN pg_class i ON i.oid = pg_index.indexrelid
  WHERE pg_index.indrelid = ANY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)`;

/** Selects large tables with more sequential scans than index scans, according to PostgreSQL's statistics. */
const SELECT_SCANNED = `SELECT relname AS table FROM pg_stat_user_tables
  WHERE schemaname = current_schema() AND relname = ANY($1::text[]) AND n_live_tup > 10000 AND seq_scan > 100 AND seq_scan > idx_scan`;

/** Checks that all indexes are valid, and that large tables are not mostly scanned sequentially. */
export async function checkIndexes(sql: Sql): Promise<Finding> {
  const indexes = await sql.query<{ index: string; valid: boolean }>(SELECT_INDEXES, [SITE_TABLES]);
  const invalid = indexes.filter(({ valid }) => !valid).map(({ index }) => index);
  if (invalid.length > 0) {
    return failure(
      'indexes',
      `${invalid.join(', ')} cannot be used`,
      `In the database, run \`${invalid.map((name) => `REINDEX INDEX ${name}`).join('; ')}\`.`,
    );
  }
  const scanned = await sql.query<{ table: string }>(SELECT_SCANNED, [SITE_TABLES]);
  if (scanned.length > 0) {
    const names = scanned.map(({ table }) => table).join(', ');
    return warning(
      'indexes',
      `${names}: more sequential scans than index scans`,
      `In the database, run \`ANALYZE ${names}\`.`,
    );
  }
  return ok('indexes', `all ${indexes.length} are valid`);
}

const REPLICA_INTERVAL_MS = 100;

/** Checks that a server of DATABASE_REPLICA_URL reaches the current position of the primary within `MAX_LAG_MS`. */
export async function checkReplica(primary: Sql, url: string): Promise<Finding> {
  const check = 'replica';
  const location = describeUrl(url);
  const position = await readPosition(primary);
  const replica = openDatabase({ url, log: SILENT_LOG, maxConnections: 1 });
  try {
    if (position !== undefined) await requireSameSystem(primary, replica);
    for (const begin = performance.now(); performance.now() - begin < MAX_LAG_MS; await delay(REPLICA_INTERVAL_MS)) {
      if (await hasReplayed(replica, position, MAX_LAG_MS)) return ok(check, `${location} is up to date`);
    }
    return warning(
      check,
      `${location} lags by more than ${MAX_LAG_MS / 1_000} seconds, so the site does not read from it`,
      'Check the replica: its log, its disk, and whether its replay is paused.',
    );
  } catch (error) {
    return warning(
      check,
      `the site cannot read from ${location}: ${reasonOf(error).message}`,
      'Check the replica, or remove it from DATABASE_REPLICA_URL.',
    );
  } finally {
    await replica.close();
  }
}

const CLOCK_WARNING_MS = 2_000;
const CLOCK_FAILURE_MS = 60_000;

/** Checks that the clocks of this machine and of the database agree. Tests inject `now`. */
export async function checkClock(sql: Sql, now: () => number = Date.now): Promise<Finding> {
  const before = now();
  const databaseMs = (await readDatabaseTime(sql)).getTime();
  const after = now();
  // The database reads its clock between `before` and `after`, so only a time outside this interval is a difference.
  const differenceMs = Math.max(0, before - databaseMs, databaseMs - after);
  const message = `the clocks of this machine and the database differ by ${(differenceMs / 1_000).toFixed(1)} s`;
  const advice = 'Synchronize both clocks over the network (NTP).';
  if (differenceMs > CLOCK_FAILURE_MS) return failure('clock', message, advice);
  if (differenceMs > CLOCK_WARNING_MS) return warning('clock', message, advice);
  return ok('clock', 'the clocks of this machine and the database agree');
}

const SAMPLE = 1_000;

/** Compares the stored counts of a sample of products with their rows. The sample starts at a random product. */
export async function checkSomeCounts(sql: Sql, random: () => number = Math.random): Promise<Finding> {
  const [products] = await sql.query<{ count: string }>('SELECT count(*) FROM products');
  const skipped = Math.floor(random() * Math.max(0, Number(products?.count) - SAMPLE + 1));
  const after = skipped === 0 ? '' : await idAt(sql, skipped);
  const { checked, wrong } = await checkCounts(sql, { after, limit: SAMPLE });
  const message = `wrong for ${formatCount(wrong.length)} of ${formatCount(checked)} checked products`;
  if (wrong.length > 0) return failure('counts', message, 'Run `groundswell counts check --repair`.');
  return ok('counts', message);
}

/** Returns the id of the product at a position, counted from 1 in the order of ids. */
async function idAt(sql: Sql, position: number): Promise<string> {
  const [row] = await sql.query<{ id: string }>('SELECT id FROM products ORDER BY id OFFSET $1 LIMIT 1', [
    position - 1,
  ]);
  return row?.id ?? '';
}
