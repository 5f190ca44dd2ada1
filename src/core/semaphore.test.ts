import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

test('no more slots are given out than exist, and the first to wait gets the first free one', async () => {
  const slots = createSemaphore(1);
  const release = await slots.take(0);
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
  release?.();
  await Promise.all([second, third]);
  expect(order).toEqual(['second', 'third']);
});

test('a caller that times out gets no slot, and takes none from later callers', async () => {
  const slots = createSemaphore(1);
  const release = await slots.take(0);
  expect(await slots.take(1)).toBeUndefined();
  release?.();
  expect(await slots.take(0)).toBeTypeOf('function');
});
