import { InfiniteQueryObserver, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import type { ProductDetail, ProductPage } from '../../../contract/products/schema.ts';
import { createWriteTracker } from '../../api/http-api.ts';
import { productKeys } from '../../cache/cached-data.ts';
import { createUpdateApplier } from './apply-updates.ts';
import { createLaunchWatch } from './launch-watch.ts';
import { type Refetcher, refetchBoards, refetchOvertaken, refetchVisible } from './refetch.ts';

vi.stubGlobal('window', new EventTarget());

afterEach(() => {
  vi.useRealTimers();
});

test('a refetch of a board waits for further launches that are loading, and then reads all votes again', async () => {
  const client = new QueryClient();
  let votes = 1;
  let sendPage = () => {};
  const pageSent = new Promise<void>((resolve) => {
    sendPage = resolve;
  });
  const observer = new InfiniteQueryObserver(client, {
    queryKey: productKeys.board('2026-11-26', ''),
    queryFn: async ({ pageParam }) => {
      if (pageParam === 'second') await pageSent;
      return { votes, nextCursor: pageParam === '' ? 'second' : null };
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    retry: false,
  });
  const stop = observer.subscribe(() => {});
  const shown = () => observer.getCurrentResult().data?.pages.map((page) => page.votes);
  await expect.poll(shown).toEqual([1]);

  const more = observer.fetchNextPage();
  const refetched = refetchBoards(client);
  votes = 2;
  sendPage();
  await more;
  await refetched;
  expect(shown()).toEqual([2, 2]);
  stop();
});

test.each([
  [{ status: 'open', launches: 21 }, 1],
  [{ status: 'open', launches: 20 }, 0],
  [{ status: 'final', launches: 21 }, 0],
  [null, 0],
])('the board %o, of which 20 launches are on screen, is refetched %i times', async (board, refetches) => {
  const client = new QueryClient();
  const items = Array.from({ length: 20 }, (_, index) => ({ productId: `launch-${index}` }));
  let reads = 0;
  const observer = new InfiniteQueryObserver(client, {
    queryKey: productKeys.board('2026-11-26', ''),
    queryFn: () => {
      reads += 1;
      return board && { ...board, items };
    },
    initialPageParam: '',
    getNextPageParam: () => null,
  });
  const stop = observer.subscribe(() => {});
  await expect.poll(() => observer.getCurrentResult().isSuccess).toBe(true);
  await refetchOvertaken(client);
  expect(reads).toBe(1 + refetches);
  stop();
});

test.each([
  ['open', 2],
  ['final', 1],
])('votes cause a refetch of a standing, and of a board unless it is final: %s', async (status, boardReads) => {
  const client = new QueryClient();
  const reads = { board: 0, standing: 0 };
  const board = new InfiniteQueryObserver(client, {
    queryKey: productKeys.board('2026-11-26', ''),
    queryFn: () => {
      reads.board += 1;
      return { status, items: [] };
    },
    initialPageParam: '',
    getNextPageParam: () => null,
  });
  const standing = new QueryObserver(client, {
    queryKey: productKeys.standing('harbour'),
    queryFn: () => {
      reads.standing += 1;
      return { day: { status } };
    },
  });
  const stops = [board.subscribe(() => {}), standing.subscribe(() => {})];
  await expect.poll(() => reads).toEqual({ board: 1, standing: 1 });
  await expect.poll(() => client.isFetching()).toBe(0);
  await refetchBoards(client, { includeFinal: false });
  expect(reads).toEqual({ board: boardReads, standing: 2 });
  await refetchBoards(client);
  expect(reads).toEqual({ board: boardReads + 1, standing: 3 });
  for (const stop of stops) stop();
});

test('a refetch of boards rejects if a board cannot be read', async () => {
  const client = new QueryClient();
  let isOnline = true;
  const board = new QueryObserver(client, {
    queryKey: productKeys.board('2026-11-26', ''),
    queryFn: () => (isOnline ? { pages: [{ status: 'final' }] } : Promise.reject(new Error('Offline'))),
    retry: false,
  });
  onTestFinished(board.subscribe(() => {}));
  await expect.poll(() => client.isFetching()).toBe(0);
  isOnline = false;
  await expect(refetchBoards(client)).rejects.toThrow('Offline');
});

test('refetching overtaken ranks does not interrupt a page that loads, and skips a board that has not loaded', async () => {
  const client = new QueryClient();
  let sendPage = () => {};
  const pageSent = new Promise<void>((resolve) => {
    sendPage = resolve;
  });
  const items = [{ productId: 'launch' }];
  const show = (period: string, queryFn: (page: string) => Promise<object>) => {
    const observer = new InfiniteQueryObserver(client, {
      queryKey: productKeys.board(period, ''),
      queryFn: ({ pageParam }) => queryFn(pageParam),
      initialPageParam: 'first',
      getNextPageParam: () => 'second',
    });
    return { observer, stop: observer.subscribe(() => {}) };
  };
  const { observer, stop } = show('2026-11-26', async (page) => {
    if (page === 'second') await pageSent;
    return { status: 'open', launches: 3, items };
  });
  const loading = show('2026-11-27', () => new Promise(() => {}));
  await expect.poll(() => observer.getCurrentResult().isSuccess).toBe(true);

  const more = observer.fetchNextPage();
  const refetched = refetchOvertaken(client);
  sendPage();
  await Promise.all([more, refetched]);
  expect(observer.getCurrentResult().data?.pages).toHaveLength(2);
  stop();
  loading.stop();
});

test('a refetch finds new launches for its own list, and none for a list that has replaced it on screen', async () => {
  const client = new QueryClient();
  const pageOf = (...ids: string[]) => ({ items: ids.map((id) => exampleProduct({ id })), nextCursor: null });
  const show = (filters: object, page: ProductPage) => {
    const queryKey = productKeys.list(filters);
    client.setQueryData(queryKey, { pages: [page], pageParams: [''] });
    const observer = new InfiniteQueryObserver(client, {
      queryKey,
      queryFn: () => page,
      initialPageParam: '',
      getNextPageParam: () => null,
      staleTime: Number.POSITIVE_INFINITY,
    });
    return observer.subscribe(() => {});
  };
  let sendPage = () => {};
  const listProducts = () =>
    new Promise<ProductPage>((resolve) => {
      sendPage = () => resolve(pageOf('new', 'otter'));
    });
  const api = { listProducts, msSinceLastWrite: () => Number.POSITIVE_INFINITY } as unknown as Refetcher['api'];
  const applier = createUpdateApplier(client, api);
  const launches = createLaunchWatch(api, client);
  const refetch = () => refetchVisible({ api, client, applier, launches });

  const leave = show({}, pageOf('otter'));
  const first = refetch();
  sendPage();
  await first;
  expect(launches.waiting()).toEqual(['new']);

  const second = refetch();
  leave();
  const stop = show({ q: 'heron' }, pageOf('heron'));
  sendPage();
  await second;
  expect(launches.waiting()).toEqual([]);
  stop();
});

test('after a large import, only a few of the products on screen are read one by one', async () => {
  const client = new QueryClient();
  const pageOf = (count: number, prefix: string) => ({
    items: Array.from({ length: count }, (_, index) => exampleProduct({ id: `${prefix}-${index}` })),
    nextCursor: null,
  });
  const observer = new InfiniteQueryObserver(client, {
    queryKey: productKeys.list({}),
    queryFn: () => pageOf(60, 'shown'),
    initialPageParam: '',
    getNextPageParam: () => null,
  });
  const stop = observer.subscribe(() => {});
  await expect.poll(() => observer.getCurrentResult().isSuccess).toBe(true);
  const reads: string[] = [];
  const api = {
    listProducts: async () => pageOf(100, 'imported'),
    async getProduct(id: string) {
      reads.push(id);
      return null;
    },
    msSinceLastWrite: () => Number.POSITIVE_INFINITY,
  } as unknown as Refetcher['api'];
  const applier = createUpdateApplier(client, api);
  await refetchVisible({ api, client, applier, launches: createLaunchWatch(api, client) });
  expect(reads).toHaveLength(5);
  stop();
});

test.each([
  ['that began before the visitor’s vote', 0, 100],
  ['between two votes', 100, 1_300],
])('a poll %s does not undo the vote', async (_name, firstVoteEndsAt, secondVoteAt) => {
  vi.useFakeTimers();
  const client = new QueryClient();
  const key = productKeys.detail('harbour');
  const show = (upvotes: number) =>
    client.setQueryData<ProductDetail>(key, {
      product: exampleProduct({ id: 'harbour', upvotes }),
      previousId: null,
      nextId: null,
    });
  const shown = () => client.getQueryData<ProductDetail>(key)?.product.upvotes;
  show(10);
  const leave = new QueryObserver(client, { queryKey: key, staleTime: 'static' }).subscribe(() => {});
  const writes = createWriteTracker();
  let stored = 10;
  const api = {
    async getProduct() {
      const upvotes = stored;
      await new Promise((resolve) => setTimeout(resolve, 400));
      return { product: exampleProduct({ id: 'harbour', upvotes }) };
    },
    msSinceLastWrite: writes.msSinceLast,
  } as unknown as Refetcher['api'];
  const applier = createUpdateApplier(client, api);
  if (firstVoteEndsAt > 0) writes.track()();
  await vi.advanceTimersByTimeAsync(firstVoteEndsAt);
  const polled = refetchVisible({ api, client, applier, launches: createLaunchWatch(api, client) });
  await vi.advanceTimersByTimeAsync(secondVoteAt);
  const settle = writes.track();
  stored = 11;
  show(11);
  settle();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(shown()).toBe(11);
  await polled;
  leave();
});
