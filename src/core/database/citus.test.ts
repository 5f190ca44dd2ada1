import { afterEach, beforeEach, expect, test } from 'vitest';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { adaptToCitus, distribute, isDistributed } from './citus.ts';
import type { Database, Sql, StatementOptions } from './database.ts';

let database: TestDatabase;
/** The statements that reach the server. */
let sent: string[];
let sentOptions: (StatementOptions | undefined)[];

beforeEach(async () => {
  database = await createTestDatabase({ migrated: false });
  await database.query("CREATE TABLE rows AS SELECT unnest(ARRAY['a', 'b', 'c']) AS id");
  sent = [];
  sentOptions = [];
});

afterEach(() => database.drop());

/** Returns a database that records its statements, and appears to have Citus if `citus` is true. */
function databaseWith(citus: boolean): Database {
  const record = (sql: Sql): Sql => ({
    query(text, values, options) {
      sent.push(text);
      sentOptions.push(options);
      const adapted = isCheck(text) ? `SELECT 1 WHERE ${citus}` : text.replace(ALTER_DATABASE, 'SET');
      return sql.query(adapted, values, options);
    },
  });
  return { ...database, ...record(database), transaction: (work) => database.transaction((sql) => work(record(sql))) };
}

/** Only a superuser may change an unknown setting of the database, so tests change it for their only connection. */
const ALTER_DATABASE = /^ALTER DATABASE \S+ SET/;
const isCheck = (text: string) => text.includes('pg_extension');
const statements = () => sent.filter((text) => !isCheck(text));

const LOCK = 'SELECT id FROM rows WHERE id = ANY($1::text[]) ORDER BY id FOR NO KEY UPDATE /* omitted on Citus */';
const LOCK_BY_PRODUCT = `SELECT id FROM rows WHERE id = ANY($1::text[])
  ORDER BY id FOR UPDATE SKIP LOCKED /* product by product on Citus */`;

test('without Citus, statements reach the server unchanged, with their options', async () => {
  const adapted = adaptToCitus(databaseWith(false));
  const options = { isPrepared: true, timeoutMs: 10_000 };
  expect(await adapted.query(LOCK, [['b', 'a']], options)).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(await adapted.query(LOCK_BY_PRODUCT, [['b', 'a']])).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(statements()).toEqual([LOCK, LOCK_BY_PRODUCT]);
  expect(sentOptions).toContain(options);
});

test('on Citus, a marked lock is omitted, and the options are kept', async () => {
  const adapted = adaptToCitus(databaseWith(true));
  const options = { isPrepared: true };
  const rows = await adapted.query(LOCK, [['b', 'a']], options);
  expect(rows).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(statements()).toEqual(['SELECT id FROM rows WHERE id = ANY($1::text[]) ORDER BY id ']);
  expect(sentOptions.at(-1)).toBe(options);
});

test('on Citus, rows are locked product by product, in order, each once, with the other parameters', async () => {
  const adapted = adaptToCitus(databaseWith(true));
  const rows = await adapted.transaction((sql) => sql.query(LOCK_BY_PRODUCT, [['c', 'a', 'c']]));
  expect(rows).toEqual([{ id: 'a' }, { id: 'c' }]);
  expect(statements()).toEqual([LOCK_BY_PRODUCT, LOCK_BY_PRODUCT]);
  const second = LOCK_BY_PRODUCT.replace('$1::text[])', '$2::text[]) AND id <> $1');
  expect(await adapted.query(second, ['b', ['c', 'b', 'a']])).toEqual([{ id: 'a' }, { id: 'c' }]);
});

test.each([true, false])('a pool checks for Citus once, at the first marked lock (Citus: %s)', async (citus) => {
  const adapted = adaptToCitus(databaseWith(citus));
  await adapted.query('SELECT id FROM rows FOR UPDATE');
  expect(sent.filter(isCheck)).toHaveLength(0);
  for (let turn = 0; turn < 2; turn += 1) {
    await adapted.transaction((sql) => sql.query(LOCK, [['a']]));
    await adapted.query(LOCK, [['a']]);
  }
  expect(sent.filter(isCheck)).toHaveLength(1);
});

test('a failed check for Citus is repeated at the next marked lock', async () => {
  let failures = 1;
  const failing: Database = {
    ...database,
    query: (text, values, options) =>
      database.query(isCheck(text) && failures-- > 0 ? 'SELECT 1 / 0' : text, values, options),
  };
  const adapted = adaptToCitus(failing);
  await expect(adapted.query(LOCK, [['a']])).rejects.toThrow('division by zero');
  expect(await adapted.query(LOCK, [['a']])).toEqual([{ id: 'a' }]);
});

test('on Citus, shard locks are disabled even if a process was killed after it distributed the tables, but not on a read-only database', async () => {
  // No tables are left to distribute.
  await database.query('CREATE TABLE IF NOT EXISTS pg_dist_partition (logicalrelid regclass)');
  await database.query('CREATE TABLE schema_migrations ()');
  const changes = () => sent.filter((text) => ALTER_DATABASE.test(text));
  await database.query('SET default_transaction_read_only = on');
  expect(await distribute(databaseWith(true), silentLog)).toEqual([]);
  expect(changes()).toEqual([]);
  await database.query('SET default_transaction_read_only = off');
  for (let start = 0; start < 2; start += 1) expect(await distribute(databaseWith(true), silentLog)).toEqual([]);
  expect(changes()).toEqual([expect.stringMatching(/SET citus\.all_modifications_commutative = on$/)]);
});

test('rows are distributed if and only if the server has Citus', async () => {
  expect(await isDistributed(database)).toBe(isCitus);
});
