import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { scheduledName } from '../backups/backup-file.ts';
import { writeBackup } from '../backups/write-backup.ts';
import { CoreError } from '../core-error.ts';
import { readMigrations } from '../database/migrate.ts';
import { acquireLease } from '../leases/lease.ts';
import { saveProducts } from '../products/save-products.ts';
import {
  checkClock,
  checkConnections,
  checkIndexes,
  checkMigrations,
  checkSearch,
  checkServer,
  checkSomeCounts,
} from './check-database.ts';
import { checkBackups, checkDisk } from './check-storage.ts';
import { checkLeaderboards } from './run-database-checks.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  const products = Array.from({ length: 20 }, (_, index) => buildProduct({ id: `p-${index}` }));
  await saveProducts(database, products);
});
afterAll(() => database.drop());

test('doctor names the version, the location and the response time of the database', async () => {
  expect(await checkServer(database, 'db.internal/site')).toMatchObject({
    check: 'database',
    message: expect.stringMatching(/^PostgreSQL \d+\.\d+.* at db\.internal\/site responds in [\d.]+ ms$/),
  });
});

test('doctor reports a schema older or newer than this program as a failure', async () => {
  const names = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  expect(await checkMigrations(database, names)).toMatchObject({ status: 'ok' });
  expect(await checkMigrations(database, [...names, '9999_next.sql'])).toMatchObject({
    status: 'failed',
    message: '9999_next.sql not applied yet',
    advice: expect.stringContaining('groundswell migrate'),
  });
  expect(await checkMigrations(database, names.slice(0, -1))).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('does not know'),
  });
  const empty = await createTestDatabase({ migrated: false });
  expect(await checkMigrations(empty, names)).toMatchObject({ status: 'failed' });
  await empty.drop();
});

test('doctor warns if a site may open more connections than the server or its database allows', async () => {
  expect(await checkConnections(database, () => 12)).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^\d+ of \d+ open \(limited by max_connections\); this site opens up to 12$/),
  });
  expect(await checkConnections(database, () => 1_000)).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('Raise max_connections'),
  });
  await database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 5', current_database()); END $$`,
  );
  expect(await checkConnections(database, () => 12)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining(' of 5 open (limited by the database)'),
    advice: expect.stringContaining('Raise the limit of the database'),
  });
});

test('doctor warns if the clock is seconds off, fails if it is minutes off, and ignores the duration of its query', async () => {
  const apart = (ms: number) => checkClock(database, () => Date.now() + ms);
  expect(await apart(0)).toMatchObject({ status: 'ok' });
  expect(await apart(-30_000)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/ differ by (2\d|30)\.\d s$/),
  });
  expect(await apart(3_600_000)).toMatchObject({ status: 'failed' });
  const [sent, received] = [Date.now() - 60_000, Date.now() + 60_000];
  const times = [sent, received];
  expect(await checkClock(database, () => times.shift() ?? 0)).toMatchObject({ status: 'ok' });
});

test('doctor reports an unfinished index as a failure, and warns if the trigram index for searches is missing', async () => {
  expect(await checkIndexes(database)).toMatchObject({ status: 'ok' });
  expect(await checkSearch(database)).toMatchObject({ status: 'ok', message: expect.stringContaining('pg_trgm') });
  await database.query("INSERT INTO products (id, name) VALUES ('twin-1', 'Twin'), ('twin-2', 'Twin')");
  // The build fails on names with four characters, and leaves an invalid index.
  await expect(
    database.query('CREATE INDEX CONCURRENTLY twins ON products ((1 / (length(name) - 4)))'),
  ).rejects.toThrow('division by zero');
  expect(await checkIndexes(database)).toMatchObject({
    status: 'failed',
    advice: expect.stringContaining('REINDEX INDEX twins'),
  });
  // On Citus, the invalid index may exist only on the first server.
  await database.query('DROP INDEX IF EXISTS twins');
  await database.query("DELETE FROM products WHERE id LIKE 'twin-%'");
  await database.query('DROP INDEX products_search');
  const unremembered = { query: database.query };
  expect(await checkSearch(unremembered)).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('groundswell migrate'),
  });
  await database.query('DROP EXTENSION pg_trgm');
  expect(await checkSearch(unremembered)).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('CREATE EXTENSION'),
  });
});

