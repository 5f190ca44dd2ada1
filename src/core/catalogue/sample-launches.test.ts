import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { CAP, differencesOf, launch, rulesAt } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { dayAt, periodsAt } from '../leaderboards/calendar.ts';
import { finalizeDue } from '../leaderboards/finalize.ts';
import { getLeaderboard } from '../leaderboards/get-leaderboard.ts';
import { placeLaunches } from '../leaderboards/update-boards.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { listEvents, recordEvents } from '../webhooks/outbox.ts';
import { getSampleTime, loadSample } from './load-sample.ts';
import { removeSample } from './remove-sample.ts';
import { readSampleCatalogue, type SampleCatalogue } from './sample-catalogue.ts';

const FOLDER = join(import.meta.dirname, '../../../catalogue');

let catalogue: SampleCatalogue;
let database: TestDatabase;

beforeAll(async () => {
  catalogue = await readSampleCatalogue(FOLDER);
});

beforeEach(async () => {
  database = await createTestDatabase();
});

afterEach(() => database.drop());

const load = () => loadSample(database, catalogue, systemRuntime);
const remove = (options = { engagementOnly: false }) => removeSample(database, catalogue, options);

describe('the launches of the sample', () => {
  const placeAll = (now: Date, timeZone: string) => placeLaunches(database, { now, timeZone, reviewHours: 24 });
  const readDay = (day: string, now: Date) =>
    getLeaderboard(database, day, { limit: 100 }, { now, timeZone: 'UTC', reviewHours: 24 });

  test('at any time of the day, all launches, votes and comments are in the past; after the first minute of a day, the day has launches', async () => {
    const times = ['2027-03-28T00:01:00Z', '2027-03-28T00:59:59.999Z', '2027-03-28T12:00:00Z', '2027-10-31T22:59:59Z'];
    for (const now of times) {
      for (const timeZone of ['UTC', 'Europe/Berlin', 'America/Los_Angeles', 'Pacific/Apia']) {
        const { products, comments, upvotes } = await readSampleCatalogue(FOLDER, { now, timeZone });
        const launchedAt = new Map(products.map(({ id, createdAt }) => [id, createdAt]));
        for (const { createdAt } of products) expect(Date.parse(createdAt)).toBeLessThan(Date.parse(now));
        for (const { productId, createdAt } of [...comments, ...upvotes]) {
          expect(Date.parse(createdAt)).toBeLessThanOrEqual(Date.parse(now));
          expect(createdAt >= (launchedAt.get(productId) ?? '9'), `${productId} at ${createdAt}`).toBe(true);
        }
        expect(new Set(products.map(({ createdAt }) => createdAt)).size).toBe(products.length);
        const today = dayAt(new Date(now), timeZone);
        expect(products.filter(({ createdAt }) => dayAt(new Date(createdAt), timeZone) === today).length).toBe(5);
      }
    }
    const midnight = await readSampleCatalogue(FOLDER, { now: '2027-03-28T00:00:00.000Z', timeZone: 'UTC' });
    expect(midnight.products[0]?.createdAt).toContain('2027-03-27T');
  });

  test('the sample launches make an open board with different counts and a tie, and a final board with excluded votes', async () => {
    const now = new Date('2026-11-22T10:00:00Z');
    const sample = await readSampleCatalogue(FOLDER, { now: now.toISOString(), timeZone: 'UTC' });
    await loadSample(database, sample, systemRuntime);
    await placeAll(now, 'UTC');

    const open = await readDay('2026-11-22', now);
    expect(open?.items.map(({ rank, tied, votes }) => ({ rank, tied, votes }))).toEqual([
      { rank: 1, tied: false, votes: 9 },
      { rank: 2, tied: false, votes: 8 },
      { rank: 3, tied: true, votes: 6 },
      { rank: 3, tied: true, votes: 6 },
      { rank: 5, tied: false, votes: 4 },
    ]);
    const over = await readDay('2026-11-19', now);
    expect(over?.finalAt).toBe('2026-11-22T00:00:00.000Z');
    expect(over?.items.slice(0, 2)).toMatchObject([
      { productId: 'react', votes: 22, excluded: 0, upvotes: 24 },
      { productId: 'redis', votes: 20, excluded: 6, upvotes: 27 },
    ]);
  });

  test('sample launches and their results are not reported to webhooks; later launches and their results are', async () => {
    const launchedAt = '2026-11-22T12:00:00.000Z';
    const sample = await readSampleCatalogue(FOLDER, { now: '2026-11-22T10:00:00.000Z', timeZone: 'UTC' });
    await loadSample(database, sample, systemRuntime);
    const finalize = (now: string) =>
      finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: CAP, recordEvents });
    expect((await finalize('2026-11-22T10:00:01Z')).days).not.toEqual([]);
    expect(await listEvents(database, { limit: 100 })).toEqual([]);

    await saveProducts(database, [buildProduct({ id: 'real', createdAt: launchedAt })]);
    await finalize(launchedAt);
    expect((await finalize('2026-12-04T00:00:00Z')).days).toContain('2026-11-21');
    const events = await database.query<{ body: string }>('SELECT body FROM webhook_events');
    const reported = events
      .map(({ body }) => JSON.parse(body).data)
      .map(({ productId, period }) => productId ?? period);
    expect(reported.sort()).toEqual(['2026-11', '2026-11-22', '2026-W47', 'real']);
  });

  test('removing the sample leaves no launches, neither in the table nor in the histograms of leaderboards', async () => {
    await load();
    await placeAll(new Date(), 'UTC');
    await remove();
    expect(await database.query('SELECT FROM leaderboard_counts WHERE products <> 0')).toEqual([]);
    expect(await database.query('SELECT FROM launches')).toEqual([]);
  });

  test('removing the sample deletes final results without launches, but keeps results of products that can be restored', async () => {
    const periods = ['2021-05-05', '2021-W18', '2021-05', '2021'];
    const end = '2022-02-01T00:00:00Z';
    const finalize = () => finalizeDue(database, { rules: rulesAt(end), votesPerNetwork: CAP });
    const readBoards = () =>
      Promise.all(
        periods.map(async (name) => {
          const { status, items } = (await getLeaderboard(database, name, {}, rulesAt(end))) ?? {};
          return { status, items, differences: await differencesOf(database, name) };
        }),
      );
    await launch(database, 'lonely', '2021-05-05T10:00:00.000Z');
    await finalize();
    const before = await readBoards();
    expect(before).toMatchObject(periods.map(() => ({ status: 'final', items: [{ productId: 'lonely' }] })));
    const sample = await readSampleCatalogue(FOLDER, { now: '2021-12-20T10:00:00Z', timeZone: 'UTC' });
    await loadSample(database, sample, systemRuntime);
    expect((await finalize()).days).not.toEqual([]);

    await removeProducts(database, ['lonely']);
    await removeSample(database, sample, { engagementOnly: false });
    const rows = await database.query<{ period: string }>(
      'SELECT period FROM leaderboards ORDER BY from_at DESC, to_at',
    );
    expect(rows.map(({ period }) => period)).toEqual(periods);
    await restoreProducts(database, { productIds: ['lonely'] });
    expect(await readBoards()).toEqual(before);
  });

  test('after the sample is removed, the days after its launches have no results', async () => {
    const sample = await readSampleCatalogue(FOLDER, { now: '2021-12-20T10:00:00Z', timeZone: 'UTC' });
    await loadSample(database, sample, systemRuntime);
    const finalizeAt = (now: string) => finalizeDue(database, { rules: rulesAt(now), votesPerNetwork: CAP });
    expect((await finalizeAt('2021-12-20T12:00:00Z')).days).toContain('2021-12-17');
    await removeSample(database, sample, { engagementOnly: false });
    // The newest days had no final results yet.
    expect((await finalizeAt('2022-02-01T00:00:00Z')).days).toContain('2021-12-20');
    expect(await readDay('2021-12-17', new Date('2022-02-01T00:00:00Z'))).toBeNull();
    expect(await readDay('2022-01-10', new Date('2022-02-01T00:00:00Z'))).toBeNull();
  });

  test('a launch that is added to the day of a final sample result while the sample is removed has a leaderboard', async () => {
    const rules = rulesAt('2022-02-01T00:00:00Z');
    const sample = await readSampleCatalogue(FOLDER, { now: '2021-12-20T10:00:00Z', timeZone: 'UTC' });
    await loadSample(database, sample, systemRuntime);
    await finalizeDue(database, { rules, votesPerNetwork: CAP });
    const createdAt = '2021-12-19T12:00:00.000Z';
    const places = periodsAt(new Date(createdAt), 'UTC');
    expect(await readDay(places.day, rules.now)).toMatchObject({ status: 'final' });
    await saveProducts(database, [buildProduct({ id: 'own', createdAt })]);
    let placing: Promise<unknown> | undefined;
    const interrupted = interruptTransactions(database, 'DELETE FROM products', async () => {
      placing = placeLaunches(database, rules);
      await expect.poll(() => blockedStatements(database)).toHaveLength(1);
    });
    await removeSample(interrupted, sample, { engagementOnly: false });
    await placing;
    expect(await readDay(places.day, rules.now)).toMatchObject({ launches: 1, items: [{ productId: 'own' }] });
    for (const period of Object.values(places)) expect(await differencesOf(database, period), period).toEqual([]);
  });

  test('removing only the sample engagement removes sample votes from launches, except from final results', async () => {
    await load();
    await placeAll(new Date(), 'UTC');
    const final = 'react';
    await database.query('UPDATE launches SET final = true WHERE product_id = $1', [final]);
    await remove({ engagementOnly: true });
    const votes = await database.query(
      'SELECT l.product_id, l.votes, c.counted FROM launches l JOIN product_counts c USING (product_id) WHERE votes > 0 OR counted > 0',
    );
    expect(votes).toEqual([{ product_id: final, votes: 22, counted: 22 }]);
  });

  test('a removal recognizes the sample even if two processes loaded it at the same time', async () => {
    const [now, later] = await Promise.all(
      ['2026-11-22T10:00:00.000Z', '2026-11-22T10:00:01.000Z'].map((time) =>
        readSampleCatalogue(FOLDER, { now: time, timeZone: 'UTC' }),
      ),
    );
    if (now === undefined || later === undefined) throw new Error('There are two catalogues');
    await Promise.all([loadSample(database, now, systemRuntime), loadSample(database, later, systemRuntime)]);
    const stored = await readSampleCatalogue(FOLDER, await getSampleTime(database));
    expect(await removeSample(database, stored, { engagementOnly: false })).toMatchObject({ notRemoved: [] });
  });

  test('a later removal recognizes the sample launches, because it reads when they were loaded', async () => {
    await load();
    const loadedAt = await getSampleTime(database);
    expect(loadedAt).toEqual(catalogue.loadedAt);
    const later = await readSampleCatalogue(FOLDER, loadedAt);
    await database.query("UPDATE products SET created_at = '2026-01-01T00:00:00Z' WHERE id = 'git'");
    expect(await removeSample(database, later, { engagementOnly: false })).toMatchObject({ notRemoved: ['git'] });
    expect(await getSampleTime(database)).toBeUndefined();
  });
});
