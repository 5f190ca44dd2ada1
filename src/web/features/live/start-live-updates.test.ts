import { expect, test } from 'vitest';
import { initialLiveState, type LiveEffect, type LiveEvent, type LiveState, step } from './start-live-updates.ts';

/** The server's clock is 100 ms ahead. */
const hidden = initialLiveState(100);
const subscribed: LiveState = { ...hidden, kind: 'subscribed', subscribedIds: ['a', 'b'], knownUpTo: 5_100 };
const covered: LiveState = { ...subscribed, isCovered: true, knownUpTo: 9_000 };
const shown = (productIds: string[], hasBoard = false): LiveEvent => ({
  kind: 'shown',
  productIds,
  readAt: 5_000,
  hasBoard,
});
const subscribe = (productIds: string[], since: number): LiveEffect => ({ kind: 'subscribe', productIds, since });

test.each<[string, LiveState, LiveEvent, LiveState, LiveEffect[]]>([
  [
    'a visible page subscribes from the moment its data was read, by the clock of the server',
    hidden,
    shown(['a', 'b']),
    subscribed,
    [subscribe(['a', 'b'], 5_100)],
  ],
  ['the same products need no other subscription', covered, shown(['a', 'b']), covered, []],
  [
    'a covered subscription goes on from its last update',
    covered,
    shown(['a']),
    { ...covered, subscribedIds: ['a'], isCovered: false },
    [subscribe(['a'], 9_000)],
  ],
  [
    'a further product is followed from the moment it was read',
    covered,
    shown(['a', 'c']),
    { ...subscribed, subscribedIds: ['a', 'c'] },
    [subscribe(['a', 'c'], 5_100)],
  ],
  [
    'a subscription that no stream covers yet starts at its earliest moment',
    { ...subscribed, knownUpTo: 4_000 },
    shown(['a']),
    { ...subscribed, subscribedIds: ['a'], knownUpTo: 4_000 },
    [subscribe(['a'], 4_000)],
  ],
  [
    'a page without products needs no stream',
    covered,
    shown([]),
    { ...covered, kind: 'unsubscribed', subscribedIds: [] },
    [{ kind: 'leave' }],
  ],
  [
    'but a leaderboard without products does',
    hidden,
    shown([], true),
    { ...subscribed, subscribedIds: [] },
    [subscribe([], 5_100)],
  ],
  ['a hidden page leaves the stream', covered, { kind: 'hidden' }, { ...covered, kind: 'hidden' }, [{ kind: 'leave' }]],
  [
    'and goes on from its last update when it is visible again',
    { ...covered, kind: 'hidden' },
    shown(['a', 'b']),
    { ...covered, isCovered: false },
    [subscribe(['a', 'b'], 9_000)],
  ],
  ['an open stream covers the subscription', subscribed, { kind: 'opened' }, { ...subscribed, isCovered: true }, []],
  [
    'updates of an uncovered subscription do not count',
    subscribed,
    { kind: 'received', upTo: 8_000, at: 8_000 },
    subscribed,
    [],
  ],
  [
    'updates move the known moment, and show how far the clock of the server is ahead',
    covered,
    { kind: 'received', upTo: 9_500, at: 9_200 },
    { ...covered, knownUpTo: 9_500, aheadMs: 300 },
    [],
  ],
])('%s', (_name, from, event, state, effects) => {
  expect(step(from, event)).toEqual({ state, effects });
});