test('doctor reports an encoding other than UTF-8 as a failure, but not the locale C', async () => {
  const [ascii, byteByByte] = await Promise.all([
    createTestDatabase({ locale: 'C' }),
    createTestDatabase({ migrated: false, locale: 'C', encoding: 'SQL_ASCII' }),
  ]);
  try {
    expect(await checkServer(ascii, 'here')).toMatchObject({ message: expect.not.stringContaining('encoding') });
    expect(await checkServer(byteByByte, 'here')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('its encoding is SQL_ASCII'),
    });
    expect(await checkSearch(ascii)).toMatchObject({ status: 'ok' });
  } finally {
    await Promise.all([ascii.drop(), byteByByte.drop()]);
  }
});

// PostgreSQL 14 has no function that publishes statistics immediately, and the coordinator of Citus has no statistics.
const testStatistics = test.skipIf(inject('databaseServerVersion') < 150_000 || isCitus);

testStatistics('doctor warns of a large table that is scanned repeatedly', async () => {
  const scanned = await createTestDatabase();
  try {
    await scanned.transaction(async (sql) => {
      await sql.query("INSERT INTO products (id) SELECT 'p-' || i FROM generate_series(1, 10001) AS i");
      await sql.query('DO $$ BEGIN FOR i IN 1..101 LOOP PERFORM count(name) FROM products; END LOOP; END $$');
      await sql.query('SELECT pg_stat_force_next_flush()');
    });
    await expect
      .poll(() => checkIndexes(scanned))
      .toMatchObject({
        status: 'warning',
        message: 'products: more sequential scans than index scans',
        advice: expect.stringContaining('ANALYZE products'),
      });
  } finally {
    await scanned.drop();
  }
});

test('doctor finds wrong counts in a sample of a thousand products', async () => {
  expect(await checkSomeCounts(database)).toMatchObject({
    status: 'ok',
    message: 'wrong for 0 of 20 checked products',
  });
  await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'p-3'");
  expect(await checkSomeCounts(database)).toMatchObject({
    status: 'failed',
    message: 'wrong for 1 of 20 checked products',
    advice: expect.stringContaining('counts check --repair'),
  });
  await database.query("UPDATE product_counts SET upvotes = 0 WHERE product_id = 'p-3'");
  await database.query("INSERT INTO products (id) SELECT 'q-' || i FROM generate_series(1000, 2199) AS i");
  // The new products have no counts, so all are wrong. The sample of 1,000 starts at one of the first 221 products.
  const wrongFrom = async (random: number) => (await checkSomeCounts(database, () => random)).message;
  expect(await wrongFrom(0)).toBe('wrong for 980 of 1,000 checked products');
  expect(await wrongFrom(0.9999)).toBe('wrong for 1,000 of 1,000 checked products');
  await database.query("DELETE FROM products WHERE id LIKE 'q-%'");
});

test('doctor warns of a nearly full disk, reports an even fuller one as a failure, and warns of a missing folder', async () => {
  const disk = (free: number, all = 100) =>
    checkDisk('DATA_DIR', tmpdir(), { measure: async () => ({ free: free * 2 ** 30, all: all * 2 ** 30 }) });
  expect(await disk(50)).toMatchObject({ status: 'ok', message: `50.0 GiB free of 100.0 GiB at ${tmpdir()}` });
  expect(await disk(4)).toMatchObject({ status: 'warning' });
  expect(await disk(0.9, 10)).toMatchObject({ status: 'warning' });
  expect(await disk(0.2, 10)).toMatchObject({ status: 'failed', advice: expect.stringContaining('set DATA_DIR') });
  expect(await checkDisk('DATA_DIR', '/no/such/folder')).toMatchObject({ status: 'warning' });
});

