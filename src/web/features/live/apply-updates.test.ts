import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../../tests/support/browser-storage.ts';
import { exampleComment, exampleProduct } from '../../../../tests/support/product-data.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { createWriteTracker } from '../../api/http-api.ts';
import {
  type CommentList,
  commentKeys,
  flattenComments,
  incrementUpvotes,
  productKeys,
  upvoteKeys,
} from '../../cache/cached-data.ts';
import { addToOutbox, removeFromOutbox } from '../../storage/outbox.ts';
import { createUpdateApplier } from './apply-updates.ts';
import { newCommentCount, visibleProducts } from './visible-queries.ts';

const key = productKeys.detail('harbour');
const detail = (upvotes: number) => ({
  product: exampleProduct({ id: 'harbour', upvotes, comments: 0 }),
  previousId: null,
  nextId: null,
});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('window', Object.assign(new EventTarget(), { localStorage: createBrowserStorage() }));
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

function setUp() {
  const client = new QueryClient();
  client.setQueryData(key, detail(1), { updatedAt: 1_000 });
  const writes = createWriteTracker();
  const applier = createUpdateApplier(client, { msSinceLastWrite: writes.msSinceLast });
  const upvotes = () => client.getQueryData<ProductDetail>(key)?.product.upvotes;
  return { client, applier, upvotes, writes };
}

const told = (upvotes: number) => ({ counts: [{ id: 'harbour', upvotes, comments: 0 }] });

test('counts are shown immediately, but do not mark the data as fresh', () => {
  const { client, applier, upvotes } = setUp();
  applier.apply(told(5));
  expect(upvotes()).toBe(5);
  expect(client.getQueryState(key)?.dataUpdatedAt).toBe(1_000);
});

test('a response requested before an update does not revert it, but a response requested later replaces it', async () => {
  const { client, applier, upvotes } = setUp();
  await vi.advanceTimersByTimeAsync(10_000);
  let respond = (_upvotes: number) => {};
  const queryFn = () =>
    new Promise<ReturnType<typeof detail>>((resolve) => {
      respond = (count) => resolve(detail(count));
    });
  const leave = new QueryObserver(client, { queryKey: key, queryFn }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  applier.apply(told(5));
  respond(2);
  await vi.advanceTimersByTimeAsync(10);
  expect(upvotes()).toBe(5);
  await vi.advanceTimersByTimeAsync(5_000);
  void client.refetchQueries({ queryKey: key });
  await vi.advanceTimersByTimeAsync(0);
  respond(9);
  await vi.advanceTimersByTimeAsync(10);
  expect(upvotes()).toBe(9);
  leave();
});

test('data counts as read at the time of its request, not at the time at which a slow response arrived', async () => {
  const { client, applier } = setUp();
  await vi.advanceTimersByTimeAsync(5_000);
  const startedAt = Date.now();
  const queryFn = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    return detail(1);
  };
  const leave = new QueryObserver(client, { queryKey: key, queryFn }).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(12_000);
  expect(visibleProducts(client, applier.readAt)).toEqual({ productIds: ['harbour'], readAt: startedAt });
  leave();
});

