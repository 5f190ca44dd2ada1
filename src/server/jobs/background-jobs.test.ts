import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { limitStatements, recordStatements } from '../../../tests/support/recording-database.ts';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { repairCounts } from '../../core/counts/check-counts.ts';
import type { Database } from '../../core/database/database.ts';
import { checkSubmissions } from '../../core/doctor/run-database-checks.ts';
import { pictureAddress, pictureName, storePicture } from '../../core/pictures/picture-store.ts';
import { saveProducts } from '../../core/products/save-products.ts';
import { DAY_MS } from '../../core/runtime.ts';
import { readStats } from '../../core/stats/read-stats.ts';
import { saveUpvoteBursts } from '../../core/stats/upvote-bursts.ts';
import { addDriftMetrics, addSubmissionMetrics } from '../metrics/collected-metrics.ts';
import { createSiteMetrics } from '../metrics/site-metrics.ts';
import { deleteOldData, startHousekeeping, watchDrift, watchSubmissions } from './background-jobs.ts';

const harness = openSubmissionHarness();
const { site, clock } = harness;
const connectionOf = (database: Database, unlimited = database): Parameters<typeof deleteOldData>[0] => ({
  database,
  withoutStatementTimeout: (work) => work(unlimited),
});
const warnings: unknown[] = [];
const log = { info() {}, error() {}, warn: (details: unknown) => warnings.push(details) };

test('metrics, doctor and stats count waiting submissions, and housekeeping deletes closed ones', async () => {
  const check = (isOn = true) => checkSubmissions(site.database, { isOn, now: clock.now() });
  expect(await check(false)).toMatchObject({ status: 'ok', message: 'off' });
  await harness.submit({ name: 'One' });
  await harness.submit({ name: 'Bot', website: 'x' });
  const closed = await harness.submit({ name: 'Closed' });
  await site.submissions.withdraw(closed);
  const watch = watchSubmissions(site.database, log);
  onTestFinished(watch.close);
  const metrics = createSiteMetrics();
  addSubmissionMetrics(metrics.registers, watch);
  await expect.poll(metrics.text).toContain('groundswell_submissions_waiting{kind="spam"} 1');
  const text = await metrics.text();
  expect(text).toContain('groundswell_submissions_waiting{kind="other"} 1');
  expect(text).toContain(`groundswell_submissions_oldest_timestamp_seconds ${clock.now().getTime() / 1_000}`);
  expect(await check()).toMatchObject({ status: 'ok', message: expect.stringContaining('2 waiting') });
  expect(await check(false)).toMatchObject({ status: 'warning', message: expect.stringContaining('is off') });
  expect((await readStats(site.database, { days: 1, now: clock.now() })).submissions).toEqual({
    received: 3,
    waiting: 2,
    approved: 0,
    declined: 0,
    withdrawn: 1,
  });
  clock.advance({ hours: 31 * 24 });
  expect(await check()).toMatchObject({ status: 'warning', message: expect.stringContaining('for 31 days') });
  const pictures = join(tmpdir(), 'no-pictures');
  const storedIds = () => site.database.query('SELECT id FROM submissions WHERE id = $1', [closed.id]);
  await deleteOldData(connectionOf(site.database), pictures, log, {
    now: new Date(clock.now().getTime() - 30 * DAY_MS),
  });
  expect(await storedIds()).toHaveLength(1);
  await deleteOldData(connectionOf(site.database), pictures, log, { now: clock.now() });
  expect(await storedIds()).toEqual([]);
  expect(warnings).toEqual([]);
});

test('housekeeping first runs after its own short delay, not after an hour', async () => {
  await site.database.query(`INSERT INTO comment_idempotency_keys
    (user_session, idempotency_key, product_id, comment_id, created_at)
    VALUES ('session', 'key', 'tide', gen_random_uuid(), '2020-01-01')`);
  const housekeeping = startHousekeeping(connectionOf(site.database), join(tmpdir(), 'no-pictures'), log, 1);
  await expect.poll(() => site.database.query('SELECT created_at FROM comment_idempotency_keys')).toEqual([]);
  await housekeeping.close();
  expect(warnings).toEqual([]);
});

test('housekeeping deletes nothing too early if the clock of its machine is ahead', async () => {
  await site.database.query(`INSERT INTO comment_idempotency_keys
    (user_session, idempotency_key, product_id, comment_id, created_at)
    VALUES ('session', 'recent', 'tide', gen_random_uuid(), clock_timestamp())`);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31 * DAY_MS });
  onTestFinished(() => void vi.useRealTimers());
  await deleteOldData(connectionOf(site.database), join(tmpdir(), 'no-pictures'), log);
  const keys = await site.database.query(
    "SELECT idempotency_key FROM comment_idempotency_keys WHERE product_id = 'tide'",
  );
  expect(keys).toEqual([{ idempotency_key: 'recent' }]);
});

test('housekeeping deletes bursts of upvotes after a week', async () => {
  const burst = (daysAgo: number) => ({
    hour: new Date(clock.now().getTime() - daysAgo * DAY_MS).toISOString(),
    productId: 'tide',
    network: `${daysAgo} days`,
    sessions: 20,
  });
  await saveUpvoteBursts(site.database, [burst(6), burst(8)]);
  await deleteOldData(connectionOf(site.database), join(tmpdir(), 'no-pictures'), log, { now: clock.now() });
  expect(await site.database.query('SELECT network FROM upvote_bursts')).toEqual([{ network: '6 days' }]);
});

