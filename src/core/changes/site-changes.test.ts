import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { withClock } from '../../../tests/support/test-clock.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { writeProducts } from '../products/save-products.ts';
import { type Change, deleteOldChanges, OVERLAP_MS, SELECT_CHANGES } from './change-feed.ts';
import { type SiteChanges, subscribeToChanges } from './site-changes.ts';

let database: TestDatabase;
let opened: SiteChanges[] = [];
beforeEach(async () => {
  database = await createTestDatabase();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const changes of opened) await changes.close();
  opened = [];
  await database.drop();
});

/**
 * Starts a process and collects the changes that it observes. Its database is unreachable while `state.away` is set.
 * Calls `onRead` before it gets the changes that it has read.
 */
async function startProcess({ away = false, onRead = () => {} } = {}) {
  const state = { away, hasRefusedRead: false };
  const changes = subscribeToChanges(
    {
      ...database,
      async query(text, values) {
        if (state.away) {
          state.hasRefusedRead ||= text === SELECT_CHANGES;
          throw new CoreError('unavailable', 'The database is away');
        }
        const rows = await database.query(text, values);
        if (text === SELECT_CHANGES) onRead();
        return rows as never;
      },
    },
    silentLog,
  );
  opened.push(changes);
  const observed: Change[] = [];
  const onDisconnect = vi.fn();
  const onGap = vi.fn();
  changes.subscribe({ onChange: (change) => observed.push(change), onGap, onDisconnect });
  await changes.ready;
  return { state, changes, observed, disconnects: onDisconnect, onGap };
}

/**
 * Makes the database unreachable. Waits for a failed read, because a slow one is also reported, but may still succeed.
 */
async function disconnect({ state, disconnects }: Awaited<ReturnType<typeof startProcess>>): Promise<void> {
  state.away = true;
  await expect.poll(() => state.hasRefusedRead).toBe(true);
  await expect.poll(() => disconnects.mock.lastCall?.[0]).toEqual(expect.any(Number));
}

/** Stops the monotonic clock. @returns a function that advances it. */
function stopMonotonicClock(): (ms: number) => void {
  let nowMs = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  return (ms) => {
    nowMs += ms;
  };
}

/** Waits for the next read. */
async function observeNext(changes: SiteChanges): Promise<void> {
  const before = changes.observedUpTo() ?? Number.POSITIVE_INFINITY;
  await expect.poll(() => changes.observedUpTo()).toBeGreaterThan(before);
}

/** Inserts a change of a product, recorded this many seconds in the future, or in the past if negative. */
function insertChange(productId: string, seconds: number) {
  return database.query(
    `INSERT INTO changes (id, product_ids, catalogue, created_at)
     VALUES (gen_random_uuid(), ARRAY[$1::text], true, clock_timestamp() + $2::integer * interval '1 second')`,
    [productId, seconds],
  );
}

const COMMENT = '00000000-0000-4000-8000-000000000001';

test('a process observes its own writes immediately and only once, and other processes observe them, too', async () => {
  const [writer, reader] = [await startProcess(), await startProcess()];
  writer.changes.onWrite({ productIds: ['a'], commentIds: [COMMENT], catalogue: false });
  expect(writer.observed).toHaveLength(1);
  // A change that took long to publish is published a second time.
  await expect
    .poll(() => reader.observed[0])
    .toMatchObject({ productIds: ['a'], commentIds: [COMMENT], catalogue: false });
  expect(writer.observed).toHaveLength(1);
});

test('other processes, and those that start later, learn that a placed launch changed the catalogue', async () => {
  const [writer, reader] = [await startProcess(), await startProcess()];
  const before = reader.changes.observedUpTo() ?? Number.NaN;
  writer.changes.onWrite({ productIds: ['placed'], catalogue: true });
  await expect.poll(() => reader.observed[0]).toMatchObject({ productIds: ['placed'], catalogue: true });
  const restarted = await startProcess();
  expect(restarted.changes.since(before)).toEqual({ productIds: ['placed'], catalogue: true });
});

