import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { withinTransaction } from '../../../tests/support/within-transaction.ts';
import { searchIndexOf } from '../products/search-trigrams.ts';
import { openDatabase } from './database.ts';
import { migrate, readMigrations } from './migrate.ts';

let database: TestDatabase;
let folder: string;

beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
  folder = await mkdtemp(join(tmpdir(), 'groundswell-migrations-'));
});

afterEach(async () => {
  await database.drop();
  await rm(folder, { recursive: true });
});

const write = (name: string, sql: string) => writeFile(join(folder, name), sql);

async function tables(): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1`,
  );
  return rows.map((row) => row.name);
}

async function history(): Promise<unknown[]> {
  return database.query('SELECT version, name FROM schema_migrations ORDER BY version');
}

describe('the schema', () => {
  test('an empty database gets its tables, and a second run changes nothing', async () => {
    const names = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
    expect(await migrate(database, MIGRATIONS, silentLog)).toEqual(names);
    const afterFirst = await tables();
    expect(afterFirst).toEqual(
      expect.arrayContaining(['comments', 'product_counts', 'products', 'schema_migrations', 'upvotes']),
    );
    expect(await migrate(database, MIGRATIONS, silentLog)).toEqual([]);
    expect(await tables()).toEqual(afterFirst);
  });

  test('a database in an encoding other than UTF-8 is refused and stays empty', async () => {
    const byteByByte = await createTestDatabase({ migrated: false, locale: 'C', encoding: 'SQL_ASCII' });
    try {
      await expect(migrate(byteByByte, MIGRATIONS, silentLog)).rejects.toThrow("The database's encoding is SQL_ASCII");
      expect(await byteByByte.query("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    } finally {
      await byteByByte.drop();
    }
  });

  test('a role that may not create tables is refused with advice', async () => {
    const migrating = database.transaction(async (sql) => {
      await sql.query('CREATE SCHEMA closed');
      await sql.query('GRANT USAGE ON SCHEMA closed TO pg_monitor');
      await sql.query('SET LOCAL search_path = closed');
      await sql.query('SET LOCAL ROLE pg_monitor');
      await migrate(withinTransaction(database, sql), MIGRATIONS, silentLog);
    });
    await expect(migrating).rejects.toThrow('permission denied for schema closed. Make the role the owner');
  });

  test('a site in its own schema gets and uses its own tables and indexes, even if another site is in a later schema of the search path', async () => {
    const names = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
    await migrate(database, MIGRATIONS, silentLog);
    // Without quotes, SQL would fold the name to lower case.
    await database.query('CREATE SCHEMA "Second"');
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET search_path = "Second", public`);
    const second = openDatabase({ url: database.url, log: silentLog });
    try {
      expect(await migrate(second, MIGRATIONS, silentLog)).toEqual(names);
      expect(await second.query(`SELECT to_regclass('"Second".products')::text AS name`)).toEqual([
        { name: 'products' },
      ]);
      const indexes = (schema: string) =>
        second.query('SELECT indexname FROM pg_indexes WHERE schemaname = $1 ORDER BY indexname', [schema]);
      expect(await indexes('Second')).toEqual(await indexes('public'));
      const columnOptions = (schema: string) =>
        second.query(
          `SELECT c.relname, a.attname, option FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
           JOIN pg_namespace n ON n.oid = c.relnamespace CROSS JOIN unnest(a.attoptions) AS option
           WHERE n.nspname = $1 AND option LIKE 'n_distinct=%' ORDER BY 1, 2`,
          [schema],
        );
      expect(await columnOptions('Second')).toHaveLength(4);
      expect(await columnOptions('Second')).toEqual(await columnOptions('public'));
      await second.query('DROP INDEX "Second".products_search');
      expect(await searchIndexOf(second)).toBe('none');
    } finally {
      await second.close();
    }
  });

  test('an up-to-date database is not written to, so it may be read-only', async () => {
    await migrate(database, MIGRATIONS, silentLog);
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    const readOnly = openDatabase({ url: database.url, log: silentLog });
    try {
      await expect(readOnly.query('CREATE TABLE refused ()')).rejects.toMatchObject({ code: 'unavailable' });
      expect(await migrate(readOnly, MIGRATIONS, silentLog)).toEqual([]);
    } finally {
      await readOnly.close();
    }
  });

  test('several processes that migrate an empty database at the same time apply every file exactly once', async () => {
    const names = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
    const others = Array.from({ length: 4 }, () => openDatabase({ url: database.url, log: silentLog }));
    try {
      const applied = await Promise.all(others.map((other) => migrate(other, MIGRATIONS, silentLog)));
      // The processes divide the files at random.
      expect(applied.flat().sort()).toEqual(names);
    } finally {
      await Promise.all(others.map((other) => other.close()));
    }
    expect(await history()).toHaveLength(names.length);
  });

  test('the trigram index for searches is created if and only if its extension is available', async () => {
    await migrate(database, MIGRATIONS, silentLog);
    const available = await database.query("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_trgm'");
    const indexes = await database.query("SELECT 1 FROM pg_indexes WHERE indexname = 'products_search'");
    expect(indexes).toHaveLength(available.length);
  });

  test('recent upvotes are found by the index on their time, without reading all upvotes', async () => {
    await migrate(database, MIGRATIONS, silentLog);
    await database.query("INSERT INTO products (id) VALUES ('a')");
    await database.query(`INSERT INTO upvotes (id, product_id, user_session, created_at)
      SELECT gen_random_uuid(), 'a', 'session-' || n, '2026-01-01'::timestamptz + n * interval '1 minute' FROM generate_series(1, 60000) AS n`);
    await database.query('ANALYZE upvotes');
    const plan = await database.transaction(async (sql) => {
      // On Citus, includes the plans of all shards, since any one may be empty. Elsewhere the setting has no effect.
      await sql.query('SET LOCAL citus.explain_all_tasks = on');
      return sql.query(
        "EXPLAIN (FORMAT JSON) SELECT count(*) FROM upvotes WHERE created_at >= '2026-02-10'::timestamptz",
      );
    });
    expect(JSON.stringify(plan)).toContain('upvotes_time');
  });

  test('the schema allows at most one upvote per product and session (SPEC section 4)', async () => {
    await migrate(database, MIGRATIONS, silentLog);
    await database.query("INSERT INTO products (id) VALUES ('a')");
    const insert = "INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'a', 'session-1')";
    await database.query(insert);
    await expect(database.query(insert)).rejects.toMatchObject({ code: '23505' });
  });
});

