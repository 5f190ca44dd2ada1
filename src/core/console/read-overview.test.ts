import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { rowsReadFrom } from '../../../tests/support/query-plan.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { scheduledName } from '../backups/backup-file.ts';
import type { Database } from '../database/database.ts';
import { acquireLease } from '../leases/lease.ts';
import { saveProducts } from '../products/save-products.ts';
import { saveUpvoteBursts } from '../stats/upvote-bursts.ts';
import { readOverview } from './read-overview.ts';

let database: TestDatabase;
let backupFolder: string;
let tag: string;

beforeAll(async () => {
  database = await createTestDatabase();
  const times = { intervalMs: 0, leaseMs: 0, maxLeaseMs: 0 };
  tag = (await acquireLease(database, 'scheduled backup', { holder: randomUUID(), ...times }))?.tag ?? '';
  backupFolder = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
});
afterAll(async () => {
  await rm(backupFolder, { recursive: true });
  await database.drop();
});

const read = (options: { backupFolder?: string }, on: Database = database) =>
  readOverview(on, {
    rules: { now: new Date(), timeZone: 'UTC', reviewHours: 0 },
    activity: { days: [], hours: [] },
    ...options,
  });

test('before the first backup, the overview shows whether backups are scheduled', async () => {
  expect(await read({ backupFolder })).toMatchObject({ lastBackupAt: null, backupsScheduled: true });
  expect(await read({})).toMatchObject({ lastBackupAt: null, backupsScheduled: false });
});

test('a backup of another database in the same folder is not the last backup', async () => {
  await writeFile(join(backupFolder, scheduledName('0123abcd', new Date('2026-11-19T22:18:34Z'))), '');
  expect((await read({ backupFolder })).lastBackupAt).toBeNull();
});

test('the last backup has the time of its snapshot, even if its file was copied later', async () => {
  await writeFile(join(backupFolder, scheduledName(tag, new Date('2026-11-18T22:18:34Z'))), '');
  expect((await read({ backupFolder })).lastBackupAt).toBe('2026-11-18T22:18:34.000Z');
});

test('the overview can be read even if the newest backup cannot be read', async () => {
  const lastBackupAt = async () => (await read({ backupFolder })).lastBackupAt;
  await writeFile(join(backupFolder, scheduledName(tag, new Date('2026-11-20T22:18:34Z'))), '');
  expect(await lastBackupAt()).toEqual(expect.any(String));
  await symlink('missing', join(backupFolder, scheduledName(tag, new Date('2026-11-21T22:18:34Z'))));
  expect(await lastBackupAt()).toBeNull();
});

test('only bursts of the last week are counted, because only these are listed', async () => {
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  const burst = (daysAgo: number) => ({
    hour: new Date(Date.now() - daysAgo * 86_400_000).toISOString(),
    productId: 'tide',
    network: 'AAAAAAAA',
    sessions: 20,
  });
  await saveUpvoteBursts(database, [burst(6), burst(8)]);
  expect((await read({})).waiting.bursts).toBe(1);
});

test('the number of products is never below the number of counted rows, even before the planner has an estimate', async () => {
  await database.query(`INSERT INTO products (id) SELECT 'many-' || n FROM generate_series(1, 10001) AS n`);
  expect((await read({})).database.products).toBeGreaterThan(10_000);
});

test('without a backup in the audit log, the overview does not read the whole log', async () => {
  await database.query(
    `INSERT INTO audit_log (id, created_at, operator, action, target, details)
     SELECT gen_random_uuid(), now(), 'ada', 'comments hide', 'comment ' || n, '{}' FROM generate_series(1, 2000) AS n`,
  );
  await database.query('ANALYZE audit_log');
  const { database: recording, statements } = recordStatements(database);
  await read({}, recording);
  const ofLog = statements.filter(({ text }) => text.includes("action = 'backup'"));
  expect(ofLog).toHaveLength(1);
  for (const statement of ofLog) expect(await rowsReadFrom(database, 'audit_log', statement)).toBe(0);
});
