import { expect, test } from 'vitest';
import { createSemaphore } from './semaphore.ts';

test('a free slot goes to one caller; waiting callers get slots in the order of arrival, but urgent callers go first', async () => {
  const slots = createSemaphore(1);
  const release = await slots.acquire(0);
  const order: string[] = [];
  const second = slots.acquire(10_000).then((release) => {
    order.push('second');
    expect(release).toBeTypeOf('function');
    release?.();
  });
  const third = slots.acquire(10_000).then((release) => {
    order.push('third');
    expect(release).toBeTypeOf('function');
  });
  const urgent = slots.acquire(10_000, true).then((release) => {
    order.push('urgent');
    release?.();
  });
  expect(order).toEqual([]);
  release?.();
  await Promise.all([second, third, urgent]);
  expect(order).toEqual(['urgent', 'second', 'third']);
});

test('a caller that times out gets no slot, and takes none from later callers', async () => {
  const slots = createSemaphore(1);
  const release = await slots.acquire(0);
  expect(await slots.acquire(1)).toBeUndefined();
  release?.();
  expect(await slots.acquire(0)).toBeTypeOf('function');
});
