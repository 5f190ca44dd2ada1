import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { listAudit, recordAudit, runAsUndo, systemUser } from './audit-log.ts';
import { sentenceOf } from './audit-sentence.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('the audit log lists entries with time, operator, action and target, newest first', async () => {
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
    operator: systemUser(),
  });
  expect(Date.parse(older?.createdAt ?? '')).toBeGreaterThanOrEqual(before - 1_000);
  expect(await listAudit(database, { limit: 1 })).toEqual([newest]);
});

test('entries of the same time are listed in the order in which they were added', async () => {
  const targets = Array.from({ length: 20 }, (_, index) => `${index}.csv`);
  await recordAudit(
    database,
    targets.map((target) => ({ action: 'import', target })),
  );
  await database.query("UPDATE audit_log SET created_at = '2100-01-01' WHERE target = ANY($1::text[])", [targets]);
  const entries = await listAudit(database, { limit: targets.length });
  expect(entries.map(({ target }) => target)).toEqual(targets.toReversed());
  await database.query('DELETE FROM audit_log WHERE target = ANY($1::text[])', [targets]);
});

test('an undo is listed after the entry that it undoes, even if the clock has moved back', async () => {
  const [id = ''] = await recordAudit(database, { action: 'comments hide', target: 'comment' });
  await database.query("UPDATE audit_log SET created_at = created_at + interval '1 minute' WHERE id = $1", [id]);
  await runAsUndo(id, () => recordAudit(database, { action: 'comments restore', target: 'comment' }));
  const entries = await listAudit(database, { target: 'comment', limit: 2 });
  expect(entries.map(({ action }) => action)).toEqual(['comments restore', 'comments hide']);
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

test('entries about launches show the launch time to the minute, in UTC', () => {
  const details = { launchAt: '2026-11-28T17:28:11.780Z' };
  for (const action of ['submissions approve', 'submissions schedule'] as const)
    expect(sentenceOf({ action, target: 'tide', details })).toMatch(/ (to launch at|for) 2026-11-28 17:28 UTC$/);
});

test('entries about imports format all numbers with thousands separators', () => {
  const target = 'products.csv';
  expect(sentenceOf({ action: 'import', target, details: { created: 1200, updated: 3400 } })).toBe(
    'imported products.csv: 1,200 created, 3,400 updated',
  );
  const undone = { removed: 1200, reverted: 3400, skipped: 1000 };
  expect(sentenceOf({ action: 'import undo', target, details: undone })).toMatch(
    /1,200 products removed, 3,400 reverted, 1,000 skipped/,
  );
});