test("a process that lost its database connection catches up with others' writes and publishes its own", async () => {
  const [lost, other] = [await startProcess(), await startProcess()];
  await disconnect(lost);
  const observedUpTo = lost.changes.observedUpTo();
  for (const id of ['a', 'b', 'c']) {
    other.changes.onWrite({ productIds: [id], catalogue: false });
    await expect
      .poll(async () => (await database.query('SELECT 1 FROM changes WHERE $1 = ANY(product_ids)', [id])).length)
      .toBeGreaterThan(0);
  }
  lost.changes.onWrite({ productIds: ['own'], catalogue: false });
  expect(lost.changes.observedUpTo()).toBe(observedUpTo);
  lost.state.away = false;
  // A change that took long to publish is published a second time.
  const observed = () => [...new Set(lost.observed.flatMap(({ productIds }) => productIds))].sort();
  await expect.poll(observed).toEqual(['a', 'b', 'c', 'own']);
  await expect.poll(() => other.observed.flatMap(({ productIds }) => productIds)).toContain('own');
  await expect.poll(() => lost.disconnects.mock.lastCall).toEqual([undefined]);
  expect(lost.changes.observedUpTo()).toBeGreaterThan(observedUpTo ?? 0);
});

test('after an outage, the changes that resuming clients missed are unknown, because they may have read outdated data', async () => {
  const process = await startProcess();
  const { state, changes, disconnects } = process;
  const missed = () => changes.since(changes.observedUpTo() ?? 0);
  // If the first read was slow, the changes are known only seconds later.
  await expect.poll(missed).toEqual({ productIds: [], catalogue: false });
  await disconnect(process);
  state.away = false;
  await expect.poll(() => disconnects.mock.lastCall).toEqual([undefined]);
  expect(missed()).toBeUndefined();
});

test('a process whose first read failed reports a gap after the first successful read, because it may have served outdated data', async () => {
  const { state, changes, onGap } = await startProcess({ away: true });
  await insertChange('a', 0);
  state.away = false;
  await expect.poll(() => changes.observedUpTo()).toBeDefined();
  expect(onGap).toHaveBeenCalledTimes(1);
  expect(changes.since((changes.observedUpTo() ?? Number.NaN) - 60_000)).toBeUndefined();
});

test('a change whose transaction commits several seconds after recording it is observed exactly once', async () => {
  const { changes, observed } = await startProcess();
  const advance = stopMonotonicClock();
  await insertChange('slow', -5);
  advance(5_000);
  await expect.poll(() => observed).toMatchObject([{ productIds: ['slow'], catalogue: true }]);
  advance(5_000);
  await observeNext(changes);
  await observeNext(changes);
  expect(observed).toHaveLength(1);
});

test('every process announces a launch on time without a write', async () => {
  const processes = [await startProcessWithClock(), await startProcessWithClock()];
  const announcedAt: number[] = [];
  /** The times from which the launch counts for caches. */
  const countedFrom: number[] = [];
  for (const { changes } of processes)
    changes.subscribe({
      onChange({ ageMs = 0 }) {
        const now = changes.now().getTime();
        announcedAt.push(now);
        countedFrom.push(now - ageMs);
      },
      onGap() {},
    });
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  await writeProducts(database, [buildProduct({ id: 'scheduled', createdAt })]);
  for (const { clock, observed, changes } of processes) {
    clock.offsetMs = 3_540_000;
    await expect.poll(() => changes.observedUpTo()).toBeGreaterThan(Date.parse(createdAt) - 90_000);
    clock.offsetMs = 3_600_000;
    await expect.poll(() => observed).toMatchObject([{ productIds: ['scheduled'], catalogue: true }]);
  }
  expect(Math.min(...announcedAt)).toBeGreaterThanOrEqual(Date.parse(createdAt));
  expect(Math.max(...countedFrom)).toBeLessThanOrEqual(Date.parse(createdAt));
});

test('more launches than can be listed are announced as a gap and as a change to the catalogue', async () => {
  const { clock, observed, onGap } = await startProcessWithClock();
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  const products = Array.from({ length: 1_001 }, (_, index) => buildProduct({ id: `launch-${index}`, createdAt }));
  await writeProducts(database, products);
  clock.offsetMs = 3_600_000;
  await expect
    .poll(() => observed)
    .toEqual([{ productIds: [], catalogue: true, ageMs: expect.toSatisfy((age) => age > 0) }]);
  expect(onGap).toHaveBeenCalledTimes(1);
});

