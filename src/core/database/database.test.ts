import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startBlackHoleProxy } from '../../../tests/support/black-hole-proxy.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { type Database, openDatabase } from './database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  await database.query('CREATE TABLE notes (id integer PRIMARY KEY)');
});

afterAll(() => database.drop());

const unavailable = expect.objectContaining({ name: 'CoreError', code: 'unavailable' });
const idsIn = async () =>
  (await database.query<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id);

/** Makes the server close a connection. */
async function terminate(pid: number): Promise<void> {
  await database.query('SELECT pg_terminate_backend($1::integer)', [pid]);
}

async function pidOf(sql: Pick<Database, 'query'>): Promise<number> {
  const [row] = await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return row?.pid ?? 0;
}

async function withPoolOfOne(work: (pool: Database) => Promise<void>): Promise<void> {
  const pool = openDatabase({ url: database.url, log: silentLog, maxConnections: 1 });
  try {
    await work(pool);
  } finally {
    await pool.close();
  }
}

describe('slow statements', () => {
  test('slow statements are logged without their values, even in a transaction, and quick ones are not logged', async () => {
    const { log, lines, text } = createLogLines();
    const patient = openDatabase({ url: database.url, log, slowStatementMs: 3_600_000 });
    await patient.query('SELECT $1::text', ['quick']);
    await patient.close();
    expect(lines()).toEqual([]);
    const pool = openDatabase({ url: database.url, log, slowStatementMs: 100 });
    await pool.query('SELECT pg_sleep(0.2),\n  $1::text', ['a secret']);
    await pool.transaction((sql) => sql.query('SELECT pg_sleep(0.2) AS inside'));
    await pool.close();
    const slept = () => lines().filter(({ statement }) => String(statement).includes('pg_sleep'));
    await expect.poll(() => slept().length).toBe(2);
    expect(slept()).toMatchObject([
      { msg: 'Slow statement', statement: 'SELECT pg_sleep(0.2), $1::text', ms: expect.any(Number) },
      { msg: 'Slow statement', statement: 'SELECT pg_sleep(0.2) AS inside', ms: expect.any(Number) },
    ]);
    expect(text()).not.toContain('a secret');
  });
});

test('a statement may have a shorter timeout, after which the pool can execute other statements', async () => {
  await withPoolOfOne(async (pool) => {
    await expect(pool.query('SELECT pg_sleep(30)', [], { timeoutMs: 50 })).rejects.toEqual(unavailable);
    expect(await pool.query('SELECT 1 AS one', [], { timeoutMs: 5_000 })).toEqual([{ one: 1 }]);
  });
});

describe('transactions', () => {
  test('a transaction commits its work and returns the result', async () => {
    const result = await database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (1)');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await idsIn()).toContain(1);
  });

  test('a transaction rolls back on an error of its callback, and rethrows the error unchanged', async () => {
    const failure = new Error('changed my mind');
    const work = database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (2)');
      throw failure;
    });
    await expect(work).rejects.toBe(failure);
    expect(await idsIn()).not.toContain(2);
  });

  test('a transaction rolls back on an error of a statement', async () => {
    const work = database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (3)');
      await sql.query('INSERT INTO notes VALUES (3)');
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(await idsIn()).not.toContain(3);
  });

  test('a failed transaction releases its connection', async () => {
    await withPoolOfOne(async (pool) => {
      await expect(pool.transaction((sql) => sql.query('SELECT nonsense'))).rejects.toThrow('nonsense');
      expect(await pool.transaction((sql) => sql.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });
  });
});

