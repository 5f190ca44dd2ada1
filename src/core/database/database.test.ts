import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
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

/** Ends the connection that a pool of one has, from the server's side. */
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
  test('are in the log without their values, in a transaction too, and quick ones are not', async () => {
    const { log, lines, text } = createLogLines();
    const pool = openDatabase({ url: database.url, log, slowStatementMs: 50 });
    await pool.query('SELECT $1::text', ['quick']);
    await pool.query('SELECT pg_sleep(0.1),\n  $1::text', ['a secret']);
    await pool.transaction((sql) => sql.query('SELECT pg_sleep(0.1) AS inside'));
    await pool.close();
    await expect.poll(() => lines().length).toBe(2);
    expect(lines()).toMatchObject([
      { msg: 'A statement was slow', statement: 'SELECT pg_sleep(0.1), $1::text', ms: expect.any(Number) },
      { msg: 'A statement was slow', statement: 'SELECT pg_sleep(0.1) AS inside', ms: expect.any(Number) },
    ]);
    expect(text()).not.toContain('a secret');
  });
});

test('a statement may have less time than others, and the pool goes on with another connection', async () => {
  await withPoolOfOne(async (pool) => {
    await expect(pool.query('SELECT pg_sleep(30)', [], { timeoutMs: 50 })).rejects.toEqual(unavailable);
    expect(await pool.query('SELECT 1 AS one', [], { timeoutMs: 5_000 })).toEqual([{ one: 1 }]);
  });
});

describe('transactions', () => {
  test('what was done is there afterwards, and the result is handed on', async () => {
    const result = await database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (1)');
      return 'done';
    });
    expect(result).toBe('done');
    expect(await idsIn()).toContain(1);
  });

  test('an error of the work rolls all of it back and is thrown on as it is', async () => {
    const fault = new Error('changed my mind');
    const work = database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (2)');
      throw fault;
    });
    await expect(work).rejects.toBe(fault);
    expect(await idsIn()).not.toContain(2);
  });

  test('an error of a statement rolls all of it back', async () => {
    const work = database.transaction(async (sql) => {
      await sql.query('INSERT INTO notes VALUES (3)');
      await sql.query('INSERT INTO notes VALUES (3)');
    });
    await expect(work).rejects.toMatchObject({ code: '23505' });
    expect(await idsIn()).not.toContain(3);
  });

  test('the connection of a failed one is fit for the next', async () => {
    await withPoolOfOne(async (pool) => {
      await expect(pool.transaction((sql) => sql.query('SELECT nonsense'))).rejects.toThrow('nonsense');
      expect(await pool.transaction((sql) => sql.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    });
  });
});

describe('a lost connection', () => {
  test('in the middle of a statement it is `unavailable`, and the pool recovers by itself', async () => {
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

  test('in the middle of a transaction it is `unavailable`, nothing of it stays, and the pool recovers', async () => {
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

  test('while idle it is replaced, and ends no process', async () => {
    await withPoolOfOne(async (pool) => {
      const pid = await pidOf(pool);
      await terminate(pid);
      await expect.poll(() => pidOf(pool).catch(() => pid)).not.toBe(pid);
    });
  });
});

describe('a database that is away', () => {
  test('a refused connection is `unavailable`, for statements and transactions, and names no address', async () => {
    const port = await closedPort();
    const pool = openDatabase({ url: `postgres://site:secret@127.0.0.1:${port}/site`, log: silentLog });
    await expect(pool.query('SELECT 1')).rejects.toEqual(unavailable);
    await expect(pool.transaction(async () => {})).rejects.toEqual(unavailable);
    await expect(pool.query('SELECT 1')).rejects.toThrow(/^The database cannot be reached right now[^0-9]*$/);
    await pool.close();
  });

  test('a dropped database is `unavailable`', async () => {
    const dropped = await createTestDatabase({ migrated: false });
    const pool = openDatabase({ url: dropped.url, log: silentLog });
    await pool.query('SELECT 1');
    await dropped.drop();
    // The first statement may still meet the connection that was ended, the second finds no database at all.
    for (const _attempt of [1, 2]) await expect(pool.query('SELECT 1')).rejects.toEqual(unavailable);
    await pool.close();
  });

  test('a statement that does not come back in time is `unavailable`', async () => {
    const pool = openDatabase({ url: database.url, log: silentLog, statementTimeoutMs: 50 });
    await expect(pool.query('SELECT pg_sleep(10)')).rejects.toEqual(unavailable);
    await pool.close();
  });

  test('a statement that is wrong is not `unavailable`', async () => {
    await expect(database.query('SELECT nonsense')).rejects.toMatchObject({ name: 'error', code: '42703' });
  });
});

/** A port on which nobody listens: the kernel's pick, given back. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