test('closing waits for a running read of launches', async () => {
  let isReading = false;
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const changes = subscribeToChanges(
    {
      ...database,
      async query(text, values, options) {
        if (text.includes('FROM products')) {
          isReading = true;
          await released;
        }
        return database.query(text, values, options);
      },
    },
    silentLog,
  );
  await expect.poll(() => isReading).toBe(true);
  let isClosed = false;
  const closed = changes.close().then(() => {
    isClosed = true;
  });
  // Without the wait, the process would close before another one that starts and closes in the meantime.
  const other = await startProcess();
  await other.changes.close();
  expect(isClosed).toBe(false);
  release();
  await closed;
});

/** Starts a process with a database whose clock the test can move. */
async function startProcessWithClock() {
  const clock = { offsetMs: 0 };
  const changes = subscribeToChanges(withClock(database, clock), silentLog);
  opened.push(changes);
  const observed: Change[] = [];
  const onGap = vi.fn();
  changes.subscribe({ onChange: (change) => observed.push(change), onGap });
  await changes.ready;
  return { clock, changes, observed, onGap };
}

test("the site's clock follows the database's, and pauses when the database's clock is set back slightly, which is reported as a gap", async () => {
  const { clock, changes, onGap } = await startProcessWithClock();
  const start = changes.now().getTime();
  clock.offsetMs = 40_000;
  await expect.poll(() => changes.now().getTime() - start).toBeGreaterThan(35_000);
  const ahead = changes.now().getTime();
  clock.offsetMs = 0;
  await expect.poll(() => changes.observedUpTo()).toBeLessThan(ahead - 20_000);
  expect(changes.now().getTime()).toBeGreaterThanOrEqual(ahead);
  expect(changes.since(ahead)).toBeUndefined();
  expect(onGap).toHaveBeenCalledTimes(1);
});

test("a failover to a server whose clock is behind is reported as a gap, even after an outage as long as the clocks' difference", async () => {
  const advance = stopMonotonicClock();
  let blockedMs = 0;
  const process = await startProcess({ onRead: () => advance(blockedMs) });
  const { state, changes, onGap } = process;
  await observeNext(changes);
  // The process is blocked during each read, so it gets the time of the database late.
  blockedMs = 2 * OVERLAP_MS;
  await observeNext(changes);
  blockedMs = 0;
  await observeNext(changes);
  expect(onGap).not.toHaveBeenCalled();

  await disconnect(process);
  // Time passes only for this process, so afterwards the database's clock is behind by the duration of the outage.
  advance(50_000);
  state.away = false;
  await expect.poll(() => onGap.mock.calls.length).toBe(1);
  await observeNext(changes);
  expect(onGap).toHaveBeenCalledTimes(1);
});

test('if the clock jumps ahead, the launches that it passes are announced; once it is set back, all cached data is stale and the products launch again', async () => {
  const { clock, changes, observed, onGap } = await startProcessWithClock();
  await writeProducts(database, [
    buildProduct({ id: 'jump', createdAt: new Date(Date.now() + 3_600_000).toISOString() }),
  ]);
  const launches = () => observed.filter(({ productIds }) => productIds.includes('jump')).length;
  clock.offsetMs = 7_200_000;
  await expect.poll(launches).toBe(1);
  clock.offsetMs = 0;
  await expect.poll(() => changes.now().getTime()).toBeLessThan(Date.now() + 600_000);
  expect(onGap).toHaveBeenCalledTimes(1);
  clock.offsetMs = 7_200_000;
  await expect.poll(launches).toBe(2);
});

test('changes that were recorded more than ten minutes ago, or more than ten minutes in the future, are deleted', async () => {
  const minutes = { old: -11, recent: -9, ahead: 9, future: 11 };
  for (const [id, offset] of Object.entries(minutes)) await insertChange(id, offset * 60);
  await deleteOldChanges(database);
  const remaining = await database.query('SELECT product_ids[1] AS id FROM changes ORDER BY created_at');
  expect(remaining).toEqual([{ id: 'recent' }, { id: 'ahead' }]);
});
