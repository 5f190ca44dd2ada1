import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { notePendingWrite } from '../../lib/pending-write.ts';
import { cachedProduct, productKeys } from '../../lib/product-cache.ts';
import { buildProduct } from '../../test-products.ts';
import { createNewsTaker } from './apply-news.ts';

const key = productKeys.detail('harbour');
const detail = (upvotes: number) => ({
  product: buildProduct({ id: 'harbour', upvotes, comments: 0 }),
  previousId: null,
  nextId: null,
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', {});
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp() {
  const client = new QueryClient();
  client.setQueryData(key, detail(1), { updatedAt: 1_000 });
  const upvotes = () => cachedProduct(client, 'harbour')?.upvotes;
  return { client, taker: createNewsTaker(client), upvotes };
}

const told = (upvotes: number) => ({ counts: [{ id: 'harbour', upvotes, comments: 0 }] });

test('counts are shown at once, and what is shown is as old as before', () => {
  const { client, taker, upvotes } = setUp();
  taker.tell(told(5));
  expect(upvotes()).toBe(5);
  expect(client.getQueryState(key)?.dataUpdatedAt).toBe(1_000);
});

test('an answer that was asked for before the news came does not take it back; a later one is right by itself', async () => {
  const { client, taker, upvotes } = setUp();
  await vi.advanceTimersByTimeAsync(10_000);
  let answer = (_upvotes: number) => {};
  const queryFn = () =>
    new Promise<ReturnType<typeof detail>>((resolve) => {
      answer = (count) => resolve(detail(count));
    });
  const leave = new QueryObserver(client, { queryKey: key, queryFn }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  taker.tell(told(5));
  answer(2);
  await vi.advanceTimersByTimeAsync(10);
  expect(upvotes()).toBe(5);
  await vi.advanceTimersByTimeAsync(5_000);
  void client.refetchQueries({ queryKey: key });
  await vi.advanceTimersByTimeAsync(0);
  answer(9);
  await vi.advanceTimersByTimeAsync(10);
  expect(upvotes()).toBe(9);
  leave();
});

test('what was read before the news came is older than the news', () => {
  const { taker, upvotes } = setUp();
  const readAt = performance.now();
  vi.advanceTimersByTime(10);
  taker.tell(told(5));
  taker.tell(told(4), readAt);
  expect(upvotes()).toBe(5);
});

// Last, since when something was written is remembered for as long as the module lives.
test('while the visitor writes, and a moment longer, news waits; then the last of it is shown', async () => {
  const { taker, upvotes } = setUp();
  await vi.advanceTimersByTimeAsync(10_000);
  const settle = notePendingWrite();
  taker.tell(told(5));
  await vi.advanceTimersByTimeAsync(3_000);
  settle();
  taker.tell(told(6));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(upvotes()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(upvotes()).toBe(6);
});
