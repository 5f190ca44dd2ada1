import { describe, expect, test } from 'vitest';
import { Representations } from '../http/representations.ts';
import {
  decide,
  type EntryEvent,
  type EntryState,
  isExpired,
  nextRevalidationAt,
  PAGE_FRESHNESS,
  step,
  type Version,
} from './cached-response.ts';

const DEPENDENCIES = { products: ['git'], catalogue: false, allCounts: false, unfinished: false };

const versionOf = (body: string, startedTick: number, startedAt: number): Version => ({
  head: { status: 200, type: 'text/plain', cacheControl: 'public', dependencies: DEPENDENCIES },
  content: new Representations(body),
  contentSince: startedAt,
  startedAt,
  startedTick,
  includesUpTo: startedAt,
  tookMs: 4,
});

const first = versionOf('one', 1, 100);
const second = versionOf('two', 5, 500);
const fresh: EntryState = { kind: 'fresh', version: first, changedTick: 0 };
const stale: EntryState = { kind: 'stale', version: first, changedTick: 3, since: 300 };
const failing: EntryState = { ...stale, kind: 'failing', failingSince: 350, failedAt: 400 };
const changed: EntryEvent = { type: 'changed', tick: 7, at: 700 };
const expired: EntryEvent = { type: 'expired' };
const produced: EntryEvent = { type: 'produced', version: second };
const failed: EntryEvent = { type: 'failed', startedAt: 600, at: 610 };

describe('the state of an entry', () => {
  test.each<[string, EntryState, EntryEvent, EntryState]>([
    [
      'a change makes a fresh entry stale',
      fresh,
      changed,
      { kind: 'stale', version: first, changedTick: 7, since: 700 },
    ],
    [
      'a further change does not alter the time since which an entry is stale',
      stale,
      changed,
      { ...stale, changedTick: 7 },
    ],
    [
      'a launch before the last known change makes an entry stale since the launch',
      stale,
      { ...changed, at: 200 },
      { ...stale, changedTick: 7, since: 200 },
    ],
    [
      'a launch before the revalidation makes an entry stale since the revalidation',
      fresh,
      { ...changed, at: 50 },
      { kind: 'stale', version: first, changedTick: 7, since: 100 },
    ],
    [
      'a fresh entry that expires counts as stale since the end of its maximum age',
      fresh,
      expired,
      { kind: 'stale', version: first, changedTick: 0, since: 100 + 60_000 },
    ],
    ['a stale entry that expires does not change', stale, expired, stale],
    ['a change that affects a failing entry is recorded', failing, changed, { ...failing, changedTick: 7 }],
    ['a new version of a fresh entry is fresh', fresh, produced, { kind: 'fresh', version: second, changedTick: 0 }],
    [
      'a version produced after the change makes a stale entry fresh',
      stale,
      produced,
      { kind: 'fresh', version: second, changedTick: 3 },
    ],
    [
      'a new version makes a failing entry fresh',
      failing,
      produced,
      { kind: 'fresh', version: second, changedTick: 3 },
    ],
    [
      'a version whose revalidation began right after the last change is fresh',
      { ...stale, changedTick: 5 },
      produced,
      { kind: 'fresh', version: second, changedTick: 5 },
    ],
    [
      'a version is stale if a change occurred during its revalidation',
      { ...stale, changedTick: 6 },
      produced,
      { kind: 'stale', version: second, changedTick: 6, since: second.startedAt },
    ],
    [
      'a failure makes a fresh entry failing since the start of the revalidation',
      fresh,
      failed,
      { kind: 'failing', version: first, changedTick: 0, since: 600, failingSince: 610, failedAt: 610 },
    ],
    [
      'a failure makes a stale entry failing since its first change',
      stale,
      failed,
      { kind: 'failing', version: first, changedTick: 3, since: 300, failingSince: 610, failedAt: 610 },
    ],
    [
      'a further failure of a failing entry only updates the time of the failure',
      failing,
      failed,
      { ...failing, failedAt: 610 },
    ],
  ])('%s', (_name, state, event, next) => {
    expect(step(state, event)).toEqual(next);
  });

  test('a new version with the same content keeps the bytes and the date of the old one', () => {
    const { version } = step(stale, { type: 'produced', version: versionOf('one', 5, 500) });
    expect(version).toMatchObject({ contentSince: first.contentSince, startedAt: 500 });
    expect(version.content).toBe(first.content);
  });
});

describe('the decision for a request', () => {
  const need = { now: 1_000, maxStaleMs: 1_000, notBefore: Number.NEGATIVE_INFINITY };
  test.each<[string, EntryState, Partial<typeof need>, ReturnType<typeof decide>]>([
    ['a request for a fresh version is a hit', fresh, {}, 'hit'],
    ['a request gets a stale version at once within the allowed time', stale, {}, 'stale'],
    ['a request waits if the version has been stale for longer than allowed', stale, { now: 1_300 }, 'wait'],
    ['a request that allows no stale version waits', stale, { maxStaleMs: 0 }, 'wait'],
    ['a request of a visitor who wrote before the version was produced is a hit', fresh, { notBefore: 100 }, 'hit'],
    ['a request of a visitor who wrote after the version was produced waits', fresh, { notBefore: 101 }, 'wait'],
    ['a request right after a failure gets the last good version', failing, { now: 1_399, notBefore: 400 }, 'stale'],
    ['a request a second after a failure waits for the next attempt', failing, { now: 1_400 }, 'wait'],
    ['a request of a visitor who wrote after a failure waits', failing, { notBefore: 401 }, 'wait'],
  ])('%s', (_name, state, overrides, decision) => {
    expect(decide(state, { ...need, ...overrides })).toBe(decision);
  });
});

describe('the decision while the change feed is disconnected', () => {
  const need = { now: 9_000, notBefore: Number.NEGATIVE_INFINITY, isConnected: false };
  test.each<[string, EntryState, number, ReturnType<typeof decide>]>([
    ['while disconnected, a request that allows stale versions gets one of any age', stale, 1_000, 'stale'],
    ['while disconnected, a request gets the last good version if no new one can be produced', failing, 0, 'stale'],
    ['while disconnected, a request that allows no stale version waits for a newer one', stale, 0, 'wait'],
    ['while disconnected, a request that allows no stale version gets a fresh one', fresh, 0, 'hit'],
  ])('%s', (_name, state, maxStaleMs, decision) => {
    expect(decide(state, { ...need, maxStaleMs })).toBe(decision);
  });
});

test.each<[string, EntryState, number, boolean]>([
  ['a fresh version expires after a minute', fresh, 101 + 60_000, true],
  ['a fresh version does not expire within a minute', fresh, 100 + 60_000, false],
  ['a stale version does not expire again', stale, 101 + 60_000, false],
])('%s', (_name, state, now, expected) => {
  expect(isExpired(state, now)).toBe(expected);
});

test.each<[string, EntryState, number]>([
  ['after its interval', stale, 100 + 250],
  ['later if rendering it takes long', { ...stale, version: { ...first, tookMs: 20 } }, 100 + 500],
  ['at the latest after 750 ms', { ...stale, version: { ...first, tookMs: 90 } }, 100 + 750],
  ['a second after a failure', failing, 400 + 1_000],
])('a page is revalidated in the background %s', (_name, state, at) => {
  expect(nextRevalidationAt(state, PAGE_FRESHNESS)).toBe(at);
});
