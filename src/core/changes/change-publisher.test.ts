import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { ChangePublisher } from './change-publisher.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.query('DELETE FROM changes'));

const change = (productId: string) => ({ productIds: [productId], commentIds: [], catalogue: false });
const published = () => database.query<{ id: string; product_ids: string[] }>('SELECT id, product_ids FROM changes');

test('a change is published after 100 ms, together with changes that were added in the meantime', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const records: unknown[] = [];
  const recording: typeof database = {
    ...database,
    async query(_text, values) {
      records.push(values?.[1]);
      return [];
    },
  };
  const publisher = new ChangePublisher(recording, createLogLines().log);
  publisher.add(change('first'));
  await vi.advanceTimersByTimeAsync(99);
  publisher.add(change('second'));
  expect(records).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(records).toEqual([['first', 'second']]);
  await publisher.close();
});

test('after a failure, changes are published together with later ones, and the publisher recognizes the record as its own', async () => {
  // Every commit counts as fast, so no change is published twice.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const { log, text } = createLogLines();
  let publications = 0;
  const publisher = new ChangePublisher(database, log, () => {
    publications += 1;
  });
  await database.query('ALTER TABLE changes RENAME TO changes_away');
  publisher.add(change('early'));
  await expect.poll(text).toContain('Cannot publish changes to other processes');
  publisher.add(change('late'));
  expect(publications).toBe(0);
  await database.query('ALTER TABLE changes_away RENAME TO changes');
  await expect.poll(published).toEqual([{ id: expect.any(String), product_ids: ['early', 'late'] }]);
  const [record] = await published();
  expect(publisher.isOwn(record?.id ?? '')).toBe(true);
  expect(publisher.isOwn('another')).toBe(false);
  await publisher.close();
  expect(publications).toBe(1);
});

test('only the first failure of each outage is logged', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = createLogLines();
  let isAway = true;
  const query = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve([]));
  const publisher = new ChangePublisher({ ...database, query }, log);
  publisher.add(change('first'));
  await vi.advanceTimersByTimeAsync(1_000);
  isAway = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(lines()).toMatchObject([{ msg: 'Cannot publish changes to other processes; trying again' }]);
  isAway = true;
  publisher.add(change('second'));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(lines()).toHaveLength(2);
  isAway = false;
  await publisher.close();
});

test('the publisher recognizes a record as its own even before its INSERT returns', async () => {
  const recognized: boolean[] = [];
  const publisher: ChangePublisher = new ChangePublisher(
    {
      ...database,
      async query(text, values) {
        const rows = await database.query<never>(text, values);
        for (const { id } of await published()) recognized.push(publisher.isOwn(id));
        return rows;
      },
    },
    createLogLines().log,
  );
  publisher.add(change('early'));
  await publisher.close();
  expect(recognized).toEqual([true]);
});

test('a change whose record commits too slowly is published a second time, but not a third', async () => {
  const { now } = performance;
  let laterMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + laterMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const commitsMs = [3_000, 3_000];
  const publisher = new ChangePublisher(
    {
      ...database,
      async query(text, values) {
        const rows = await database.query<never>(text, values);
        laterMs += commitsMs.shift() ?? 0;
        return rows;
      },
    },
    createLogLines().log,
  );
  publisher.add(change('slow'));
  await expect.poll(published).toHaveLength(2);
  await publisher.close();
  expect((await published()).map(({ product_ids: ids }) => ids)).toEqual([['slow'], ['slow']]);
});

test('a change to the catalogue is still marked as one when it is published after a failure, and later changes are not', async () => {
  // Every commit counts as fast, so no change is published twice.
  vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => void vi.restoreAllMocks());
  const { log, text } = createLogLines();
  const publisher = new ChangePublisher(database, log);
  await database.query('ALTER TABLE changes RENAME TO changes_away');
  publisher.add({ ...change('placed'), catalogue: true });
  await expect.poll(text).toContain('Cannot publish changes to other processes');
  await database.query('ALTER TABLE changes_away RENAME TO changes');
  const read = () => database.query('SELECT product_ids, catalogue FROM changes ORDER BY created_at');
  await expect.poll(read).toEqual([{ product_ids: ['placed'], catalogue: true }]);
  publisher.add(change('voted'));
  await publisher.close();
  expect((await read()).at(-1)).toEqual({ product_ids: ['voted'], catalogue: false });
});

test('closing publishes the remaining changes', async () => {
  const publisher = new ChangePublisher(database, createLogLines().log);
  publisher.add(change('last'));
  await publisher.close();
  expect(await published()).toMatchObject([{ product_ids: ['last'] }]);
});

test('a failure while closing is reported without announcing another attempt', async () => {
  const { log, text } = createLogLines();
  const publisher = new ChangePublisher(database, log);
  await database.query('ALTER TABLE changes RENAME TO changes_away');
  publisher.add(change('last'));
  await publisher.close();
  await database.query('ALTER TABLE changes_away RENAME TO changes');
  await expect.poll(text).toContain('Cannot publish changes to other processes');
  expect(text()).not.toContain('trying again');
});

test('closing waits for a publication that is under way', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = false;
  const slow: typeof database = {
    ...database,
    async query(text, values) {
      begun = true;
      await released;
      return database.query(text, values);
    },
  };
  let publications = 0;
  const publisher = new ChangePublisher(slow, createLogLines().log, () => {
    publications += 1;
  });
  publisher.add(change('early'));
  await expect.poll(() => begun).toBe(true);
  const closed = publisher.close();
  publisher.add(change('late'));
  release();
  await closed;
  expect(publications).toBe(2);
  // If the test is suspended for long, the first change is published a second time.
  const ids = new Set((await published()).flatMap(({ product_ids }) => product_ids));
  expect([...ids].sort()).toEqual(['early', 'late']);
});
