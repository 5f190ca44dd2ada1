import { QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { exampleComment, exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Api } from '../../../contract/api.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import { ApiError } from '../../api/http-api.ts';
import { cachedProduct, commentKeys, flattenComments, productKeys } from '../../cache/cached-data.ts';
import { addToLists, patchLikes, postComment } from './write-comments.ts';

vi.stubGlobal('navigator', { onLine: true });

const best = commentKeys.list('harbour', { sort: 'best' });
const oldest = commentKeys.list('harbour', { sort: 'oldest' });

function clientWith(...items: Comment[]): QueryClient {
  const client = new QueryClient();
  for (const key of [best, oldest]) {
    client.setQueryData(key, { pages: [{ items, total: items.length, nextCursor: null }], pageParams: [null] });
  }
  return client;
}

test('a new comment comes first in every order and is counted once', () => {
  const client = clientWith(exampleComment({ id: 'old', likes: 9 }));
  expect(addToLists(client, exampleComment({ id: 'new' }))).toBe(true);
  expect(addToLists(client, exampleComment({ id: 'new' }))).toBe(false);
  for (const key of [best, oldest]) {
    expect(client.getQueryData(key)).toMatchObject({ pages: [{ items: [{ id: 'new' }, { id: 'old' }], total: 2 }] });
  }
});

test('a comment that live updates have counted after its response was lost is not counted again', async () => {
  const client = clientWith();
  const countComments = (comments: number) =>
    client.setQueryData(productKeys.detail('harbour'), { product: exampleProduct({ comments }) });
  countComments(0);
  const addComment = vi.fn().mockRejectedValueOnce(new ApiError(0, 'network', 'lost'));
  addComment.mockResolvedValueOnce(exampleComment({ id: 'own' }));
  const api = { addComment } as Partial<Api> as Api;
  const draft = { content: 'Calm', website: '', idempotencyKey: 'key' };
  await postComment(api, client, 'harbour', draft);
  countComments(1);
  await postComment(api, client, 'harbour', draft);
  expect(cachedProduct(client, 'harbour')).toMatchObject({ comments: 1 });
  expect(client.getQueryState(productKeys.detail('harbour')), 'is read again').toMatchObject({ isInvalidated: true });
  expect(client.getQueryData(best)).toMatchObject({ pages: [{ items: [{ id: 'own' }], total: 1 }] });
});

test('the visitor’s own comment or like does not mark a list as fresh', () => {
  const client = clientWith();
  const page = { items: [exampleComment({ id: 'a' })], total: 1, nextCursor: null };
  client.setQueryData(best, { pages: [page], pageParams: [null] }, { updatedAt: 1_000 });
  addToLists(client, exampleComment({ id: 'own' }));
  patchLikes(client, 'harbour', 'a', (likes) => likes + 1);
  expect(client.getQueryState(best)?.dataUpdatedAt).toBe(1_000);
});

test('a comment that repeats on a later page is shown once', () => {
  const page = (id: string) => ({ items: [exampleComment({ id })], total: 2, nextCursor: null });
  const list = { pages: [page('a'), page('b'), page('a')], pageParams: [] };
  expect(flattenComments(list).map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a like appears in the lists of every order', () => {
  const client = clientWith(exampleComment({ id: 'a', likes: 1 }), exampleComment({ id: 'b', likes: 5 }));
  patchLikes(client, 'harbour', 'a', (likes) => likes + 1);
  for (const key of [best, oldest]) {
    expect(client.getQueryData(key)).toMatchObject({ pages: [{ items: [{ likes: 2 }, { likes: 5 }] }] });
  }
});