test('after a comment was hidden, a new comment is still announced until the comments are read again', async () => {
  const { client, applier } = setUp();
  const items = [exampleComment({ id: 'a' }), exampleComment({ id: 'b' })];
  const queryKey = commentKeys.list('harbour', { sort: 'oldest' });
  const list = new InfiniteQueryObserver(client, {
    queryKey,
    queryFn: async () => ({ items, total: items.length, nextCursor: null }),
    initialPageParam: null,
    getNextPageParam: () => null,
  });
  const leave = list.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(10_000);
  const show = (comments: number, ...commentIds: string[]) =>
    applier.apply({
      counts: [{ id: 'harbour', upvotes: 1, comments }],
      comments: commentIds.map((commentId) => ({ productId: 'harbour', commentId, likes: 0 })),
    });
  show(1);
  expect(newCommentCount(client, 'harbour')).toBe(0);
  show(2, 'a', 'c');
  expect(newCommentCount(client, 'harbour')).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  show(1);
  expect(newCommentCount(client, 'harbour'), 'the new comment may have been hidden').toBe(0);
  show(2, 'd');
  expect(newCommentCount(client, 'harbour')).toBe(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await list.refetch();
  expect(newCommentCount(client, 'harbour')).toBe(0);
  leave();
});

test('data that was read before an update does not replace it', () => {
  const { applier, upvotes } = setUp();
  const readAt = performance.now();
  vi.advanceTimersByTime(10);
  applier.apply(told(5));
  applier.apply(told(4), readAt);
  expect(upvotes()).toBe(5);
});

test('updates wait during a write by the visitor and shortly after it, and then the latest one is shown', async () => {
  const { applier, upvotes, writes } = setUp();
  const settle = writes.track();
  applier.apply(told(5));
  await vi.advanceTimersByTimeAsync(3_000);
  settle();
  applier.apply(told(6));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(upvotes()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(upvotes()).toBe(6);
});

test('an update from before a click does not undo the click when held updates are shown', async () => {
  const { client, applier, upvotes, writes } = setUp();
  applier.apply(told(5));
  const settle = writes.track();
  // The response to an earlier request arrives during the write, so updates from before the write are held.
  await client.fetchQuery({ queryKey: productKeys.standing('harbour'), queryFn: async () => null });
  await vi.advanceTimersByTimeAsync(10);
  const vote = { mutationKey: upvoteKeys.mutation('harbour'), mutationFn: async () => null };
  await client.getMutationCache().build(client, vote).execute(undefined);
  client.setQueryData(key, detail(6));
  settle();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(upvotes()).toBe(6);
});

test('an update that arrives when held updates are due to be shown does not discard them', async () => {
  const client = new QueryClient();
  client.setQueryData(key, detail(1));
  let quietMs = 0;
  const applier = createUpdateApplier(client, { msSinceLastWrite: () => quietMs });
  applier.apply(told(5));
  await vi.advanceTimersByTimeAsync(1_000);
  quietMs = 2_000;
  applier.apply({ counts: [{ id: 'lighthouse', upvotes: 3, comments: 0 }] });
  await vi.advanceTimersByTimeAsync(500);
  expect(client.getQueryData<ProductDetail>(key)?.product.upvotes).toBe(5);
});

test('counts that are read while the visitor’s vote is queued include the vote once', async () => {
  const { client, upvotes } = setUp();
  addToOutbox({ kind: 'upvote', productId: 'harbour', upvoted: true, before: false });
  await client.fetchQuery({ queryKey: key, queryFn: async () => detail(4) });
  expect(upvotes()).toBe(5);
  const list = new InfiniteQueryObserver(client, {
    queryKey: productKeys.list({}),
    queryFn: async ({ pageParam }) => ({ items: [exampleProduct({ id: pageParam, upvotes: 6 })] }),
    initialPageParam: 'harbour',
    getNextPageParam: () => 'lighthouse',
  });
  await list.refetch();
  await list.fetchNextPage();
  const shown = list.getCurrentResult().data?.pages.flatMap(({ items }) => items.map((item) => item.upvotes));
  expect(shown).toEqual([7, 6]);
  removeFromOutbox('upvote harbour');
});

test('a further page does not undo a change of an earlier page during the request', async () => {
  const { client } = setUp();
  let isWaiting = true;
  let respond = () => {};
  const list = new InfiniteQueryObserver(client, {
    queryKey: productKeys.list({}),
    queryFn: async ({ pageParam }) => {
      if (isWaiting && pageParam !== 'harbour') await new Promise<void>((resolve) => (respond = resolve));
      return { items: [exampleProduct({ id: pageParam, upvotes: 6 })] };
    },
    initialPageParam: 'harbour',
    getNextPageParam: () => 'lighthouse',
  });
  await list.refetch();
  const loaded = list.fetchNextPage();
  await vi.advanceTimersByTimeAsync(0);
  incrementUpvotes(client, 'harbour', 1);
  isWaiting = false;
  respond();
  await loaded;
  const upvotesOf = () => list.getCurrentResult().data?.pages.flatMap(({ items }) => items.map((item) => item.upvotes));
  expect(upvotesOf()).toEqual([7, 6]);
  await list.refetch();
  expect(upvotesOf()).toEqual([6, 6]);
});

/** Starts a write that gets no response. */
function startWrite(client: QueryClient, mutationKey: readonly string[]): void {
  void client
    .getMutationCache()
    .build(client, { mutationKey, mutationFn: () => new Promise(() => {}) })
    .execute({});
}

test('counts that are read while the visitor’s click is pending include the click', async () => {
  const { client, upvotes } = setUp();
  client.setQueryData(upvoteKeys.confirmed('harbour'), { upvoted: false, upvotes: 1 });
  client.setQueryData(upvoteKeys.status('harbour'), true);
  startWrite(client, upvoteKeys.mutation('harbour'));
  await client.fetchQuery({ queryKey: key, queryFn: async () => detail(4) });
  expect(upvotes()).toBe(5);
});

test('comments that are read while likes are pending include each like, so a failed like can be subtracted', async () => {
  const { client } = setUp();
  for (let number = 0; number < 2; number += 1) startWrite(client, commentKeys.likeMutation('a'));
  const queryKey = commentKeys.list('harbour', { sort: 'newest' });
  const items = [exampleComment({ id: 'a' }), exampleComment({ id: 'b' })];
  const queryFn = async () => ({ items, total: 2, nextCursor: null });
  await client.fetchInfiniteQuery({ queryKey, queryFn, initialPageParam: null });
  expect(flattenComments(client.getQueryData<CommentList>(queryKey)).map(({ likes }) => likes)).toEqual([2, 0]);
});
