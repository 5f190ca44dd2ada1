import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { exampleComment, exampleProduct } from '../../../../tests/support/product-data.ts';
import type { CommentPage } from '../../../contract/comments/schema.ts';
import { type CommentList, commentKeys, productKeys } from '../../cache/cached-data.ts';
import { newCommentCount } from './visible-queries.ts';

const page = (from: number, to: number, total: number): CommentPage => ({
  items: Array.from({ length: to - from }, (_, index) => exampleComment({ id: `comment ${from + index}` })),
  total,
  nextCursor: null,
});

/** Returns the number of new comments while these pages are on screen and the product has `comments` comments. */
function countWith(pages: CommentPage[], comments: number, held: CommentPage['items'] = []): number {
  const client = new QueryClient();
  const queryKey = commentKeys.list('harbour', { sort: 'oldest' });
  const product = exampleProduct({ comments });
  client.setQueryData(productKeys.detail('harbour'), { product, previousId: null, nextId: null });
  client.setQueryData(commentKeys.held('harbour'), { items: held });
  client.setQueryData<CommentList>(queryKey, { pages, pageParams: pages.map(() => null) });
  const options = { queryKey, staleTime: 'static', initialPageParam: null, getNextPageParam: () => null } as const;
  const leave = new InfiniteQueryObserver(client, options).subscribe(() => {});
  const count = newCommentCount(client, 'harbour');
  leave();
  return count;
}

test('a comment that is neither loaded nor counted by the list is new', () => {
  expect(countWith([page(0, 20, 25)], 27)).toBe(2);
  expect(countWith([page(0, 20, 25), page(20, 25, 25)], 26)).toBe(1);
});

test('a comment that a later page of the list contains is not new', () => {
  expect(countWith([page(0, 20, 25), page(20, 26, 26)], 26)).toBe(0);
  // Between the reads of the pages, one comment moved to the later page.
  expect(countWith([page(0, 20, 25), page(19, 25, 26)], 26)).toBe(1);
});

test('a held comment, which the server does not count, does not hide a new comment', () => {
  const [own] = page(0, 1, 1).items;
  expect(countWith([page(0, 6, 6)], 6, own && [own])).toBe(1);
});
