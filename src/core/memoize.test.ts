import { expect, test } from 'vitest';
import { memoize } from './memoize.ts';

test('a result is reused for the given time, per argument, and concurrent calls share one read', async () => {
  let now = 0;
  let reads = 0;
  const read = memoize(
    async (argument: { name: string }) => `${argument.name} ${++reads}`,
    1_000,
    () => now,
  );
  const [one, other] = [{ name: 'one' }, { name: 'other' }];
  expect(await Promise.all([read(one), read(one), read(other)])).toEqual(['one 1', 'one 1', 'other 2']);
  now = 999;
  expect(await read(one)).toBe('one 1');
  now = 1_000;
  expect(await read(one)).toBe('one 3');
});

test('concurrent calls share a read even after the given time, and with a time of 0, only concurrent calls do', async () => {
  let finish = (_result: string) => {};
  const read = memoize(
    (_: object) =>
      new Promise<string>((resolve) => {
        finish = resolve;
      }),
    0,
  );
  const argument = {};
  const shared = [read(argument), read(argument)];
  finish('first');
  expect(await Promise.all(shared)).toEqual(['first', 'first']);
  const later = read(argument);
  finish('second');
  expect(await later).toBe('second');
});

test('after a failed read, the next call reads again', async () => {
  let reads = 0;
  const read = memoize(async (_: object) => {
    reads += 1;
    if (reads === 1) throw new Error('The database is unavailable');
    return reads;
  }, 1_000);
  const argument = {};
  await expect(read(argument)).rejects.toThrow('unavailable');
  expect(await read(argument)).toBe(2);
});
