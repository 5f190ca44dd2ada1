import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import type { Database } from '../database/database.ts';
import { type ChangeFollower, type FeedListener, followChanges } from './change-feed.ts';

/** A database that answers when it is told to. */
let answer: () => void;
let deaf: (number | undefined)[];
let feed: ChangeFollower;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  deaf = [];
  const database = {
    query: () =>
      new Promise((resolve) => {
        answer = () => resolve([]);
      }),
  } as Partial<Database> as Database;
  const listener: FeedListener = {
    onHistory: () => {},
    onChange: () => {},
    onHeardUpTo: () => {},
    onGap: () => {},
    onDeaf: (since) => void deaf.push(since),
  };
  feed = followChanges(database, silentLog, listener);
});

afterEach(() => {
  feed.stop();
  vi.useRealTimers();
});

test('a database that hangs is told of after two seconds, once, and so is its first answer', async () => {
  await vi.advanceTimersByTimeAsync(1_999);
  expect(deaf).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(deaf).toEqual([Date.now()]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(deaf).toHaveLength(1);
  answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(deaf).toEqual([expect.any(Number), undefined]);
});

test('one that answers in time is not told of', async () => {
  for (let polls = 0; polls < 3; polls += 1) {
    await vi.advanceTimersByTimeAsync(1_500);
    answer();
    await vi.advanceTimersByTimeAsync(200);
  }
  expect(deaf).toEqual([]);
});