test('housekeeping deletes unreferenced pictures even if finding the references takes longer than the statement timeout', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-pictures-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [used, unused] = ['used', 'unused'].map((content) => pictureName(Buffer.from(content), 'webp'));
  for (const name of [used, unused]) {
    await storePicture(folder, name ?? '', Buffer.from('picture'));
    await utimes(join(folder, name ?? ''), new Date(0), new Date(0));
  }
  await saveProducts(site.database, [buildProduct({ image: pictureAddress(used ?? '') })]);
  const { limited, unlimited, sent } = limitStatements(site.database, '/images/');
  await deleteOldData(connectionOf(limited, unlimited), folder, log);
  expect(await readdir(folder)).toEqual([used]);
  expect(sent()).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

test('housekeeping deletes old changes of imports even if finding them takes longer than the statement timeout', async () => {
  await site.database.query(
    `INSERT INTO import_changes (import_id, product_id, version, created_at)
    SELECT gen_random_uuid(), 'tide', days::text, $1::timestamptz - days * interval '1 day'
    FROM unnest(ARRAY[29, 31]) AS days`,
    [clock.now().toISOString()],
  );
  const { limited, unlimited, sent } = limitStatements(site.database, 'import_changes');
  const pictures = join(tmpdir(), 'no-pictures');
  await deleteOldData(connectionOf(limited, unlimited), pictures, log, { now: clock.now() });
  expect(await site.database.query('SELECT version FROM import_changes')).toEqual([{ version: '29' }]);
  expect(sent()).toBeGreaterThan(0);
  expect(warnings).toEqual([]);
});

test('when the site stops, housekeeping ends after its current part', async () => {
  let free = () => {};
  const isFree = new Promise<void>((resolve) => {
    free = resolve;
  });
  const statements: string[] = [];
  const slow = {
    ...site.database,
    async query(text: string) {
      statements.push(text);
      await isFree;
      return [];
    },
  };
  const housekeeping = startHousekeeping(connectionOf(slow), join(tmpdir(), 'no-pictures'), log, 1);
  await expect.poll(() => statements).toHaveLength(1);
  const closed = housekeeping.close();
  free();
  await closed;
  // The part reads the time before it deletes.
  expect(statements).toHaveLength(2);
});

test('if waiting submissions cannot be counted, the failure is logged and the last counts remain', async () => {
  await harness.submit({ name: 'Waiting' });
  let isReachable = true;
  const unreliable: Database = {
    ...site.database,
    query: (text, ...rest) =>
      isReachable ? site.database.query(text, ...rest) : Promise.reject(new Error('The database is unreachable')),
  };
  const warn = vi.fn();
  const watch = watchSubmissions(unreliable, { ...log, warn }, 5);
  onTestFinished(watch.close);
  await expect.poll(() => watch.waiting().waiting).toBeGreaterThan(0);
  const last = watch.waiting();
  isReachable = false;
  await expect.poll(() => warn.mock.calls.length).toBeGreaterThan(1);
  expect(watch.waiting()).toEqual(last);
});

describe('checking counts', () => {
  let database: TestDatabase;
  afterEach(() => database.drop());

  test('drift is exported until it is repaired, and each product is logged once, even if another one is corrected', async () => {
    database = await createTestDatabase();
    await saveProducts(database, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
    await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'tide'");
    const { log, lines, text } = createLogLines();
    const recorded = recordStatements(database);
    const watch = watchDrift(recorded.database, log, 5);
    const metrics = createSiteMetrics();
    addDriftMetrics(metrics.registers, watch);
    await expect.poll(metrics.text).toContain('groundswell_count_drift 1\n');
    await expect.poll(text).toContain('"productId":"tide"');
    expect(text()).toContain('counts check --repair');
    const { length } = recorded.statements;
    await expect.poll(() => recorded.statements.length).toBeGreaterThan(length + 5);
    await database.query("UPDATE product_counts SET upvotes = CASE product_id WHEN 'ebb' THEN 9 ELSE 0 END");
    await expect.poll(text).toContain('"productId":"ebb"');
    await repairCounts(database, ['ebb']);
    await expect.poll(metrics.text).toContain('groundswell_count_drift 0\n');
    watch.close();
    expect(lines()).toHaveLength(2);
  });

  test('a check of the counts that fails is repeated, and logged once per outage', async () => {
    database = await createTestDatabase();
    const recorded = recordStatements(database);
    await saveProducts(database, [buildProduct({ id: 'tide' })]);
    await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'tide'");
    await database.query('ALTER TABLE product_counts RENAME TO counts_away');
    const { log, lines, text } = createLogLines();
    const watch = watchDrift(recorded.database, log, 5);
    await expect.poll(() => recorded.statements.length).toBeGreaterThan(3);
    expect(text()).toContain('Cannot check counts');
    expect(lines()).toHaveLength(1);
    expect(watch.drift()).toBe(0);
    await database.query('ALTER TABLE counts_away RENAME TO product_counts');
    await expect.poll(() => watch.drift()).toBe(1);
    await database.query('ALTER TABLE product_counts RENAME TO counts_away');
    const failures = () => lines().filter(({ msg }) => msg === 'Cannot check counts; trying again');
    await expect.poll(failures).toHaveLength(2);
    watch.close();
  });
});
