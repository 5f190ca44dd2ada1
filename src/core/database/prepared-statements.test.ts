import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { createPreparedStatements, type Database, openDatabase } from './database.ts';

describe('on a connection', () => {
  let database: TestDatabase;
  let pool: Database;

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    pool = openDatabase({ url: database.url, log: silentLog, maxConnections: 1 });
  });

  afterAll(async () => {
    await pool.close();
    await database.drop();
  });

  const double = (value: number) => pool.query('SELECT $1::integer * 2 AS doubled', [value], { isPrepared: true });
  const preparedStatements = () =>
    pool.query('SELECT statement, generic_plans + custom_plans AS runs FROM pg_prepared_statements');

  test('a statement is prepared once, and reused with other values', async () => {
    expect(await double(1)).toEqual([{ doubled: 2 }]);
    expect(await double(2)).toEqual([{ doubled: 4 }]);
    expect(await preparedStatements()).toEqual([{ statement: 'SELECT $1::integer * 2 AS doubled', runs: '2' }]);
  });

  test('a statement that a pooler lost runs again without preparation, and later ones are not prepared either', async () => {
    await double(1);
    await pool.query('DEALLOCATE ALL');
    expect(await double(3)).toEqual([{ doubled: 6 }]);
    expect(await double(4)).toEqual([{ doubled: 8 }]);
    expect(await preparedStatements()).toEqual([]);
  });
});

/**
 * Returns a function that fails with this SQLSTATE if the statement has a name, and the names that it was called with.
 */
function failingIfNamed(code: string) {
  const names: (string | undefined)[] = [];
  return {
    names,
    async execute(name?: string) {
      names.push(name);
      if (name === undefined) return 'done';
      throw Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code });
    },
  };
}

test.each(['26000', '42P05', '0A000'])(
  'after error %s, no further statement is prepared, and this is logged once',
  async (code) => {
    const log = createLogLines();
    const prepare = createPreparedStatements(log.log);
    const { names, execute } = failingIfNamed(code);
    const both = await Promise.all([prepare('SELECT 1', execute), prepare('SELECT 2', execute)]);
    expect([...both, await prepare('SELECT 3', execute)]).toEqual(['done', 'done', 'done']);
    const named = expect.stringMatching(/^groundswell_[0-9a-f]{32}$/);
    expect(names).toEqual([named, named, undefined, undefined, undefined]);
    expect(log.lines()).toEqual([
      expect.objectContaining({ code, msg: expect.stringContaining('No more statements will be prepared') }),
    ]);
  },
);

test('other errors are passed on, and the next statement is still prepared', async () => {
  const prepare = createPreparedStatements(silentLog);
  const { names, execute } = failingIfNamed('23503');
  await expect(prepare('SELECT 1', execute)).rejects.toMatchObject({ code: '23503' });
  await expect(prepare('SELECT 1', execute)).rejects.toMatchObject({ code: '23503' });
  expect(new Set(names).size).toBe(1);
});

test('statements have the same name if and only if they have the same text', async () => {
  const prepare = createPreparedStatements(silentLog);
  const nameOf = (text: string) => prepare(text, async (name) => name);
  expect(await nameOf('SELECT 1')).not.toBe(await nameOf('SELECT 2'));
  expect(await nameOf('SELECT 1')).toBe(await createPreparedStatements(silentLog)('SELECT 1', async (name) => name));
});
