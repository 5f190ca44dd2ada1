import { userInfo } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listAudit, recordAudit } from './audit-log.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the audit log lists time, operator, action and target, newest first', async () => {
  const before = Date.now();
  await recordAudit(database, { action: 'import', target: 'products.csv', details: { created: 2 } });
  await recordAudit(database, [{ action: 'backup', target: 'nightly "1"\n\u202e' }]);
  await recordAudit(database, []);
  const [newest, older, ...others] = await listAudit(database, { limit: 10 });
  expect(others).toEqual([]);
  expect(newest).toMatchObject({ action: 'backup', target: 'nightly "1"\n\u202e', details: {} });
  expect(older).toMatchObject({
    action: 'import',
    target: 'products.csv',
    details: { created: 2 },
    operator: userInfo().username,
  });
  expect(Date.parse(older?.createdAt ?? '')).toBeGreaterThanOrEqual(before - 1_000);
  expect(await listAudit(database, { limit: 1 })).toEqual([newest]);
});

test('a transaction that rolls back leaves no entry in the audit log', async () => {
  const count = (await listAudit(database, { limit: 100 })).length;
  const failing = database.transaction(async (sql) => {
    await recordAudit(sql, { action: 'restore', target: 'site.backup' });
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  expect((await listAudit(database, { limit: 100 })).length).toBe(count);
});
