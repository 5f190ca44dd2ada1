import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import type { Log } from '../runtime.ts';
import { distribute } from './citus.ts';
import type { Database, Sql } from './database.ts';
import { isPermissionDenied } from './database-errors.ts';

const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/;

interface Migration {
  version: number;
  name: string;
  sql: string;
}

/**
 * Brings the schema up to date: applies the pending migration files in order, each in a transaction. Then distributes
 * tables on Citus, and adds column options and indexes that not every server supports.
 *
 * Several processes may migrate at the same time. Each claims a version by inserting its row before it runs the file;
 * another process waits on that row until the first one commits, and then skips the file. Advisory locks are not used,
 * because poolers and distributed engines do not support them.
 *
 * If the schema is up to date, nothing is written, so commands that only read, such as `backup`, also work while the
 * database is read-only.
 *
 * @returns the names of the files that this call applied.
 */
export async function migrate(database: Database, directory: string, log: Log): Promise<string[]> {
  const applied: string[] = [];
  for (const migration of await findPending(database, await readMigrations(directory))) {
    if (await database.transaction((sql) => apply(sql, migration))) {
      log.info({ migration: migration.name }, 'Migration applied');
      applied.push(migration.name);
    }
  }
  await limitRowEstimates(database, log);
  await distribute(database, log);
  await createSearchIndex(database, log);
  await createTimeIndex(database, log);
  return applied;
}

/** Reads a folder's migrations in order. @throws Error if a name is invalid or two have the same number. */
export async function readMigrations(directory: string): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const seen = new Set<number>();
  return Promise.all(
    names.map(async (name) => {
      const version = Number(FILE_NAME.exec(name)?.[1]);
      if (Number.isNaN(version)) throw new Error(`Migration ${name} is not named like 0001_what_it_does.sql`);
      if (seen.has(version)) throw new Error(`Two migrations have the number ${version}`);
      seen.add(version);
      return { version, name, sql: await readFile(join(directory, name), 'utf8') };
    }),
  );
}

const CREATE_HISTORY = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
)`;

/**
 * SQLSTATE codes after a lost race: PostgreSQL lets two `CREATE … IF NOT EXISTS` statements run at the same time, and
 * one of them fails.
 */
const LOST_CREATE_RACE = new Set(['23505', '42P07', '42710']);

const SELECT_TABLE = 'SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = $1';
const SELECT_INDEX = 'SELECT 1 FROM pg_indexes WHERE schemaname = current_schema() AND indexname = $1';

/**
 * Returns whether a table exists in the schema in which tables are created. Other schemas of the database may belong to
 * other sites.
 */
async function hasTable(sql: Sql, name: string): Promise<boolean> {
  return (await sql.query(SELECT_TABLE, [name])).length > 0;
}

/** Returns whether an index exists in the schema in which `hasTable` looks for tables. */
async function hasIndex(sql: Sql, name: string): Promise<boolean> {
  return (await sql.query(SELECT_INDEX, [name])).length > 0;
}

/** Returns the pending migrations. If there are any, also creates `schema_migrations`. */
async function findPending(sql: Sql, migrations: readonly Migration[]): Promise<Migration[]> {
  const hasHistory = await hasTable(sql, 'schema_migrations');
  if (!hasHistory) await requireUtf8(sql);
  const applied = hasHistory ? await sql.query<{ version: number }>('SELECT version FROM schema_migrations') : [];
  const versions = new Set(applied.map(({ version }) => version));
  const pending = migrations.filter(({ version }) => !versions.has(version));
  if (pending.length > 0) await createHistory(sql);
  return pending;
}

/** @throws Error that says what to do if the role may not create tables. From PostgreSQL 15, few roles may. */
async function createHistory(sql: Sql): Promise<void> {
  try {
    await unlessRaceLost(() => sql.query(CREATE_HISTORY));
  } catch (cause) {
    if (!isPermissionDenied(cause)) throw cause;
    const advice = 'Make the role the owner of the database, or grant it CREATE on the schema.';
    throw new Error(`${(cause as Error).message}. ${advice}`, { cause });
  }
}

/**
 * Checks that the database is encoded in UTF-8. Other encodings reject or truncate text, and changing the encoding
 * later means moving the data to a new database. @throws Error.
 */
async function requireUtf8(sql: Sql): Promise<void> {
  const [server] = await sql.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  if (server?.encoding === 'UTF8') return;
  throw new Error(
    `The database's encoding is ${server?.encoding}, not UTF8. Create the database again: createdb --encoding UTF8 --template template0 …`,
  );
}

