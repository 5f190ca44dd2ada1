import { userInfo } from 'node:os';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listActs } from './list-acts.ts';
import { recordAct, recordActs } from './record-act.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('an act is known with its time, who did it and what was done, newest first', async () => {
  const before = Date.now();
  await recordAct(database, { act: 'import', subject: 'products.csv', details: { created: 2 } });
  await recordActs(database, [{ act: 'backup', subject: 'nightly "1"\n\u202e' }]);
  await recordActs(database, []);
  const [newest, older, ...others] = await listActs(database, { limit: 10 });
  expect(others).toEqual([]);
  expect(newest).toMatchObject({ act: 'backup', subject: 'nightly "1"\n\u202e', details: {} });
  expect(older).toMatchObject({
    act: 'import',
    subject: 'products.csv',
    details: { created: 2 },
    operator: userInfo().username,
  });
  expect(Date.parse(older?.actedAt ?? '')).toBeGreaterThanOrEqual(before - 1_000);
  expect(await listActs(database, { limit: 1 })).toEqual([newest]);
});

test('an act whose transaction fails was not done, and is not known', async () => {
  const count = (await listActs(database, { limit: 100 })).length;
  const failing = database.transaction(async (sql) => {
    await recordAct(sql, { act: 'restore', subject: 'site.backup' });
    throw new Error('the disk is full');
  });
  await expect(failing).rejects.toThrow('the disk is full');
  expect((await listActs(database, { limit: 100 })).length).toBe(count);
});
