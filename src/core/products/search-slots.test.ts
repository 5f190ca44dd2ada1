import { expect, test } from 'vitest';
import { createSlots } from './search-slots.ts';

test('no more than the slots are given out, and the first to wait gets the first that is free', async () => {
  const slots = createSlots(1);
  const giveBack = await slots.take(0);
  const order: string[] = [];
  const second = slots.take(10_000).then((release) => {
    order.push('second');
    expect(release).toBeTypeOf('function');
    release?.();
  });
  const third = slots.take(10_000).then((release) => {
    order.push('third');
    expect(release).toBeTypeOf('function');
  });
  expect(order).toEqual([]);
  giveBack?.();
  await Promise.all([second, third]);
  expect(order).toEqual(['second', 'third']);
});

test('whose patience ends goes without one, and takes none from those behind', async () => {
  const slots = createSlots(1);
  const giveBack = await slots.take(0);
  expect(await slots.take(1)).toBeUndefined();
  giveBack?.();
  expect(await slots.take(0)).toBeTypeOf('function');
});
