import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createBrowserStorage } from '../../../../tests/support/browser-storage.ts';
import type { Api } from '../../../contract/api.ts';
import { ApiError } from '../../api/http-api.ts';
import { RESEND_MS } from '../../features/comments/write-comments.ts';
import type { QueuedWrite } from '../../storage/outbox.ts';
import { addToOutbox, outboxItems, setRefusal, writeKey } from '../../storage/outbox.ts';
import { discardComment, sendOutbox } from './send-outbox.ts';

const upvote: QueuedWrite = { kind: 'upvote', productId: 'harbour', upvoted: true, before: false };

let responses: (() => Promise<{ upvotes: number }>)[];
const client = new QueryClient();
const send = () => sendOutbox({ setUpvote: () => responses.shift()?.() } as unknown as Api, client);

beforeEach(() => {
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('document', { hidden: false });
  vi.stubGlobal('window', { setTimeout, clearTimeout, localStorage: createBrowserStorage() });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test.each([
  [408, 'request_timeout'],
  [429, 'rate_limited'],
  [500, 'internal'],
  [503, 'unavailable'],
  // The error pages of a proxy.
  [403, 'unknown'],
  [404, 'unknown'],
])('an upvote that gets the status %i (%s) stays queued and is sent the next time', async (status, code) => {
  addToOutbox(upvote);
  responses = [() => Promise.reject(new ApiError(status, code, 'Not now')), async () => ({ upvotes: 1 })];
  await send();
  expect(outboxItems()).toEqual([upvote]);
  await send();
  expect(outboxItems()).toEqual([]);
});

test.each([403, 404])('an upvote to which a proxy responds with %i does not block the other writes', async (status) => {
  const other: QueuedWrite = { ...upvote, productId: 'lighthouse' };
  for (const write of [upvote, other]) addToOutbox(write);
  responses = [() => Promise.reject(new ApiError(status, 'unknown', 'Forbidden')), async () => ({ upvotes: 1 })];
  await send();
  expect(outboxItems()).toEqual([upvote]);
});

test.each([0, 429, 503])(
  'after the status %i, no other writes are sent, because they would probably fail too',
  async (status) => {
    const other: QueuedWrite = { ...upvote, productId: 'lighthouse' };
    for (const write of [upvote, other]) addToOutbox(write);
    responses = [() => Promise.reject(new ApiError(status, 'code', 'Not now')), async () => ({ upvotes: 1 })];
    await send();
    expect(outboxItems()).toEqual([upvote, other]);
  },
);

test('while another tab is sending, this tab waits, and then sends the remaining writes', async () => {
  addToOutbox(upvote);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  vi.stubGlobal('navigator', { locks: { request: (_name: string, run: () => unknown) => released.then(run) } });
  responses = [async () => ({ upvotes: 1 })];
  const sent = send();
  expect(outboxItems()).toEqual([upvote]);
  release();
  await sent;
  expect(outboxItems()).toEqual([]);
});

test.each([
  ['granted', (_name: string, run: () => unknown) => Promise.resolve(run())],
  ['refused along with storage', () => Promise.reject(new DOMException('Blocked', 'SecurityError'))],
])('each attempt sends a write only once if the lock is %s', async (_what, request) => {
  vi.stubGlobal('navigator', { locks: { request } });
  addToOutbox(upvote);
  responses = [() => Promise.reject(new ApiError(503, 'code', 'Not now')), async () => ({ upvotes: 1 })];
  await send();
  expect(responses).toHaveLength(1);
  await send();
  expect(outboxItems()).toEqual([]);
});

test.each([
  ['stays queued after the 404 page of a proxy', 404, { firstSentAt: expect.any(Number) }],
  ['is refused if a proxy forbids it, because the proxy may object to its text', 403, { refused: 'Forbidden' }],
])('a comment %s', async (_what, status, expected) => {
  const comment = { kind: 'comment', productId: 'harbour', content: 'Hi', website: '', idempotencyKey: 'key' } as const;
  addToOutbox(comment);
  const addComment = () => Promise.reject(new ApiError(status, 'unknown', 'Forbidden'));
  await sendOutbox({ addComment } as unknown as Api, client);
  expect(outboxItems()).toEqual([{ ...comment, ...expected }]);
});

test('a refused comment stays in the queue, because the visitor may send it again in any tab', async () => {
  const comment = { kind: 'comment', productId: 'harbour', content: 'Hi', website: '', idempotencyKey: 'key' } as const;
  addToOutbox(comment);
  setRefusal(writeKey(comment), 'Too long');
  await send();
  expect(outboxItems()).toEqual([{ ...comment, refused: 'Too long' }]);
});

test('a comment that an attempt a day ago may have posted is sent again only if the visitor asks for it', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  addToOutbox(comment);
  const addComment = vi.fn(() => Promise.reject(new ApiError(0, 'network', 'lost')));
  const attempt = async (now: number) => {
    vi.setSystemTime(now);
    await sendOutbox({ addComment } as unknown as Api, client);
  };
  const written = 10 * RESEND_MS;
  for (const later of [0, RESEND_MS / 2, RESEND_MS - 1]) await attempt(written + later);
  expect(addComment).toHaveBeenCalledTimes(3);
  for (const later of [0, 1]) await attempt(written + RESEND_MS + later);
  expect(addComment).toHaveBeenCalledTimes(3);
  const reason = 'An earlier attempt may have posted it. Check before you try again.';
  expect(outboxItems()).toEqual([{ ...comment, refused: reason }]);
  setRefusal(writeKey(comment), undefined);
  await attempt(written + RESEND_MS + 2);
  expect(addComment).toHaveBeenCalledTimes(4);
});

test('a newer change that replaces the one being sent is sent as well', async () => {
  addToOutbox(upvote);
  const newer: QueuedWrite = { ...upvote, upvoted: false };
  let sent = 0;
  responses = [
    async () => {
      addToOutbox(newer);
      return { upvotes: ++sent };
    },
    async () => ({ upvotes: ++sent }),
  ];
  await send();
  expect(sent).toBe(2);
});

/** Replaces the browser's locks. Each lock is granted to one caller at a time. */
function stubLocks() {
  const held = new Map<string, Promise<unknown>>();
  const request = vi.fn((name: string, run: () => unknown) => {
    const granted = (held.get(name) ?? Promise.resolve()).then(run);
    held.set(
      name,
      granted.catch(() => {}),
    );
    return granted;
  });
  vi.stubGlobal('navigator', { locks: { request } });
  return request;
}

const comment = { kind: 'comment', productId: 'harbour', content: 'Hi', website: '', idempotencyKey: 'first' } as const;

test('a discarded comment is not sent, unless its request is already pending', async () => {
  stubLocks();
  const second = { ...comment, idempotencyKey: 'second' };
  for (const each of [comment, second]) addToOutbox(each);
  let fail = (_error: Error) => {};
  const addComment = vi.fn(() => new Promise((_, reject) => (fail = reject)));
  const sent = sendOutbox({ addComment } as unknown as Api, client);
  await expect.poll(() => addComment.mock.calls.length).toBe(1);
  const discarded = discardComment(comment);
  await discardComment(second);
  expect(outboxItems().map(writeKey)).toEqual([writeKey(comment)]);
  fail(new ApiError(0, 'network', 'lost'));
  await discarded;
  await sent;
  expect(outboxItems()).toEqual([]);
  expect(addComment).toHaveBeenCalledTimes(1);
});

test('a comment that is discarded while it waits for its lock is not sent', async () => {
  const request = stubLocks();
  addToOutbox(comment);
  let release = () => {};
  const held = request(writeKey(comment), () => new Promise<void>((resolve) => (release = resolve)));
  const discarded = discardComment(comment);
  const addComment = vi.fn();
  const sent = sendOutbox({ addComment } as unknown as Api, client);
  await expect.poll(() => request.mock.calls.filter(([name]) => name === writeKey(comment)).length).toBe(3);
  release();
  await Promise.all([held, discarded]);
  await sent;
  expect(addComment).not.toHaveBeenCalled();
});
