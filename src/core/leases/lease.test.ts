import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { DAY_MS } from '../runtime.ts';
import { acquireLease, lastRunAt, releaseLease, renewLease } from './lease.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query('DELETE FROM leases'));

const NAME = 'scheduled backup';
const acquire = (holder: string, { intervalMs = DAY_MS, leaseMs = 60_000 } = {}) =>
  acquireLease(database, NAME, { holder, intervalMs, leaseMs, maxLeaseMs: 60_000 });
const [me, other] = [randomUUID(), randomUUID()];

/** Simulates passing time by moving the stored times back, because the database's clock cannot be set. */
const pass = (ms: number) =>
  database.query(
    "UPDATE leases SET expires_at = expires_at - $1::bigint * interval '1 millisecond', last_run_at = last_run_at - $1::bigint * interval '1 millisecond'",
    [ms],
  );

test('exactly one of many simultaneous callers gets the lease', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => acquire(randomUUID())));
  expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test('an expired lease can be acquired by another process, and its first holder can no longer renew it', async () => {
  await acquire(me);
  expect(await acquire(other)).toBeUndefined();
  expect(await renewLease(database, NAME, me, 60_000)).toBe(true);
  await pass(60_001);
  expect(await acquire(other)).toBeDefined();
  expect(await renewLease(database, NAME, me, 60_000)).toBe(false);
  // The release by the first holder is ignored.
  await releaseLease(database, NAME, me, { ranAt: new Date() });
  expect(await lastRunAt(database, NAME)).toBeUndefined();
});

test('completed work is due again one interval after it began, for every process', async () => {
  const lease = await acquire(me);
  if (!lease) throw new Error('No lease');
  await releaseLease(database, NAME, me, { ranAt: lease.begunAt });
  expect(await lastRunAt(database, NAME)).toEqual(lease.begunAt);
  expect(await acquire(other)).toBeUndefined();
  await pass(DAY_MS - 60_000);
  expect(await acquire(other)).toBeUndefined();
  // A shorter interval applies at once.
  expect(await acquire(other, { intervalMs: DAY_MS / 2 })).toMatchObject({ tag: lease.tag });
});

test('failed work can be retried after a pause, and the last completed run stays recorded', async () => {
  const lease = await acquire(me);
  await releaseLease(database, NAME, me, { ranAt: lease?.begunAt ?? new Date(0) });
  await pass(DAY_MS);
  await acquire(me);
  await releaseLease(database, NAME, me, { pauseMs: 50_000 });
  expect(await acquire(other)).toBeUndefined();
  await pass(50_001);
  expect(await lastRunAt(database, NAME)).toBeDefined();
  expect(await acquire(other)).toBeDefined();
});

test.each([
  ['that is held', async () => {}],
  ['whose work is complete', async (begunAt: Date) => releaseLease(database, NAME, me, { ranAt: begunAt })],
])('a lease %s can be acquired after the database clock is set back by a year', async (_state, finish) => {
  const lease = await acquire(me);
  await finish(lease?.begunAt ?? new Date(0));
  expect(await acquire(other)).toBeUndefined();
  await pass(-365 * DAY_MS);
  expect(await acquire(other)).toBeDefined();
});
