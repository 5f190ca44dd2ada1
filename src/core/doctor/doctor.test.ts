import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, MIGRATIONS, type TestDatabase } from '../../../tests/support/test-database.ts';
import { scheduledName } from '../backups/backup-folder.ts';
import { writeBackup } from '../backups/write-backup.ts';
import { readMigrations } from '../database/migrate.ts';
import { saveProducts } from '../products/save-products.ts';
import { checkBackups } from './check-backups.ts';
import { checkSomeCounts } from './check-counts.ts';
import {
  checkClock,
  checkConnections,
  checkIndexes,
  checkMigrations,
  checkSearch,
  checkServer,
} from './check-database.ts';
import { checkDisk } from './check-disk.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    Array.from({ length: 20 }, (_, index) => buildProduct({ id: `p-${index}` })),
  );
});
afterAll(() => database.drop());

test('a server that answers is well, and named', async () => {
  expect(await checkServer(database, 'db.internal/site')).toMatchObject({
    check: 'database',
    message: expect.stringMatching(/^PostgreSQL \d+\.\d+.* at db\.internal\/site answers in [\d.]+ ms$/),
  });
});

test('a schema that is behind this program, or ahead of it, is a fault', async () => {
  const names = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
  expect(await checkMigrations(database, names)).toMatchObject({ status: 'ok' });
  expect(await checkMigrations(database, [...names, '9999_next.sql'])).toMatchObject({
    status: 'fault',
    message: '9999_next.sql not applied yet',
    advice: expect.stringContaining('groundswell migrate'),
  });
  expect(await checkMigrations(database, names.slice(0, -1))).toMatchObject({
    status: 'fault',
    message: expect.stringContaining('does not know'),
  });
  const empty = await createTestDatabase({ migrated: false });
  expect(await checkMigrations(empty, names)).toMatchObject({ status: 'fault' });
  await empty.drop();
});

test('a site that opens more connections than the server takes from its role is a warning', async () => {
  expect(await checkConnections(database, 12)).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^\d+ are open of \d+ \(max_connections\), and this site opens up to 12$/),
  });
  expect(await checkConnections(database, 1_000)).toMatchObject({
    status: 'warning',
    advice: expect.stringContaining('Raise max_connections'),
  });
  await database.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I CONNECTION LIMIT 5', current_database()); END $$`,
  );
  expect(await checkConnections(database, 12)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining(' of 5 (the database)'),
    advice: expect.stringContaining('Raise the limit of the database'),
  });
});

test('a clock that differs by seconds is a warning, by minutes a fault; the way of the answer is no difference', async () => {
  const apart = (ms: number) => checkClock(database, () => Date.now() + ms);
  expect(await apart(0)).toMatchObject({ status: 'ok' });
  expect(await apart(-30_000)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/ (29|30)\.\d s apart$/),
  });
  expect(await apart(3_600_000)).toMatchObject({ status: 'fault' });
  const [sent, received] = [Date.now() - 60_000, Date.now() + 60_000];
  const times = [sent, received];
  expect(await checkClock(database, () => times.shift() ?? 0)).toMatchObject({ status: 'ok' });
});

test('an index that was not finished is a fault, and a search without its index a warning', async () => {
  expect(await checkIndexes(database)).toMatchObject({ status: 'ok' });
  expect(await checkSearch(database)).toMatchObject({ status: 'ok', message: expect.stringContaining('pg_trgm') });
  await database.query("INSERT INTO products (id, name) VALUES ('twin-1', 'Twin'), ('twin-2', 'Twin')");
  // Fails on a name of four characters, and leaves what it began.
  await expect(
    database.query('CREATE INDEX CONCURRENTLY twins ON products ((1 / (length(name) - 4)))'),
  ).rejects.toThrow('division by zero');
  expect(await checkIndexes(database)).toMatchObject({
    status: 'fault',
    advice: expect.stringContaining('REINDEX INDEX twins'),
  });
  // What is left of it lies on the first of several servers alone.
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

test('a database of another encoding than UTF-8 is a fault, and a search that knows ASCII alone a warning', async () => {
  const [ascii, byteByByte] = await Promise.all([
    createTestDatabase({ locale: 'C' }),
    createTestDatabase({ migrated: false, locale: 'C', encoding: 'SQL_ASCII' }),
  ]);
  try {
    expect(await checkServer(ascii, 'here')).toMatchObject({ status: 'ok' });
    expect(await checkServer(byteByByte, 'here')).toMatchObject({
      status: 'fault',
      message: expect.stringContaining('its encoding is SQL_ASCII'),
    });
    expect(await checkSearch(ascii)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('letters of ASCII alone'),
    });
  } finally {
    await Promise.all([ascii.drop(), byteByByte.drop()]);
  }
});

test('a large table that is read from end to end again and again is a warning', async () => {
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
        message: 'products are read from end to end more often than by an index',
        advice: expect.stringContaining('ANALYZE products'),
      });
  } finally {
    await scanned.drop();
  }
});