describe('backups', () => {
  const OTHER_TAG = '0123abcd';
  let tag: string;
  let folder: string;
  let path: string;
  const rules = () => ({ folder, intervalMs: 3_600_000, migrations: MIGRATIONS });
  const check = (now = Date.now) => checkBackups(database, { ...rules(), now });

  beforeAll(async () => {
    const times = { intervalMs: 0, leaseMs: 0, maxLeaseMs: 0 };
    tag = (await acquireLease(database, 'scheduled backup', { holder: randomUUID(), ...times }))?.tag ?? '';
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'groundswell-doctor-'));
    path = join(folder, scheduledName(tag, new Date()));
    return () => rm(folder, { recursive: true, force: true });
  });
  test('the newest backup passes a trial restore, which leaves no trace', async () => {
    await writeBackup(database, path, { groundswell: '1.2.3' });
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('passed a trial restore') });
    expect(await database.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'groundswell%'")).toEqual([]);
    expect(await database.query('SELECT count(*)::integer AS products FROM products')).toEqual([{ products: 20 }]);
  });

  test('a backup that is missing, old, from the future, damaged or not restorable is reported', async () => {
    expect(await check()).toMatchObject({ status: 'failed', message: expect.stringContaining('there are none') });
    await writeBackup(database, path, { groundswell: '1.2.3' });
    expect(await check(() => Date.now() + 3 * 3_600_000)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('is old'),
    });
    expect(await check(() => Date.now() - 3 * 3_600_000)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('is in the future'),
    });
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, 500));
    expect(await check()).toMatchObject({ status: 'failed', message: expect.stringContaining('truncated') });
    // The checksums of this backup are correct, but its columns do not match any table.
    const [header = '', ...rows] = gunzipSync(whole).toString().split('\n');
    const other = header.replace('"columns":["id"', '"columns":["no_such_column"');
    const sum = createHash('sha256').update(`${other}\n`).digest('hex');
    await writeFile(path, gzipSync([other, ...rows.slice(0, -2), `#{"end":true,"sha256":"${sum}"}\n`].join('\n')));
    expect(await check()).toMatchObject({ status: 'failed', message: expect.stringContaining('no_such_column') });
  });

  test('a database that fails during the trial restore is not reported as an error of the folder', async () => {
    await writeBackup(database, path, { groundswell: '1.2.3' });
    const broken = { ...database, transaction: () => Promise.reject(new CoreError('unavailable', 'Away.')) };
    expect(await checkBackups(broken, rules())).toMatchObject({
      status: 'failed',
      message: 'the trial restore failed: Away.',
      advice: 'Correct the error, then run `groundswell doctor` again.',
    });
  });

  test('if the role may not create schemas, a backup is only verified', async () => {
    await writeBackup(database, path, { groundswell: '1.2.3' });
    const transaction: TestDatabase['transaction'] = (work) =>
      database.transaction((sql) => sql.query('SET LOCAL ROLE pg_monitor').then(() => work(sql)));
    const message = expect.stringContaining('is complete (no trial restore: the role may not create schemas)');
    expect(await checkBackups({ ...database, transaction }, rules())).toMatchObject({ status: 'ok', message });
  });

  test('a newer backup of another database is ignored, unless no database is available', async () => {
    await writeFile(join(folder, scheduledName(OTHER_TAG, new Date('2100-01-01'))), '');
    expect(await check()).toMatchObject({ message: expect.stringContaining('there are none of this database in') });
    await writeBackup(database, path, { groundswell: '1.2.3' });
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining(path) });
    expect(await checkBackups(undefined, rules())).toMatchObject({ message: expect.stringContaining(OTHER_TAG) });
  });

  test('a database that cannot be read is not reported as a failed trial restore', async () => {
    const unavailable = new CoreError('unavailable', '', { cause: new Error('Away.') });
    const broken = { ...database, query: () => Promise.reject(unavailable) };
    expect(await checkBackups(broken, rules())).toMatchObject({ message: 'the database cannot be read: Away.' });
  });

  test('a missing backup folder is reported', async () => {
    await rm(folder, { recursive: true });
    expect(await check()).toMatchObject({
      status: 'failed',
      message: `${folder}: ENOENT`,
      advice: expect.stringContaining('BACKUP_DIR'),
    });
  });
});

test('doctor warns of an overdue result, of a secret that should have been deleted, and of another time zone', async () => {
  const rules = { now: new Date('2026-06-10T00:00:00Z'), timeZone: 'UTC', reviewHours: 24 };
  expect(await checkLeaderboards(database, rules)).toMatchObject({ status: 'ok' });
  await database.query(
    "INSERT INTO leaderboards (period, kind, time_zone, from_at, to_at) VALUES ('2026-06-09', 'day', 'Europe/Berlin', '2026-06-08T22:00:00Z', '2026-06-09T22:00:00Z')",
  );
  expect(await checkLeaderboards(database, rules)).toMatchObject({
    status: 'warning',
    message: 'some open periods use the time zone Europe/Berlin, but SITE_TIME_ZONE is UTC',
  });
  const later = { ...rules, now: new Date('2026-06-12T00:00:00Z') };
  expect(await checkLeaderboards(database, later)).toMatchObject({
    status: 'warning',
    message: 'overdue results: 1, for example 2026-06-09',
    advice: expect.stringContaining('While the site runs, it makes results final'),
  });
  await database.query("INSERT INTO tally_secrets (day, secret, created_at) VALUES ('2026-06-09', 'secret', now())");
  await database.query('UPDATE leaderboards SET final_at = now()');
  expect(await checkLeaderboards(database, later)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('secrets of finalized days are still stored (1)'),
  });
});
