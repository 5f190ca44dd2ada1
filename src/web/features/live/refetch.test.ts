import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { exampleProduct } from '../../../../tests/support/product-data.ts';
import type { ReadApi } from '../../../contract/api.ts';
import type { ProductPage } from '../../../contract/products/schema.ts';
import { productKeys } from '../../cache/cached-data.ts';
import { createUpdateApplier } from './apply-updates.ts';
import { createLaunchWatch } from './launch-watch.ts';
import { refetchBoards, refetchOvertaken, refetchVisible } from './refetch.ts';

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

test('a refetch of overtaken ranks leaves further launches loading, and skips a board that has not loaded', async () => {
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
  const api = { listProducts } as unknown as ReadApi;
  const applier = createUpdateApplier(client, { msSinceLastWrite: () => Number.POSITIVE_INFINITY });
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
  } as unknown as ReadApi;
  const applier = createUpdateApplier(client, { msSinceLastWrite: () => Number.POSITIVE_INFINITY });
  await refetchVisible({ api, client, applier, launches: createLaunchWatch(api, client) });
  expect(reads).toHaveLength(5);
  stop();
});
