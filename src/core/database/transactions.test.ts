import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { openDatabase, type Sql } from './database.ts';
import { UnknownOutcomeError } from './database-errors.ts';
import { transactionWithRetries, waitForLock } from './transactions.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  await database.query('CREATE TABLE written (tried integer)');
});
afterAll(() => database.drop());

const writes = (sql: Sql, tried: number) => sql.query('INSERT INTO written VALUES ($1)', [tried]);
/** Raises an error with this SQLSTATE, such as 40P01 (deadlock). */
const raise = (sql: Sql, code: string) => sql.query(`DO $$ BEGIN RAISE 'raised' USING ERRCODE = '${code}'; END $$`);
const written = () => database.query('DELETE FROM written RETURNING tried');

test.each(['40001', '40P01'])('a transaction that fails with %s is retried and committed once', async (code) => {
  let tried = 0;
  const result = await transactionWithRetries(database, async (sql) => {
    tried += 1;
    await writes(sql, tried);
    if (tried < 3) await raise(sql, code);
    return `done at ${tried}`;
  });
  expect(result).toBe('done at 3');
  expect(await written()).toEqual([{ tried: 3 }]);
});

test('a transaction with a serialization failure in each attempt fails after the sixth attempt and writes nothing', async () => {
  let tried = 0;
  const work = transactionWithRetries(database, async (sql) => {
    tried += 1;
    await writes(sql, tried);
    await raise(sql, '40001');
  });
  await expect(work).rejects.toMatchObject({ code: '40001' });
  expect(tried).toBe(6);
  expect(await written()).toEqual([]);
});

test('other failures are not retried', async () => {
  let tried = 0;
  const work = transactionWithRetries(database, async (sql) => {
    tried += 1;
    await raise(sql, '23505');
  });
  await expect(work).rejects.toMatchObject({ code: '23505' });
  expect(tried).toBe(1);
});

test('a slow COMMIT is logged as a slow statement', async () => {
  const { log, lines } = createLogLines();
  const pool = openDatabase({ url: database.url, log, slowStatementMs: 100 });
  await pool.transaction((sql) =>
    sql.query(`CREATE TEMPORARY TABLE slow (n integer);
      CREATE FUNCTION pg_temp.wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END';
      CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION pg_temp.wait();
      INSERT INTO slow VALUES (1)`),
  );
  await pool.close();
  await expect.poll(lines).toContainEqual(expect.objectContaining({ msg: 'Slow statement', statement: 'COMMIT' }));
});

test('waiting for a lock does not change the lock timeout of the rest of the transaction', async () => {
  await database.transaction(async (sql) => {
    const timeout = () => sql.query('SHOW lock_timeout');
    const before = await timeout();
    await waitForLock(sql, 'LOCK TABLE written IN EXCLUSIVE MODE', () => {});
    expect(await timeout()).toEqual(before);
  });
});

test('losing the connection during COMMIT is an unknown outcome; a refused COMMIT or an earlier loss is not', async () => {
  await database.query(`CREATE FUNCTION fail_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.tried = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); ELSE RAISE 'refused'; END IF; RETURN NULL;
    END $$`);
  await database.query(`CREATE CONSTRAINT TRIGGER fail_commit AFTER INSERT ON written
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail_commit()`);
  const pool = openDatabase({ url: database.url, log: silentLog, maxConnections: 1 });
  const failure = (work: (sql: Sql) => Promise<unknown>) => pool.transaction(work).catch((error: unknown) => error);
  try {
    const lost = await failure((sql) => writes(sql, 1));
    expect(lost).toBeInstanceOf(UnknownOutcomeError);
    expect(lost).toMatchObject({ code: 'unavailable', cause: expect.any(Error) });
    expect(await failure((sql) => writes(sql, 2))).toMatchObject({ message: 'refused' });
    const interrupted = await failure((sql) => sql.query('SELECT pg_terminate_backend(pg_backend_pid())'));
    expect(interrupted).toMatchObject({ code: 'unavailable' });
    expect(interrupted).not.toBeInstanceOf(UnknownOutcomeError);
    expect(await pool.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    await pool.close();
    await database.query('DROP FUNCTION fail_commit CASCADE');
  }
});
