import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { silentLog } from '../../../tests/support/silent-log.ts';
import type { Database } from '../database/database.ts';
import { LONG_OVERLAP_MS } from './change-feed.ts';
import {
  type ChangePoller,
  nextPollerState,
  type PollerEffect,
  type PollerEvent,
  type PollerState,
  pollChanges,
} from './change-poller.ts';

const connected = { disconnectedSince: undefined };
const disconnected = { disconnectedSince: 1_000 };
const error = new Error('No response');

const TRANSITIONS: { name: string; from: PollerState; event: PollerEvent; to: PollerState; effects: PollerEffect[] }[] =
  [
    {
      name: 'a wake-up starts a read',
      from: { kind: 'waiting', ...connected },
      event: { kind: 'wake' },
      to: { kind: 'reading', ...connected },
      effects: [{ kind: 'cancelWait' }, { kind: 'read' }],
    },
    {
      name: 'a wake-up during a read does not start a second read',
      from: { kind: 'reading', ...connected },
      event: { kind: 'wake' },
      to: { kind: 'reading', ...connected },
      effects: [],
    },
    {
      name: 'after a read, the poller waits for an interval',
      from: { kind: 'reading', ...connected },
      event: { kind: 'succeeded' },
      to: { kind: 'waiting', ...connected },
      effects: [{ kind: 'wait' }],
    },
    {
      name: 'a failed read reports the database as disconnected',
      from: { kind: 'reading', ...connected },
      event: { kind: 'failed', at: 1_000, error },
      to: { kind: 'waiting', ...disconnected },
      effects: [{ kind: 'reportDisconnect', since: 1_000, error }, { kind: 'wait' }],
    },
    {
      name: 'further failures are not reported',
      from: { kind: 'reading', ...disconnected },
      event: { kind: 'failed', at: 2_000, error },
      to: { kind: 'waiting', ...disconnected },
      effects: [{ kind: 'wait' }],
    },
    {
      name: 'an overdue read reports the database as disconnected and continues',
      from: { kind: 'reading', ...connected },
      event: { kind: 'overdue', at: 1_000, error },
      to: { kind: 'reading', ...disconnected },
      effects: [{ kind: 'reportDisconnect', since: 1_000, error }],
    },
    {
      name: 'a read that succeeds after a failure reports that the database responds again',
      from: { kind: 'reading', ...disconnected },
      event: { kind: 'succeeded' },
      to: { kind: 'waiting', ...connected },
      effects: [{ kind: 'reportReconnect' }, { kind: 'wait' }],
    },
    {
      name: 'stopping cancels the next read',
      from: { kind: 'waiting', ...connected },
      event: { kind: 'stop' },
      to: { kind: 'stopped' },
      effects: [{ kind: 'cancelWait' }],
    },
    {
      name: 'a read that ends after the stop has no effect',
      from: { kind: 'stopped' },
      event: { kind: 'failed', at: 1_000, error },
      to: { kind: 'stopped' },
      effects: [],
    },
  ];

test.each(TRANSITIONS)('$name', ({ from, event, to, effects }) => {
  expect(nextPollerState(from, event)).toEqual({ state: to, effects });
});

describe('polling a database', () => {
  let reads: number;
  /** Responds to the running read. */
  let respond: () => void;
  let disconnects: (number | undefined)[];
  let observed: number[];
  let poller: ChangePoller;

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    disconnects = [];
    observed = [];
    reads = 0;
    const database = {
      query: () =>
        new Promise((resolve) => {
          reads += 1;
          respond = () => resolve([{ now: '1000', now_ms: 1_000, id: null } as never]);
        }),
    } as Partial<Database> as Database;
    poller = pollChanges(database, silentLog, {
      onHistory: () => {},
      onChange: () => {},
      onObservedUpTo: (time) => void observed.push(time),
      onGap: () => {},
      onDisconnect: (since) => void disconnects.push(since),
    });
  });

  afterEach(() => {
    poller.stop();
    vi.useRealTimers();
  });

  test('changes are read again 200 ms after a response', async () => {
    respond();
    await vi.advanceTimersByTimeAsync(0);
    await vi.advanceTimersByTimeAsync(199);
    expect(reads).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(reads).toBe(2);
  });

  test('a response that arrives after a stop is ignored, because the listener can no longer use the database', async () => {
    respond();
    await vi.advanceTimersByTimeAsync(200);
    expect({ reads, observed }).toEqual({ reads: 2, observed: [1_000] });
    poller.stop();
    respond();
    await vi.advanceTimersByTimeAsync(0);
    expect(observed).toHaveLength(1);
  });

  test('a database that does not respond is reported once, after two seconds, and its next response is reported', async () => {
    await vi.advanceTimersByTimeAsync(1_999);
    expect(disconnects).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(disconnects).toEqual([Date.now()]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(disconnects).toHaveLength(1);
    respond();
    await vi.advanceTimersByTimeAsync(0);
    expect(disconnects).toEqual([expect.any(Number), undefined]);
  });

  test('slow responses within the timeout are not reported', async () => {
    for (let polls = 0; polls < 3; polls += 1) {
      await vi.advanceTimersByTimeAsync(1_500);
      respond();
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(disconnects).toEqual([]);
  });
});

test('about every four seconds, a read looks back a minute, but after more than 5,000 ids were remembered, none does for a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let records = 1;
  let reads: { lookBackMs: number; seen: number }[] = [];
  const database = {
    async query(_text: string, [, lookBackMs, , seen]: [unknown, number, unknown, string[]]) {
      reads.push({ lookBackMs, seen: seen.length });
      return Array.from({ length: records }, (_, index) => ({ now: 'now', id: `id-${index}`, product_ids: null }));
    },
  } as unknown as Database;
  const ignore = () => {};
  const listener = { onHistory: ignore, onChange: ignore, onObservedUpTo: ignore, onGap: ignore, onDisconnect: ignore };
  const poller = pollChanges(database, silentLog, listener);
  onTestFinished(poller.stop);
  const longReads = async (durationMs: number) => {
    reads = [];
    await vi.advanceTimersByTimeAsync(durationMs);
    return reads.filter(({ lookBackMs }) => lookBackMs === LONG_OVERLAP_MS);
  };
  await poller.firstAttempt;
  expect(await longReads(9_000)).toEqual([
    { lookBackMs: LONG_OVERLAP_MS, seen: 1 },
    { lookBackMs: LONG_OVERLAP_MS, seen: 1 },
  ]);
  records = 5_001;
  await vi.advanceTimersByTimeAsync(200);
  records = 1;
  expect(await longReads(59_000)).toEqual([]);
  expect(await longReads(2_000)).toEqual([{ lookBackMs: LONG_OVERLAP_MS, seen: 1 }]);
});
