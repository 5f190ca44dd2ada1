import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { endLease, keepLease, lastDoneAt, takeLease } from './lease.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query('DELETE FROM leases'));

const NAME = 'scheduled backup';
const DAY_MS = 86_400_000;
const take = (holder: string, { everyMs = DAY_MS, heldMs = 60_000 } = {}) =>
  takeLease(database, NAME, { holder, everyMs, heldMs });
const [me, other] = [randomUUID(), randomUUID()];

/** As if so much time had passed, since the times are the database's own. */
const pass = (ms: number) =>
  database.query(
    "UPDATE leases SET held_until = held_until - $1::bigint * interval '1 millisecond', done_at = done_at - $1::bigint * interval '1 millisecond'",
    [ms],
  );

test('of many that ask at once, one gets it', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => take(randomUUID())));
  expect(taken.filter((lease) => lease !== undefined)).toHaveLength(1);
});

test('it is free again when its holder was killed, and the first holder notices', async () => {
  await take(me);
  expect(await take(other)).toBeUndefined();
  expect(await keepLease(database, NAME, me, 60_000)).toBe(true);
  await pass(60_001);
  expect(await take(other)).toBeDefined();
  expect(await keepLease(database, NAME, me, 60_000)).toBe(false);
  // What the first one says of its work does not count any more.
  await endLease(database, NAME, me, { doneAt: new Date() });
  expect(await lastDoneAt(database, NAME)).toBeUndefined();
});

test('work that is done is due again after its interval, counted from its beginning, for whoever asks first', async () => {
  const lease = await take(me);
  if (!lease) throw new Error('No lease');
  await endLease(database, NAME, me, { doneAt: lease.begunAt });
  expect(await lastDoneAt(database, NAME)).toEqual(lease.begunAt);
  expect(await take(other)).toBeUndefined();
  await pass(DAY_MS - 10_000);
  expect(await take(other)).toBeUndefined();
  // An operator who wants it more often does not wait for the old interval.
  expect(await take(other, { everyMs: DAY_MS / 2 })).toMatchObject({ tag: lease.tag });
});

test('work that failed is tried again after a pause, and what was done before stays known', async () => {
  const lease = await take(me);
  await endLease(database, NAME, me, { doneAt: lease?.begunAt ?? new Date(0) });
  await pass(DAY_MS);
  await take(me);
  await endLease(database, NAME, me, { pauseMs: 5_000 });
  expect(await take(other)).toBeUndefined();
  await pass(5_001);
  expect(await lastDoneAt(database, NAME)).toBeDefined();
  expect(await take(other)).toBeDefined();
});
