import { QueryClient } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { buildComment } from '../../../../tests/support/product-data.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import { commentKeys, flattenComments } from '../../cache/cached-data.ts';
import { addToLists, patchLikes } from './write-comments.ts';

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
  const client = clientWith(buildComment({ id: 'old', likes: 9 }));
  expect(addToLists(client, buildComment({ id: 'new' }))).toBe(true);
  expect(addToLists(client, buildComment({ id: 'new' }))).toBe(false);
  for (const key of [best, oldest]) {
    expect(client.getQueryData(key)).toMatchObject({ pages: [{ items: [{ id: 'new' }, { id: 'old' }], total: 2 }] });
  }
});

test('the visitor’s own comment or like does not mark a list as fresh', () => {
  const client = clientWith();
  const page = { items: [buildComment({ id: 'a' })], total: 1, nextCursor: null };
  client.setQueryData(best, { pages: [page], pageParams: [null] }, { updatedAt: 1_000 });
  addToLists(client, buildComment({ id: 'own' }));
  patchLikes(client, 'harbour', 'a', (likes) => likes + 1);
  expect(client.getQueryState(best)?.dataUpdatedAt).toBe(1_000);
});

test('a comment that repeats on a later page is shown once', () => {
  const page = (id: string) => ({ items: [buildComment({ id })], total: 2, nextCursor: null });
  const list = { pages: [page('a'), page('b'), page('a')], pageParams: [] };
  expect(flattenComments(list).map(({ id }) => id)).toEqual(['a', 'b']);
});

test('a like appears in the lists of every order', () => {
  const client = clientWith(buildComment({ id: 'a', likes: 1 }), buildComment({ id: 'b', likes: 5 }));
  patchLikes(client, 'harbour', 'a', (likes) => likes + 1);
  for (const key of [best, oldest]) {
    expect(client.getQueryData(key)).toMatchObject({ pages: [{ items: [{ likes: 2 }, { likes: 5 }] }] });
  }
});
