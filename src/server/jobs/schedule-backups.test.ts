import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { newestBackup, scheduledName } from '../../core/backups/backup-file.ts';
import { verifyBackup } from '../../core/backups/read-backup.ts';
import type { Database } from '../../core/database/database.ts';
import type { MeasureDisk } from '../../core/file-system.ts';
import { pictureName, storePicture } from '../../core/pictures/picture-store.ts';
import { saveProducts } from '../../core/products/save-products.ts';
import { HOUR_MS } from '../../core/runtime.ts';
import { prepareBackupFolder, type ScheduledBackups, scheduleBackups } from './schedule-backups.ts';

let folder: string;
let database: TestDatabase;
let schedules: ScheduledBackups[];
const logs = () => createLogLines();

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-scheduled-'));
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  schedules = [];
});
afterEach(async () => {
  await Promise.all(schedules.map((schedule) => schedule.close()));
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

/** Longer than `expect.poll` waits, so a process that stops must release its lease. */
const LEASE_MS = 600_000;

function start(
  { log } = logs(),
  { intervalMs = HOUR_MS, maxBackups = 3, retryMs = 10, pictureFolder = join(folder, 'no-pictures') } = {},
  measure?: MeasureDisk,
): ScheduledBackups {
  const connection = {
    database,
    withoutStatementTimeout: <Result>(work: (own: Database) => Promise<Result>) => work(database),
  };
  const times = { pollMs: 10, leaseMs: LEASE_MS, retryMs };
  const settings = { folder, intervalMs, maxBackups, pictureFolder };
  const schedule = scheduleBackups(connection, settings, log, times, measure);
  schedules.push(schedule);
  return schedule;
}

/** Delays the rows that a backup reads until `release` is called. */
function holdRows() {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const withoutStatementTimeout = <Result>(work: (own: Database) => Promise<Result>) =>
    work(
      interruptTransactions(database, 'FETCH', () => {
        arrive();
        return released;
      }),
    );
  return { arrived, release, withoutStatementTimeout };
}

/** Simulates that the interval has passed. */
const becomeDue = () => database.query(`UPDATE leases SET last_run_at = last_run_at - interval '1 hour'`);

test('the first backup is made immediately and is complete, and its time is reported', async () => {
  const schedule = start();
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  const path = await newestBackup(folder);
  const header = await verifyBackup(path ?? 'none');
  expect(header.tables[0]).toMatchObject({ name: 'products', rows: 1 });
  expect(await readdir(folder)).toHaveLength(1);
});

test('if several processes share a database, one makes the backup, and all report its time', async () => {
  const all = [start(), start(), start()];
  for (const schedule of all) await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  expect(await readdir(folder)).toHaveLength(1);
});

test('old backups are deleted once the new one is complete, but only those of this database', async () => {
  const unrelated = ['notes.txt', 'site.backup', scheduledName('00000000', new Date(0)), 'groundswell-1.backup'];
  for (const name of unrelated) await writeFile(join(folder, name), '');
  const schedule = start(logs(), { maxBackups: 1 });
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  const [lease] = await database.query<{ tag: string }>('SELECT tag FROM leases');
  // The backup of 2099 simulates one that was written while the clock was wrong.
  const old = [2001, 2002, 2099].map((year) => scheduledName(lease?.tag ?? '', new Date(Date.UTC(year, 0, 1))));
  const killed = `${scheduledName(lease?.tag ?? '', new Date(0))}.${randomUUID()}.partial`;
  for (const name of [...old, killed]) await writeFile(join(folder, name), '');
  const first = schedule.lastSuccess();
  await becomeDue();
  await expect.poll(() => schedule.lastSuccess()?.getTime()).toBeGreaterThan(first?.getTime() ?? 0);
  const left = (await readdir(folder)).filter((name) => !unrelated.includes(name));
  // The first backup is not compared by name, because two backups within a second have the same name.
  expect(left).toEqual([expect.stringContaining(`-${lease?.tag}-`)]);
  expect([...old, killed]).not.toContain(left[0]);
  expect((await readdir(folder)).filter((name) => unrelated.includes(name)).sort()).toEqual(unrelated.sort());
});

test('a failed backup is logged, counted and retried, and no old backup is deleted', async () => {
  const lines = logs();
  const schedule = start(lines, { maxBackups: 1 });
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  const firstAt = schedule.lastSuccess()?.getTime() ?? 0;
  const first = await newestBackup(folder);
  // The table cannot be read, as in a damaged database.
  await database.query('ALTER TABLE upvotes RENAME TO gone');
  await becomeDue();
  await expect.poll(() => schedule.failures()).toBeGreaterThan(0);
  expect(lines.text()).toContain('Cannot write the scheduled backup');
  expect(await newestBackup(folder)).toBe(first);
  await database.query('ALTER TABLE gone RENAME TO upvotes');
  // `becomeDue` has moved the time of the last success back, so only a new backup is later than the first.
  await expect.poll(() => schedule.lastSuccess()?.getTime()).toBeGreaterThan(firstAt);
  expect(await readdir(folder)).toHaveLength(1);
});

const GIB = 2 ** 30;

test('a backup that would fill the disk is not begun, and is made once there is space', async () => {
  let disk = { free: 200 * GIB, all: 400 * GIB };
  const lines = logs();
  const schedule = start(lines, {}, async () => disk);
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  const firstAt = schedule.lastSuccess()?.getTime() ?? 0;
  const [lease] = await database.query<{ tag: string }>('SELECT tag FROM leases');
  await truncate((await newestBackup(folder)) ?? 'none', GIB);
  // Neither older backups nor those of other databases determine the expected size.
  const names = [scheduledName(lease?.tag ?? '', new Date(0)), scheduledName('00000000', new Date('2099-01-01'))];
  for (const name of names) {
    await writeFile(join(folder, name), '');
    await truncate(join(folder, name), 2 * GIB);
  }
  const before = await readdir(folder);
  disk = { free: 1.25 * GIB - 1, all: 400 * GIB };
  await becomeDue();
  await expect.poll(() => schedule.failures()).toBeGreaterThan(1);
  expect(lines.text()).toContain('The disk of BACKUP_DIR has too little free space for a backup (1279 MiB)');
  expect(await readdir(folder)).toEqual(before);
  disk = { free: 1.25 * GIB, all: 400 * GIB };
  await expect.poll(() => schedule.lastSuccess()?.getTime()).toBeGreaterThan(firstAt);
});

test('a backup that grows larger than expected is aborted before it uses the reserved space, and is not begun again without more free space', async () => {
  const lines = logs();
  const pictureFolder = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
  onTestFinished(() => rm(pictureFolder, { recursive: true }));
  const content = randomBytes(3 * 2 ** 20);
  await storePicture(pictureFolder, pictureName(content, 'webp'), content);
  const measure: MeasureDisk = async () => {
    const [partial] = await readdir(folder);
    const used = partial === undefined ? 0 : (await stat(join(folder, partial))).size;
    return { free: 256.5 * 2 ** 20 - used, all: 400 * GIB };
  };
  const schedule = start(lines, { pictureFolder }, measure);
  await expect.poll(() => schedule.failures()).toBeGreaterThan(2);
  const found = [...lines.text().matchAll(/"message":"[^"]*for a backup \((\d+) MiB\)/g)].map(([, free]) => free);
  expect(found.slice(0, 3)).toEqual(['255', '256', '256']);
  expect(await readdir(folder)).toEqual([]);
  expect(schedule.lastSuccess()).toBeUndefined();
});

test.each<[string, MeasureDisk]>([
  ['cannot be measured', () => Promise.reject(new Error('ENOSYS'))],
  ['reports no size', async () => ({ free: 0, all: 0 })],
  ['is small', async () => ({ free: 60 * 2 ** 20, all: 2 ** 30 })],
])('a backup is made on a disk that %s', async (_, measure) => {
  const schedule = start(logs(), {}, measure);
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  expect(schedule.failures()).toBe(0);
});

test('a stopping site aborts the current backup, and another process can make it immediately', async () => {
  const rows = holdRows();
  const connection = { database, withoutStatementTimeout: rows.withoutStatementTimeout };
  const times = { pollMs: 10, leaseMs: LEASE_MS, retryMs: 10 };
  const schedule = scheduleBackups(connection, { folder, intervalMs: HOUR_MS, maxBackups: 1 }, logs().log, times);
  await rows.arrived;
  expect(await readdir(folder)).toEqual([expect.stringMatching(/\.partial$/)]);
  const closed = schedule.close();
  // The rows arrive only after the stop.
  rows.release();
  await closed;
  expect(await readdir(folder)).toEqual([]);
  const next = start();
  await expect.poll(() => next.lastSuccess()).toBeInstanceOf(Date);
});

test('a process whose lease was taken over aborts its backup', async () => {
  const held = holdRows();
  let isRefused = false;
  const connection = {
    database: {
      ...database,
      async query<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> {
        const rows = await database.query<Row>(text, values);
        isRefused ||= text.startsWith('UPDATE leases SET expires_at') && rows.length === 0;
        return rows;
      },
    },
    withoutStatementTimeout: held.withoutStatementTimeout,
  };
  const lines = logs();
  const times = { pollMs: 10, leaseMs: 40, retryMs: HOUR_MS };
  const schedule = scheduleBackups(connection, { folder, intervalMs: HOUR_MS, maxBackups: 1 }, lines.log, times);
  schedules.push(schedule);
  await held.arrived;
  await database.query("UPDATE leases SET holder = gen_random_uuid(), expires_at = now() + interval '1 hour'");
  await expect.poll(() => isRefused).toBe(true);
  held.release();
  await expect.poll(() => schedule.failures()).toBe(1);
  expect(lines.text()).toContain('another process has taken over');
  expect(await readdir(folder)).toEqual([]);
});

test('if the check for a due backup fails, the failure is logged and the check is repeated', async () => {
  await database.query('ALTER TABLE leases RENAME TO leases_away');
  const lines = logs();
  const schedule = start(lines);
  await expect.poll(lines.text).toContain('Cannot check whether a backup is due');
  await database.query('ALTER TABLE leases_away RENAME TO leases');
  await expect.poll(() => schedule.lastSuccess()).toBeInstanceOf(Date);
  expect(schedule.failures()).toBe(0);
});

test('a missing backup folder is created; if that fails, the error is one line about BACKUP_DIR', async () => {
  const settings = { intervalMs: HOUR_MS, maxBackups: 1 };
  await prepareBackupFolder({ folder: join(folder, 'new', 'deep'), ...settings });
  expect(await readdir(join(folder, 'new'))).toEqual(['deep']);
  await writeFile(join(folder, 'file'), '');
  await mkdir(join(folder, 'other'));
  await expect(prepareBackupFolder({ folder: join(folder, 'file', 'below'), ...settings })).rejects.toThrow(
    /^BACKUP_DIR: cannot create, read or write .*below \(ENOTDIR\)/,
  );
  // In /proc, no folder can be created, as at the mount point of a disk that is not mounted.
  if (process.platform === 'linux') {
    await expect(prepareBackupFolder({ folder: '/proc/backups', ...settings })).rejects.toThrow(
      '/proc/backups (ENOENT)',
    );
  }
});
