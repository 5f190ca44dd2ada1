import { expect, test } from 'vitest';
import { initialLiveState, type LiveEffect, type LiveEvent, type LiveState, step } from './live-state.ts';

/** The server's clock is 100 ms ahead. */
const hidden = initialLiveState(100);
const subscribed: LiveState = { ...hidden, kind: 'subscribed', subscribedIds: ['a', 'b'], knownUpTo: 5_100 };
const covered: LiveState = { ...subscribed, isCovered: true, knownUpTo: 9_000 };
const polling: LiveState = { ...covered, kind: 'polling' };
/** A page that shows no products. Its data was read at 5,000, browser time. */
const unsubscribed: LiveState = { ...hidden, kind: 'unsubscribed', knownUpTo: 5_100 };
const view = (productIds: string[], hasBoard = false) => ({ productIds, readAt: 5_000, hasBoard });
const shown = (...args: Parameters<typeof view>): LiveEvent => ({ kind: 'shown', ...view(...args) });
const changed = (...args: Parameters<typeof view>): LiveEvent => ({ kind: 'changed', ...view(...args) });
const stay: LiveEffect = { kind: 'cancel', event: 'hidden' };
const stopPolling: LiveEffect = { kind: 'cancel', event: 'pollDue' };
const pollAfter = (ms: number): LiveEffect => ({ kind: 'delay', event: 'pollDue', ms });
const leave: LiveEffect = { kind: 'leave' };
const subscribe = (productIds: string[], since: number): LiveEffect => ({ kind: 'subscribe', productIds, since });

test.each<[string, LiveState, LiveEvent, LiveState, LiveEffect[]]>([
  [
    'a visible page subscribes from the time at which its data was read, on the server’s clock',
    hidden,
    shown(['a', 'b']),
    subscribed,
    [stay, subscribe(['a', 'b'], 5_100)],
  ],
  ['unchanged products need no new subscription', covered, changed(['a', 'b']), covered, []],
  [
    'a subscription to fewer products continues from the last update of the open stream',
    covered,
    changed(['a']),
    { ...covered, subscribedIds: ['a'], isCovered: false },
    [subscribe(['a'], 9_000)],
  ],
  [
    'a subscription to one more product starts at the time at which the page read its data',
    covered,
    changed(['a', 'c']),
    { ...subscribed, subscribedIds: ['a', 'c'] },
    [subscribe(['a', 'c'], 5_100)],
  ],
  [
    'a subscription that no stream covers yet keeps its earlier start when the products change',
    { ...subscribed, knownUpTo: 4_000 },
    changed(['a']),
    { ...subscribed, subscribedIds: ['a'], knownUpTo: 4_000 },
    [subscribe(['a'], 4_000)],
  ],
  [
    'a page without products needs no stream',
    covered,
    changed([]),
    { ...covered, kind: 'unsubscribed', subscribedIds: [] },
    [leave],
  ],
  [
    'a page without products leaves the stream of an empty leaderboard',
    { ...covered, subscribedIds: [] },
    changed([]),
    { ...covered, kind: 'unsubscribed', subscribedIds: [] },
    [leave],
  ],
  [
    'a page that becomes visible without products neither opens nor leaves a stream',
    hidden,
    shown([]),
    unsubscribed,
    [stay],
  ],
  [
    'a page without products subscribes once it shows some',
    unsubscribed,
    changed(['a', 'b']),
    subscribed,
    [subscribe(['a', 'b'], 5_100)],
  ],
  [
    'a leaderboard needs a stream even without products',
    hidden,
    shown([], true),
    { ...subscribed, subscribedIds: [] },
    [stay, subscribe([], 5_100)],
  ],

  [
    'a hidden tab keeps its stream for 10 seconds',
    covered,
    { kind: 'tabHidden' },
    covered,
    [{ kind: 'delay', event: 'hidden', ms: 10_000 }],
  ],
  [
    'a tab that was just hidden still subscribes to its products',
    subscribed,
    changed(['a']),
    { ...subscribed, subscribedIds: ['a'] },
    [subscribe(['a'], 5_100)],
  ],
  ['a tab that is visible again in time keeps its stream', covered, shown(['a', 'b']), covered, [stay]],
  [
    'a tab leaves its stream when it stays hidden or the visitor leaves the page',
    covered,
    { kind: 'hidden' },
    { ...covered, kind: 'hidden' },
    [leave],
  ],
  ['a page that has left its stream starts no timer when its tab is hidden', hidden, { kind: 'tabHidden' }, hidden, []],
  ['a page leaves its stream only once', hidden, { kind: 'hidden' }, hidden, []],
  ['a hidden page does not subscribe to its products', hidden, changed(['a', 'b']), hidden, []],
  [
    'a hidden page continues from its last update when it is visible again',
    { ...covered, kind: 'hidden' },
    shown(['a', 'b']),
    { ...covered, isCovered: false },
    [stay, subscribe(['a', 'b'], 9_000)],
  ],

  ['an open stream covers the subscription', subscribed, { kind: 'opened' }, { ...subscribed, isCovered: true }, []],
  ['an open stream does not cover a page that has left it', hidden, { kind: 'opened' }, hidden, []],
  [
    'updates do not advance a subscription that no stream covers yet',
    subscribed,
    { kind: 'received', upTo: 8_000, at: 8_000 },
    subscribed,
    [],
  ],
  [
    'updates advance the time up to which changes are known, and show how far the server’s clock is ahead',
    covered,
    { kind: 'received', upTo: 9_500, at: 9_200 },
    { ...covered, knownUpTo: 9_500, aheadMs: 300 },
    [],
  ],

  [
    'a page that loses its stream polls for the first time after 10 seconds',
    covered,
    { kind: 'lost' },
    polling,
    [pollAfter(10_000)],
  ],
  ['a second loss of the stream does not delay the poll', polling, { kind: 'lost' }, polling, []],
  ['a page without a subscription does not poll', unsubscribed, { kind: 'lost' }, unsubscribed, []],
  [
    'a page without a stream polls every minute',
    polling,
    { kind: 'pollDue' },
    polling,
    [{ kind: 'poll' }, pollAfter(60_000)],
  ],
  [
    'a page without a stream continues to poll when its products change',
    polling,
    changed(['a']),
    { ...polling, subscribedIds: ['a'], isCovered: false },
    [subscribe(['a'], 9_000)],
  ],
  ['an open stream ends polling', polling, { kind: 'opened' }, covered, [stopPolling]],
  [
    'a page that is left stops polling',
    polling,
    { kind: 'hidden' },
    { ...covered, kind: 'hidden' },
    [leave, stopPolling],
  ],
  [
    'a page without products stops polling',
    polling,
    changed([]),
    { ...covered, kind: 'unsubscribed', subscribedIds: [] },
    [leave, stopPolling],
  ],
  ['a page with a stream does not poll', covered, { kind: 'pollDue' }, covered, []],
])('%s', (_name, from, event, state, effects) => {
  expect(step(from, event)).toEqual({ state, effects });
});