test('wrong counts are found, in a stretch of a thousand products of many', async () => {
  expect(await checkSomeCounts(database)).toMatchObject({ status: 'ok', message: 'of 20 looked at, 0 are wrong' });
  await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'p-3'");
  expect(await checkSomeCounts(database)).toMatchObject({
    status: 'fault',
    message: 'of 20 looked at, 1 are wrong',
    advice: expect.stringContaining('counts check --repair'),
  });
  await database.query("UPDATE product_counts SET upvotes = 0 WHERE product_id = 'p-3'");
  await database.query("INSERT INTO products (id) SELECT 'q-' || i FROM generate_series(1000, 2199) AS i");
  // Without any counts: those of the stretch are wrong. It may begin at the first of 1,220, or 220 later.
  const wrongFrom = async (random: number) => (await checkSomeCounts(database, () => random)).message;
  expect(await wrongFrom(0)).toBe('of 1,000 looked at, 980 are wrong');
  expect(await wrongFrom(0.9999)).toBe('of 1,000 looked at, 1000 are wrong');
  await database.query("DELETE FROM products WHERE id LIKE 'q-%'");
});

test('a disk that is nearly full is a warning, then a fault; a folder that is not there is said', async () => {
  const disk = (free: number, all = 100) =>
    checkDisk('DATA_DIR', '/srv', async () => ({ free: free * 2 ** 30, all: all * 2 ** 30 }));
  expect(await disk(50)).toMatchObject({ status: 'ok', message: '50.0 GiB free of 100.0 GiB at /srv' });
  expect(await disk(4)).toMatchObject({ status: 'warning' });
  expect(await disk(0.9, 10)).toMatchObject({ status: 'warning' });
  expect(await disk(0.2, 10)).toMatchObject({ status: 'fault', advice: expect.stringContaining('set DATA_DIR') });
  expect(await checkDisk('DATA_DIR', '/no/such/folder')).toMatchObject({ status: 'warning' });
});

describe('backups', () => {
  let folder: string;
  let path: string;
  const check = (now = Date.now) => checkBackups(database, { folder, everyMs: 3_600_000, migrations: MIGRATIONS, now });

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'groundswell-doctor-'));
    path = join(folder, scheduledName('0123abcd', new Date()));
    return () => rm(folder, { recursive: true, force: true });
  });

  test('the newest is restored for trial, and nothing of the trial stays', async () => {
    await writeBackup(database, path, { groundswell: '1.2.3' });
    expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('was restored for trial') });
    expect(await database.query("SELECT nspname FROM pg_namespace WHERE nspname LIKE 'groundswell%'")).toEqual([]);
    expect(await database.query('SELECT count(*)::integer AS products FROM products')).toEqual([{ products: 20 }]);
  });

  test('none, an old one, a broken one, and one that no row of can be restored', async () => {
    expect(await check()).toMatchObject({ status: 'fault', message: expect.stringContaining('there is none') });
    await writeBackup(database, path, { groundswell: '1.2.3' });
    expect(await check(() => Date.now() + 3 * 3_600_000)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('is old'),
    });
    const whole = await readFile(path);
    await writeFile(path, whole.subarray(0, 500));
    expect(await check()).toMatchObject({ status: 'fault', message: expect.stringContaining('cut off') });
    // Whole by its checksums, and yet there is no place for it.
    const [header = '', ...rows] = gunzipSync(whole).toString().split('\n');
    const other = header.replace('"columns":["id"', '"columns":["no_such_column"');
    const sum = createHash('sha256').update(`${other}\n`).digest('hex');
    await writeFile(path, gzipSync([other, ...rows.slice(0, -2), `#{"end":true,"sha256":"${sum}"}\n`].join('\n')));
    expect(await check()).toMatchObject({ status: 'fault', message: expect.stringContaining('no_such_column') });
  });

  test('a folder that is not there', async () => {
    await rm(folder, { recursive: true });
    expect(await check()).toMatchObject({
      status: 'fault',
      message: `${folder}: ENOENT`,
      advice: expect.stringContaining('BACKUP_DIR'),
    });
  });
});
