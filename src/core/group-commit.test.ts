import pg from 'pg';
import { expect, onTestFinished, test, vi } from 'vitest';
import { CoreError } from './core-error.ts';
import { type GroupCommitOptions, groupCommit } from './group-commit.ts';

/** Creates a `commit` that records its batches and resolves only when the test releases it. */
function heldCommit() {
  const batches: number[][] = [];
  let release = () => {};
  const options: GroupCommitOptions<number, number> = {
    async commit(items) {
      batches.push([...items]);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return items.map((item) => item * 10);
    },
  };
  const batchCount = async (count: number) => {
    while (batches.length < count) await new Promise(setImmediate);
  };
  return { batches, options, batchCount, release: () => release() };
}

test('items that arrive during a transaction are written together in the next one, in order', async () => {
  const { batches, options, batchCount, release } = heldCommit();
  const group = groupCommit(options);
  const first = group.submit(1);
  await batchCount(1);
  const others = [2, 3, 4].map((item) => group.submit(item));
  expect(group.queued()).toBe(3);
  release();
  expect(await first).toBe(10);
  await batchCount(2);
  release();
  expect(await Promise.all(others)).toEqual([20, 30, 40]);
  expect(batches).toEqual([[1], [2, 3, 4]]);
});

test('if one item of a batch is rejected, the other items succeed', async () => {
  const rejection = new CoreError('product_not_found', 'gone');
  const group = groupCommit<number, number>({
    commit: async (items) => items.map((item) => (item === 2 ? rejection : item)),
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.submit(item)));
  expect(results).toEqual([
    { status: 'fulfilled', value: 1 },
    { status: 'rejected', reason: rejection },
    { status: 'fulfilled', value: 3 },
  ]);
});

test('if a whole batch fails, halving it isolates the bad item: only this item fails, and the others keep their order', async () => {
  const written: number[] = [];
  let transactions = 0;
  const group = groupCommit<number, number>({
    async commit(items) {
      transactions += 1;
      if (items.includes(700)) throw new Error('row 700 is bad');
      written.push(...items);
      return [...items];
    },
  });
  const items = Array.from({ length: 1_000 }, (_, index) => index);
  const results = await Promise.allSettled(items.map((item) => group.submit(item)));
  expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([700]);
  expect(written).toEqual(items.filter((item) => item !== 700));
  expect(transactions).toBeLessThan(25);
});

test('a transaction that ends in a deadlock is retried, and every request succeeds', async () => {
  let tries = 0;
  let retries = 0;
  const quiet = { committed() {}, failed() {}, rejected() {} };
  const group = groupCommit<number, number>({
    async commit(items) {
      tries += 1;
      const deadlock = new pg.DatabaseError('deadlock detected', 0, 'error');
      deadlock.code = '40P01';
      if (tries < 3) throw deadlock;
      return [...items];
    },
    observer: {
      ...quiet,
      retried() {
        retries += 1;
      },
    },
  });
  expect(await Promise.all([group.submit(1), group.submit(2)])).toEqual([1, 2]);
  expect({ tries, retries }).toEqual({ tries: 3, retries: 2 });
});

test('while the database is unreachable, no batch is retried, and every request fails and is counted as rejected', async () => {
  let commits = 0;
  const rejected = vi.fn();
  const away = new CoreError('unavailable', 'away');
  const group = groupCommit<number, number>({
    async commit() {
      commits += 1;
      throw away;
    },
    observer: { committed() {}, retried() {}, failed() {}, rejected },
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.submit(item)));
  expect(results).toEqual([1, 2, 3].map(() => ({ status: 'rejected', reason: away })));
  expect(commits).toBe(1);
  expect(rejected).toHaveBeenCalledTimes(3);
});

test('an error that no single item can cause does not split the batch', async () => {
  let commits = 0;
  const missing = Object.assign(new pg.DatabaseError('no such table', 0, 'error'), { code: '42P01' });
  const group = groupCommit<number, number>({
    async commit() {
      commits += 1;
      throw missing;
    },
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.submit(item)));
  expect(results).toEqual([1, 2, 3].map(() => ({ status: 'rejected', reason: missing })));
  expect(commits).toBe(1);
});

test('an item that waits too long is rejected while the previous transaction still runs, and is never written', async () => {
  // With real time, the other items could also wait too long on a busy machine.
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { batches, options, batchCount, release } = heldCommit();
  const group = groupCommit({ ...options, maxWaitMs: 20 });
  const first = group.submit(1);
  await batchCount(1);
  const rejected = expect(group.submit(2)).rejects.toMatchObject({ code: 'unavailable' });
  vi.advanceTimersByTime(21);
  await rejected;
  expect(group.queued()).toBe(0);
  release();
  await first;
  const later = group.submit(3);
  await batchCount(2);
  release();
  expect(await later).toBe(30);
  expect(batches).toEqual([[1], [3]]);
});

test('a full queue rejects items with `overloaded`, and accepts items again once it has room', async () => {
  const { options, batchCount, release } = heldCommit();
  const group = groupCommit({ ...options, maxQueued: 2 });
  const first = group.submit(1);
  await batchCount(1);
  const queued = [group.submit(2), group.submit(3)];
  await expect(group.submit(4)).rejects.toMatchObject({ code: 'overloaded' });
  release();
  await first;
  await batchCount(2);
  const later = group.submit(5);
  release();
  expect(await Promise.all(queued)).toEqual([20, 30]);
  await batchCount(3);
  release();
  expect(await later).toBe(50);
});