describe('migration files', () => {
  test('migration files are applied in the order of their numbers, and a later run applies only new files', async () => {
    await write('0002_two.sql', 'INSERT INTO notes VALUES (2)');
    await write('0001_one.sql', 'CREATE TABLE notes (search_text integer)');
    expect(await migrate(database, folder, silentLog)).toEqual(['0001_one.sql', '0002_two.sql']);
    await write('0003_three.sql', 'INSERT INTO notes VALUES (3); INSERT INTO notes VALUES (4)');
    expect(await migrate(database, folder, silentLog)).toEqual(['0003_three.sql']);
    expect(await database.query('SELECT search_text AS n FROM notes ORDER BY 1')).toEqual([
      { n: 2 },
      { n: 3 },
      { n: 4 },
    ]);
  });

  test('a failed migration is rolled back, and is applied completely once it is corrected', async () => {
    await write('0001_products.sql', 'CREATE TABLE notes (search_text text)');
    await write('0002_broken.sql', 'CREATE TABLE half (id integer); INSERT INTO nowhere VALUES (1)');
    await expect(migrate(database, folder, silentLog)).rejects.toThrow('relation "nowhere" does not exist');
    expect(await tables()).toEqual(['notes', 'schema_migrations']);
    expect(await history()).toEqual([{ version: 1, name: '0001_products.sql' }]);

    await write('0002_broken.sql', 'CREATE TABLE half (id integer)');
    expect(await migrate(database, folder, silentLog)).toEqual(['0002_broken.sql']);
    expect(await tables()).toEqual(['half', 'notes', 'schema_migrations']);
  });

  test.each(['1_short.sql', '0001-dash.sql', 'first.sql', '0001_Upper.sql'])(
    'a file named %s is refused before anything is applied',
    async (name) => {
      await write('0000_fine.sql', 'CREATE TABLE fine (id integer)');
      await write(name, 'SELECT 1');
      await expect(migrate(database, folder, silentLog)).rejects.toThrow(`Migration ${name} is not named like`);
      expect(await tables()).toEqual([]);
    },
  );

  test('migration files with the same number are refused before any is applied', async () => {
    await write('0001_one.sql', 'CREATE TABLE one (id integer)');
    await write('0001_other.sql', 'CREATE TABLE other (id integer)');
    await expect(migrate(database, folder, silentLog)).rejects.toThrow('Two migrations have the number 1');
    expect(await tables()).toEqual([]);
  });

  test('an older version starts on the schema of a later one, and leaves it unchanged, so an upgrade can be rolled back', async () => {
    await write('0001_one.sql', 'CREATE TABLE notes (search_text text)');
    await write('0002_later.sql', 'CREATE TABLE later (id integer)');
    await migrate(database, folder, silentLog);
    const upgraded = await history();
    await rm(join(folder, '0002_later.sql'));
    expect(await migrate(database, folder, silentLog)).toEqual([]);
    expect(await history()).toEqual(upgraded);
    expect(await tables()).toEqual(['later', 'notes', 'schema_migrations']);
  });

  test('files other than migrations in the folder are ignored', async () => {
    await write('README.md', 'not SQL');
    expect(await readMigrations(folder)).toEqual([]);
  });
});
