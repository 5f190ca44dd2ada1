import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { scheduledName } from '../backups/backup-file.ts';
import { readOverview } from './read-overview.ts';

let database: TestDatabase;
let backupFolder: string;

beforeAll(async () => {
  database = await createTestDatabase();
  backupFolder = await mkdtemp(join(tmpdir(), 'groundswell-test-'));
});
afterAll(async () => {
  await rm(backupFolder, { recursive: true });
  await database.drop();
});

test('the overview can be read if the newest backup cannot', async () => {
  const rules = { now: new Date(), timeZone: 'UTC', reviewHours: 0 };
  const lastBackupAt = async () =>
    (await readOverview(database, { rules, backupFolder, activity: { days: [], hours: [] } })).lastBackupAt;
  await writeFile(join(backupFolder, scheduledName('3f9a1c2e', new Date('2026-11-20T22:18:34Z'))), '');
  expect(await lastBackupAt()).toEqual(expect.any(String));
  await symlink('missing', join(backupFolder, scheduledName('3f9a1c2e', new Date('2026-11-21T22:18:34Z'))));
  expect(await lastBackupAt()).toBeNull();
});