describe('lost connections', () => {
  test('losing the connection during a statement is reported as `unavailable`, and the pool recovers', async () => {
    await withPoolOfOne(async (pool) => {
      const pid = await pidOf(pool);
      const asleep = pool.query('SELECT pg_sleep(60)');
      const failure = expect(asleep).rejects.toEqual(unavailable);
      await expect
        .poll(() => database.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND state = 'active'", [pid]))
        .toHaveLength(1);
      await terminate(pid);
      await failure;
      expect(await pidOf(pool)).not.toBe(pid);
    });
  });

  test('losing the connection during a transaction is reported as `unavailable`, the transaction is rolled back, and the pool recovers', async () => {
    await withPoolOfOne(async (pool) => {
      const work = pool.transaction(async (sql) => {
        await sql.query('INSERT INTO notes VALUES (4)');
        await terminate(await pidOf(sql));
        await sql.query('INSERT INTO notes VALUES (5)');
      });
      await expect(work).rejects.toEqual(unavailable);
      expect(await idsIn()).not.toContain(4);
      expect(await pool.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  });

  test('a transaction whose callback throws `unavailable` does not lose its connection', async () => {
    await withPoolOfOne(async (pool) => {
      const pid = await pidOf(pool);
      const work = pool.transaction(async (sql) => {
        await sql.query('INSERT INTO notes VALUES (6)');
        throw new CoreError('unavailable', 'Not yet.');
      });
      await expect(work).rejects.toEqual(unavailable);
      expect(await idsIn()).not.toContain(6);
      expect(await pidOf(pool)).toBe(pid);
    });
  });

  test('a lost idle connection is replaced without crashing the process', async () => {
    await withPoolOfOne(async (pool) => {
      const pid = await pidOf(pool);
      await terminate(pid);
      await expect.poll(() => pidOf(pool).catch(() => pid)).not.toBe(pid);
    });
  });
});

test('keep-alive probes are enabled on every connection, even on one without a timeout', async () => {
  const setKeepAlive = vi.spyOn(Socket.prototype, 'setKeepAlive');
  onTestFinished(() => setKeepAlive.mockRestore());
  const pool = openDatabase({ url: database.url, log: silentLog, statementTimeoutMs: 0 });
  await pool.query('SELECT 1');
  let isListening = false;
  const listening = pool.listen('changes', {
    onListening() {
      isListening = true;
    },
    onNotification() {},
  });
  await expect.poll(() => isListening).toBe(true);
  expect(setKeepAlive.mock.calls).toEqual(Array(2).fill([true, 30_000]));
  await listening.stop();
  await pool.close();
});

describe('vanished machines', () => {
  test('the locks of a machine that vanishes during a transaction are released after a while', async () => {
    const proxy = await startBlackHoleProxy(database.url);
    const vanishing = openDatabase({ url: proxy.url, log: silentLog, statementTimeoutMs: 600 });
    await database.query('CREATE TABLE counts AS SELECT 0 AS upvotes');
    let hasVanished = false;
    const vanish = () =>
      vanishing.transaction(async (sql) => {
        await sql.query('UPDATE counts SET upvotes = 1');
        proxy.dropTraffic();
        hasVanished = true;
        await database.query('UPDATE counts SET upvotes = upvotes + 10');
      });
    // On a busy machine, a statement may exceed the short timeout before the traffic is dropped.
    while (!hasVanished) await expect(vanish()).rejects.toEqual(unavailable);
    expect(await database.query('SELECT upvotes FROM counts')).toEqual([{ upvotes: 10 }]);
    await vanishing.close();
    await proxy.close();
  });

  test('keep-alive probes are set for each session, so the server notices a vanished machine even without an idle timeout', async () => {
    const pool = openDatabase({ url: database.url, log: silentLog, statementTimeoutMs: 0 });
    // On a Unix socket, the server stores the values but shows 0.
    const SELECT_SET =
      "SELECT name FROM pg_settings WHERE name LIKE 'tcp_keepalives%' AND source = 'session' ORDER BY name";
    expect(await pool.query(SELECT_SET)).toEqual([
      { name: 'tcp_keepalives_count' },
      { name: 'tcp_keepalives_idle' },
      { name: 'tcp_keepalives_interval' },
    ]);
    await pool.close();
  });
});

describe('statements that wait for a lock', () => {
  const TIMEOUT_MS = 600;
  const backends = () => database.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'writers'");

  test.each<[string, (pool: Database) => Promise<unknown>]>([
    ['outside a transaction', (pool) => pool.query('INSERT INTO locked VALUES (1)')],
    ['in a transaction', (pool) => pool.transaction((sql) => sql.query('INSERT INTO locked VALUES (1)'))],
  ])('a blocked statement %s fails with `unavailable`, leaves no backend, and is never executed', async (_, write) => {
    await expectFailures(write);
    expect(await database.query('SELECT * FROM locked')).toEqual([]);
  });

  test('a blocked read with a shorter client timeout fails with `unavailable`, and leaves no backend', async () => {
    await expectFailures((pool) => pool.query('SELECT FROM locked', [], { timeoutMs: 100 }));
  });

  async function expectFailures(run: (pool: Database) => Promise<unknown>): Promise<void> {
    await database.query('CREATE TABLE IF NOT EXISTS locked (id integer)');
    const url = new URL(database.url);
    url.searchParams.set('application_name', 'writers');
    const pool = openDatabase({
      url: url.href,
      log: silentLog,
      statementTimeoutMs: TIMEOUT_MS,
      maxConnections: 4,
    });
    // On a busy machine, a statement may exceed the short timeout.
    await expect.poll(() => pool.query('SELECT FROM locked')).toEqual([]);
    expect(await backends()).not.toEqual([]);
    // The server cancels a statement before its client gives up.
    await expect.poll(() => pool.query('SHOW statement_timeout')).toEqual([{ statement_timeout: '400ms' }]);
    await database.transaction(async (sql) => {
      await sql.query('LOCK TABLE locked');
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => run(pool)));
      expect(results).toEqual(results.map(() => ({ status: 'rejected', reason: unavailable })));
      // A backend that is only slow to read its statement would execute it after the lock is released.
      await expect.poll(backends).toEqual([]);
    });
    await pool.close();
  }
});

test.each([
  ['25006', 'a read-only database'],
  ['25P03', 'a transaction that was idle for too long'],
  ['25P04', 'a transaction that took too long'],
  ['53100', 'a full disk'],
  ['57P01', 'a server that stops'],
  ['57014', 'a cancelled statement'],
  ['58030', 'a broken disk'],
])('SQLSTATE %s (%s) is reported as `unavailable`', async (code) => {
  const raise = `DO $$ BEGIN RAISE EXCEPTION 'error' USING ERRCODE = '${code}'; END $$`;
  await expect(database.query(raise)).rejects.toEqual(unavailable);
  await expect(database.transaction((sql) => sql.query(raise))).rejects.toEqual(unavailable);
});

describe('an unavailable database', () => {
  test('a refused connection is reported as `unavailable`, for statements and transactions, without the address', async () => {
    const pool = openDatabase({ url: 'postgres://site:secret@127.0.0.1:1/site', log: silentLog });
    await expect(pool.query('SELECT 1')).rejects.toEqual(unavailable);
    await expect(pool.transaction(async () => {})).rejects.toEqual(unavailable);
    await expect(pool.query('SELECT 1')).rejects.toThrow(/^The database is unavailable right now[^0-9]*$/);
    await pool.close();
  });

  test('a dropped database is reported as `unavailable`', async () => {
    const dropped = await createTestDatabase({ migrated: false });
    const pool = openDatabase({ url: dropped.url, log: silentLog });
    await pool.query('SELECT 1');
    await dropped.drop();
    // The first statement may still use the closed connection; the second one finds no database.
    for (const _attempt of [1, 2]) await expect(pool.query('SELECT 1')).rejects.toEqual(unavailable);
    await pool.close();
  });

  test('a statement that exceeds its timeout fails with `unavailable`', async () => {
    const pool = openDatabase({ url: database.url, log: silentLog, statementTimeoutMs: 50 });
    await expect(pool.query('SELECT pg_sleep(10)')).rejects.toEqual(unavailable);
    await pool.close();
  });

  test('an invalid statement is not reported as `unavailable`', async () => {
    await expect(database.query('SELECT nonsense')).rejects.toMatchObject({ name: 'error', code: '42703' });
  });
});
