import { QueryClient } from '@tanstack/react-query';
import { expect, onTestFinished, test, vi } from 'vitest';
import { exampleComment, exampleProduct } from '../../../../tests/support/product-data.ts';
import type { Api } from '../../../contract/api.ts';
import type { Comment } from '../../../contract/comments/schema.ts';
import type { ProductDetail } from '../../../contract/products/schema.ts';
import { ApiError } from '../../api/http-api.ts';
import { type CommentList, commentKeys, flattenComments, productKeys } from '../../cache/cached-data.ts';
import { draftOn, drafts, saveDraft } from './drafts.ts';
import { addToLists, likeComment, patchLikes, postComment, RESEND_MS } from './write-comments.ts';

vi.stubGlobal('navigator', { onLine: true });
vi.stubGlobal('window', new EventTarget());

const best = commentKeys.list('harbour', { sort: 'best' });
const oldest = commentKeys.list('harbour', { sort: 'oldest' });

function clientWith(...items: Comment[]): QueryClient {
  const client = new QueryClient();
  for (const key of [best, oldest]) {
    client.setQueryData(key, { pages: [{ items, total: items.length, nextCursor: 'next' }], pageParams: [null] });
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

test.each([
  { isNew: true, comments: 2, total: 1, isInvalidated: false },
  // An earlier attempt posted the comment, and the page may already count it.
  { comments: 1, total: 0, isInvalidated: true },
])('a new comment is counted, but a comment from an earlier attempt invalidates the product: %o', async (expected) => {
  const { isNew, comments, total, isInvalidated } = expected;
  const client = clientWith();
  const detail = productKeys.detail('harbour');
  client.setQueryData(detail, { product: exampleProduct({ comments: 1 }) });
  const addComment = async () => ({ comment: exampleComment({ id: 'own' }), isNew });
  const draft = { content: 'Calm', website: '', idempotencyKey: 'key' };
  await postComment({ addComment } as Partial<Api> as Api, client, 'harbour', draft);
  expect(client.getQueryData<ProductDetail>(productKeys.detail('harbour'))?.product).toMatchObject({ comments });
  expect(client.getQueryState(detail)).toMatchObject({ isInvalidated });
  expect(client.getQueryData(best)).toMatchObject({ pages: [{ items: [{ id: 'own' }], total }] });
});

test.each([
  { isNew: true, nextCursor: 'next', readAt: 3_000, total: 2 },
  { isNew: false, nextCursor: 'next', readAt: 1_000, total: 2 },
  { isNew: false, nextCursor: null, readAt: 3_000, total: 2 },
  // The comment is probably on a further page.
  { isNew: false, nextCursor: 'next', readAt: 3_000, total: 1 },
])(
  'a comment increases only the total of a list that does not count it yet: %o',
  ({ isNew, nextCursor, readAt, total }) => {
    const client = new QueryClient();
    const page = { items: [exampleComment({ id: 'a' })], total: 1, nextCursor };
    client.setQueryData(best, { pages: [page], pageParams: [null] }, { updatedAt: readAt });
    const comment = exampleComment({ id: 'own', createdAt: new Date(2_000).toISOString() });
    expect(addToLists(client, comment, isNew)).toBe(true);
    expect(client.getQueryData(best)).toMatchObject({ pages: [{ items: [{ id: 'own' }, { id: 'a' }], total }] });
  },
);

test('the visitor’s own comment or like does not mark a list as fresh', () => {
  const client = clientWith();
  const page = { items: [exampleComment({ id: 'a' })], total: 1, nextCursor: null };
  client.setQueryData(best, { pages: [page], pageParams: [null] }, { updatedAt: 1_000 });
  addToLists(client, exampleComment({ id: 'own' }));
  patchLikes(client, 'harbour', 'a', (likes) => likes + 1);
  expect(client.getQueryState(best)?.dataUpdatedAt).toBe(1_000);
});

test('a comment that a later page repeats is shown only once', () => {
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

test('pending likes are counted once, even if the comments are read in the meantime', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const comment = exampleComment({ id: 'a', likes: 0 });
  const client = clientWith(comment);
  const likes = () => flattenComments(client.getQueryData<CommentList>(best))[0]?.likes;
  const read = (items: Comment[]) =>
    client.fetchInfiniteQuery({
      queryKey: best,
      queryFn: async () => ({ items, total: 1, nextCursor: null }),
      initialPageParam: null,
    });
  const responses: { resolve: (comment: Comment) => void; reject: (error: Error) => void }[] = [];
  const likeOnServer = () => new Promise<Comment>((resolve, reject) => responses.push({ resolve, reject }));
  const api = { likeComment: likeOnServer } as Partial<Api> as Api;
  const done = Promise.all([1, 2, 3].map(() => likeComment(api, client, comment)));
  expect(likes()).toBe(3);
  await read([comment]);
  expect(likes(), 'the server has stored no like').toBe(3);
  responses[0]?.reject(new Error('out of reach'));
  await expect.poll(() => responses).toHaveLength(2);
  expect(likes()).toBe(2);
  const stored = { ...comment, likes: 1 };
  await read([stored]);
  responses[1]?.resolve(stored);
  await expect.poll(() => responses).toHaveLength(3);
  expect(likes(), 'one like is stored and one is pending').toBe(2);
  responses[2]?.reject(new Error('out of reach'));
  await done;
  expect(likes()).toBe(1);
  expect(warn).toHaveBeenCalledTimes(2);
});

test.each([
  [503, 'Failed to update likes'],
  [404, 'Comment not found'],
  [0, 'Failed to fetch comment'],
])('a like that fails with status %i is rolled back and logged as ‘%s’', async (status, words) => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  const comment = exampleComment({ id: 'a', likes: 4 });
  const client = clientWith(comment);
  const fail = () => Promise.reject(new ApiError(status, 'code', 'The reason'));
  await likeComment({ likeComment: fail } as Partial<Api> as Api, client, comment);
  expect(client.getQueryData(best)).toMatchObject({ pages: [{ items: [{ likes: 4 }] }] });
  expect(warn.mock.calls).toEqual([[words]]);
});

test('a draft that an attempt a day ago may have posted is sent again only after a warning', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 1 });
  onTestFinished(() => void vi.useRealTimers());
  saveDraft('harbour', 'Calm');
  const addComment = vi.fn((..._comment: Parameters<Api['addComment']>) =>
    Promise.reject(new ApiError(0, 'network', 'lost')),
  );
  const attempt = async (now: number) => {
    vi.setSystemTime(now);
    const { text = '', idempotencyKey = '' } = draftOn(drafts.read(), 'harbour') ?? {};
    const draft = { content: text, website: '', idempotencyKey };
    await postComment({ addComment } as Partial<Api> as Api, clientWith(), 'harbour', draft);
  };
  const keys = () => addComment.mock.calls.map(([, key]) => key);
  const written = 10 * RESEND_MS;
  for (const later of [0, RESEND_MS - 1, RESEND_MS]) await attempt(written + later);
  const [first] = keys();
  expect(keys()).toEqual([first, first]);
  await attempt(written + RESEND_MS + 1);
  expect(keys()).toEqual([first, first, expect.not.stringMatching(String(first))]);
});
