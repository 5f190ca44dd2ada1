import { QueryClient } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Api } from '../../../contract/api.ts';
import { ApiError } from '../../lib/api-error.ts';
import { addToOutbox, outboxItems } from '../../lib/outbox.ts';
import type { LaterWrite } from '../../lib/send-later.ts';
import { sendOutbox } from './send-outbox.ts';

const wish: LaterWrite = { kind: 'upvote', productId: 'harbour', upvoted: true, before: false };

let answers: (() => Promise<{ upvotes: number }>)[];
const client = new QueryClient();
const send = () => sendOutbox({ setUpvote: () => answers.shift()?.() } as unknown as Api, client);

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('navigator', {});
  vi.stubGlobal('window', {
    setTimeout,
    clearTimeout,
    localStorage: {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, text: string) => kept.set(key, text),
      removeItem: (key: string) => kept.delete(key),
    },
  });
});

afterEach(() => vi.unstubAllGlobals());

test.each([429, 500, 503])(
  'what the server answers %i to goes on waiting, and is sent the next time',
  async (status) => {
    addToOutbox(wish);
    answers = [() => Promise.reject(new ApiError(status, 'code', 'Not now')), async () => ({ upvotes: 1 })];
    expect(await send()).toBe(false);
    expect(outboxItems()).toEqual([wish]);
    expect(await send()).toBe(true);
    expect(outboxItems()).toEqual([]);
  },
);

test('a wish that changes while the older one is sent is sent as well', async () => {
  addToOutbox(wish);
  const newer: LaterWrite = { ...wish, upvoted: false };
  let sent = 0;
  answers = [
    async () => {
      addToOutbox(newer);
      return { upvotes: ++sent };
    },
    async () => ({ upvotes: ++sent }),
  ];
  expect(await send()).toBe(true);
  expect(sent).toBe(2);
});