async function unlessRaceLost(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && LOST_CREATE_RACE.has(error.code ?? ''))) throw error;
  }
}

async function apply(sql: Sql, { version, name, sql: statements }: Migration): Promise<boolean> {
  const claimed = await sql.query(
    'INSERT INTO schema_migrations (version, name) VALUES ($1, $2) ON CONFLICT (version) DO NOTHING RETURNING version',
    [version, name],
  );
  if (claimed.length === 0) return false;
  for (const statement of statementsOf(statements)) await sql.query(statement);
  return true;
}

/**
 * Splits a migration into statements, at each semicolon that ends a line. Statements are sent one by one, because Citus
 * forwards each string to its workers, which accept only a single statement per string.
 */
export function statementsOf(sql: string): string[] {
  return sql.split(/;[ \t]*$/m).filter((statement) => statement.replaceAll(/--.*$/gm, '').trim() !== '');
}

const SELECT_ESTIMATED = `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relname IN ('upvotes', 'retracted_upvotes', 'vote_decisions', 'comments') AND a.attname = 'product_id'
    AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
    AND NOT EXISTS (SELECT FROM unnest(a.attoptions) AS option WHERE option LIKE 'n_distinct=%')
  ORDER BY c.relname`;

/**
 * Makes the planner expect ten rows per product. If most rows belong to one product, ANALYZE finds so few products that
 * reading another product's rows would scan the whole table. Citus accepts the option only before it distributes the
 * table.
 */
async function limitRowEstimates(sql: Sql, log: Log): Promise<void> {
  try {
    for (const { name } of await sql.query<{ name: string }>(SELECT_ESTIMATED)) {
      await sql.query(`ALTER TABLE ${name} ALTER COLUMN product_id SET (n_distinct = -0.1)`);
    }
  } catch (error) {
    log.info({ err: error }, 'Cannot set n_distinct; if one product has most of the votes, updates may be slow');
  }
}

/**
 * Creates the trigram index for searches. It needs the extension pg_trgm, which not every server offers and not every
 * role may create. Without the index, a search that the other indexes do not support scans the whole table.
 */
async function createSearchIndex(sql: Sql, log: Log): Promise<void> {
  if (await hasIndex(sql, 'products_search')) return;
  try {
    await unlessRaceLost(() => sql.query('CREATE EXTENSION IF NOT EXISTS pg_trgm'));
    await unlessRaceLost(() =>
      sql.query('CREATE INDEX IF NOT EXISTS products_search ON products USING gin (search_text gin_trgm_ops)'),
    );
  } catch (error) {
    log.warn(
      { err: error },
      'Cannot create the trigram index, so searching a large list will be slow. If the extension pg_trgm is missing, run `CREATE EXTENSION pg_trgm` in the database as a superuser, then restart the site.',
    );
  }
}

/**
 * Creates an index of upvotes by time, for statistics. Rows arrive in the order of their time, so a BRIN index is
 * enough. It is small (88 kB for five million rows) and hardly slows down writes. Engines without BRIN scan the whole
 * table.
 */
async function createTimeIndex(sql: Sql, log: Log): Promise<void> {
  if (!(await hasTable(sql, 'upvotes')) || (await hasIndex(sql, 'upvotes_time'))) return;
  try {
    await unlessRaceLost(() =>
      sql.query(
        'CREATE INDEX IF NOT EXISTS upvotes_time ON upvotes USING brin (created_at) WITH (pages_per_range = 32, autosummarize = on)',
      ),
    );
  } catch (error) {
    log.info({ err: error }, 'Cannot create the BRIN index on upvotes; statistics will read all upvotes');
  }
}
