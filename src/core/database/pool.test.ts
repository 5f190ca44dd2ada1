import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type BlackHoleProxy, startBlackHoleProxy } from '../../../tests/support/black-hole-proxy.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { type Database, openDatabase } from './database.ts';

/** Makes the watchdog act after 0.4 s. */
const CHECK_INTERVAL_MS = 50;
const CONNECTIONS = 3;
/** Even on a busy machine, no statement times out before the watchdog acts. */
const LONG_TIMEOUTS = { connectTimeoutMs: 60_000, statementTimeoutMs: 90_000 };

let database: TestDatabase;
let proxy: BlackHoleProxy;
let pool: Database;
let logged: ReturnType<typeof createLogLines>;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
});
afterAll(() => database.drop());

beforeEach(async () => {
  proxy = await startBlackHoleProxy(database.url);
  logged = createLogLines();
  pool = openDatabase({ url: proxy.url, log: logged.log, maxConnections: CONNECTIONS, ...LONG_TIMEOUTS });
});
afterEach(async () => {
  vi.useRealTimers();
  await pool.close();
  await proxy.close();
});

const unavailable = expect.objectContaining({ code: 'unavailable' });

/** Uses all connections at the same time, so the pool is full. */
function askOnAll(): Promise<unknown[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => pool.query('SELECT pg_sleep(0.1)')));
}

test('silently dead connections are closed, in use or not, and new ones reach the database', async () => {
  await askOnAll();
  // The watchdog starts only when traffic is dropped, because a busy server may need longer than the interval to
  // respond.
  let endWatch = () => {};
  const inTransaction = pool.transaction(async (sql) => {
    await sql.query('SELECT 1');
    proxy.dropTraffic();
    endWatch = pool.startWatchdog(CHECK_INTERVAL_MS);
    await sql.query('SELECT 2');
  });
  await expect(inTransaction).rejects.toEqual(unavailable);
  await expect.poll(() => pool.connections()).toMatchObject({ busy: 0, idle: 0 });
  endWatch();
  proxy.restoreTraffic();
  await askOnAll();
  expect(logged.text()).toContain('The database has not responded for several seconds');
});

test('a long statement continues while other statements get responses, and also without a watchdog', async () => {
  await askOnAll();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const endWatch = pool.startWatchdog(CHECK_INTERVAL_MS);
  const unwatched = openDatabase({ url: proxy.url, log: logged.log, ...LONG_TIMEOUTS });
  const { long } = await database.transaction(async (sql) => {
    await sql.query('SELECT pg_advisory_xact_lock(1)');
    const long = Promise.all([pool, unwatched].map((each) => each.query('SELECT pg_advisory_xact_lock_shared(1)')));
    // The watchdog acts after eight checks without a response.
    for (let round = 0; round < 3; round += 1) {
      await pool.query('SELECT 1 AS one');
      vi.advanceTimersByTime(7 * CHECK_INTERVAL_MS);
    }
    return { long };
  });
  await expect(long).resolves.toEqual([[expect.anything()], [expect.anything()]]);
  endWatch();
  await unwatched.close();
  expect(logged.text()).not.toContain('has not responded');
});

test.each([
  ['the watchdog closed its connection', undefined],
  ['its timeout elapsed', 200],
])('a statement that did not reach the server before %s is never executed', async (_reason, timeoutMs) => {
  const single = openDatabase({ url: proxy.url, log: logged.log, maxConnections: 1, ...LONG_TIMEOUTS });
  await database.query('CREATE TABLE IF NOT EXISTS late (content text)');
  const [connection] = await single.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  proxy.holdTraffic();
  const endWatch = timeoutMs === undefined ? single.startWatchdog(CHECK_INTERVAL_MS) : () => {};
  // The value is larger than the receiver's buffer, so the end of the statement stays in the sender's kernel.
  const write = single.query('INSERT INTO late VALUES ($1)', ['x'.repeat(1_000_000)], timeoutMs ? { timeoutMs } : {});
  await expect(write).rejects.toEqual(unavailable);
  expect(logged.text().includes('has not responded')).toBe(timeoutMs === undefined);
  endWatch();
  proxy.restoreTraffic();
  const backends = () => database.query('SELECT FROM pg_stat_activity WHERE pid = $1', [connection?.pid]);
  await expect.poll(backends).toEqual([]);
  expect(await database.query('SELECT FROM late')).toEqual([]);
  await single.close();
});

test('while the file of `sslrootcert` cannot be read, new connections fail as `unavailable`, also for waiting callers', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-pool-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'ca.pem');
  await writeFile(file, '');
  // The driver reads the file even without TLS, which the server may not support.
  const url = `${database.url}${database.url.includes('?') ? '&' : '?'}sslmode=disable&sslrootcert=${encodeURIComponent(file)}`;
  const single = openDatabase({ url, log: logged.log, maxConnections: 1, ...LONG_TIMEOUTS });
  const [connection] = await single.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const failed = expect(single.query('SELECT pg_sleep(600)')).rejects.toEqual(unavailable);
  const failedLater = [single.query('SELECT 1'), single.transaction((sql) => sql.query('SELECT 1'))].map((waiting) =>
    expect(waiting).rejects.toEqual(unavailable),
  );
  await rm(file);
  await database.query('SELECT pg_terminate_backend($1::integer)', [connection?.pid]);
  await Promise.all([failed, ...failedLater]);
  await expect(single.transaction((sql) => sql.query('SELECT 1'))).rejects.toEqual(unavailable);
  await writeFile(file, '');
  expect(await single.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await single.close();
});
