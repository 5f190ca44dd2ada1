import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { productKeys } from '../../cache/cached-data.ts';
import { refetchBoards } from './refetch.ts';

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
  await vi.waitFor(() => expect(shown()).toEqual([1]));

  const more = observer.fetchNextPage();
  const refetched = refetchBoards(client);
  votes = 2;
  sendPage();
  await more;
  await refetched;
  expect(shown()).toEqual([2, 2]);
  stop();
});
