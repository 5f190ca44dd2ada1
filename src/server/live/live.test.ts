import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Change } from '../../core/changes/change-feed.ts';
import type { ChangeListener, SiteChanges } from '../../core/changes/site-changes.ts';
import { CoreError } from '../../core/core-error.ts';
import type { EventStream } from './event-stream.ts';
import { createLive, type Live } from './live.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const READ_ROWS = (ids: readonly string[]) => ids.map((id) => ({ id, upvotes: 1, comments: 0 }));

/** A stream without a socket, which records the frames that are sent to the client. */
class FakeStream {
  text = '';
  readonly buffers: Buffer[] = [];
  keepsUp = true;
  close = () => {};

  onClose(listener: () => void): void {
    this.close = listener;
  }
  begin(bytes: Buffer): void {
    this.text += bytes;
  }
  send(bytes: Buffer): boolean {
    this.text += bytes;
    this.buffers.push(bytes);
    return this.keepsUp;
  }
  end(bytes: Buffer): void {
    this.text += bytes;
  }
}

/** Creates live updates with a database and changes under the test's control. */
function setUp() {
  let listener: ChangeListener | undefined;
  const state = {
    observedUpTo: 1_000 as number | undefined,
    missed: undefined as ReturnType<SiteChanges['since']>,
    commentsCompleteSince: 0,
    /** The argument of each call of `commentsSince`. */
    lookups: [] as number[],
    isUnreachable: false,
    hold: undefined as Promise<void> | undefined,
    reads: [] as string[][],
  };
  const changes: SiteChanges = {
    onWrite() {},
    subscribe: (each) => {
      listener = each;
    },
    ready: Promise.resolve(),
    observedUpTo: () => state.observedUpTo,
    since: () => state.missed,
    commentsSince(time) {
      state.lookups.push(time);
      return { commentIds: ['c1'], completeSince: Math.max(time, state.commentsCompleteSince) };
    },
    now: () => new Date(),
    close: async () => {},
  };
  const database = {
    async query(_text: string, [ids]: readonly unknown[] = []) {
      state.reads.push(ids as string[]);
      if (state.isUnreachable) throw new CoreError('unavailable', 'The database is unreachable');
      await state.hold;
      return READ_ROWS(ids as string[]) as never;
    },
  };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const live = createLive({ database, changes, log, now: () => new Date() });
  const change = (...productIds: string[]) => listener?.onChange({ productIds, catalogue: false } satisfies Change);
  const reconnect = () => listener?.onDisconnect?.(undefined);
  return { live, state, log, change, reconnect };
}

function open(live: Live, productIds?: readonly string[], since?: number): FakeStream {
  const stream = new FakeStream();
  live.open(stream as unknown as EventStream, productIds, since);
  return stream;
}

describe('timers', () => {
  test('without streams, no timer runs and no read happens', async () => {
    const { live, state, change } = setUp();
    change('a');
    expect(vi.getTimerCount()).toBe(0);
    const stream = open(live);
    expect(vi.getTimerCount()).toBe(1);
    change('a');
    expect(vi.getTimerCount()).toBe(2);
    stream.close();
    expect(vi.getTimerCount()).toBe(0);
    expect(state.reads).toEqual([]);
    expect(live.stats()).toEqual({ open: 0, dropped: 0, frames: 0 });
  });

  test('one heartbeat serves all streams, and its id is the time up to which everything was delivered', async () => {
    const { live, state } = setUp();
    const streams = [open(live), open(live, ['a'])];
    expect(vi.getTimerCount()).toBe(1);
    state.observedUpTo = 26_000;
    await vi.advanceTimersByTimeAsync(25_000);
    for (const stream of streams) expect(stream.text).toMatch(/\n\n:\nid: 26000\n\n$/);
  });
});

test('heartbeats and stream endings are written to a limited number of streams in each turn of the event loop', async () => {
  const { live, state } = setUp();
  const streams = Array.from({ length: 600 }, (_, index) => open(live, index < 400 ? undefined : [`p-${index}`]));
  const written = (text: RegExp) => streams.filter((stream) => text.test(stream.text)).length;
  const heartbeat = /:\nid: 26000\n\n/;
  state.observedUpTo = 26_000;
  vi.advanceTimersByTime(25_000);
  expect(written(heartbeat)).toBe(250);
  while (written(heartbeat) < streams.length) await nextTurn();
  const ending = /retry: \d+\n\n$/;
  const closing = live.close();
  expect(written(ending)).toBeLessThanOrEqual(250);
  await closing;
  expect(written(ending)).toBe(streams.length);
});

describe('sharing', () => {
  test('streams with the same subscription share one buffer, and each product is read once', async () => {
    const { live, state, change } = setUp();
    const all = [open(live), open(live)];
    const named = [open(live, ['a', 'b']), open(live, ['b', 'a', 'a'])];
    const other = open(live, ['c']);
    change('a');
    change('a', 'd');
    await vi.advanceTimersByTimeAsync(0);
    expect(state.reads).toEqual([['a', 'd']]);
    for (const pair of [all, named]) expect(pair[0]?.buffers[0]).toBe(pair[1]?.buffers[0]);
    expect(other.buffers).toEqual([]);
    expect(live.stats().frames).toBe(4);
  });

  test('the next frame follows after a quarter of a second and contains all changes since the last one', async () => {
    const { live, change } = setUp();
    const stream = open(live);
    change('a');
    await vi.advanceTimersByTimeAsync(0);
    for (const id of ['b', 'c', 'd']) {
      change(id);
      await vi.advanceTimersByTimeAsync(80);
    }
    expect(stream.buffers).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(10);
    expect(
      stream.buffers
        .map(String)
        .join('')
        .match(/"id":"(\w)"/g),
    ).toEqual(['a', 'b', 'c', 'd'].map((id) => `"id":"${id}"`));
    expect(stream.buffers).toHaveLength(2);
  });

  test('subscribers of all counts refetch when too many counts changed at once', async () => {
    const { live, change } = setUp();
    const [all, named] = [open(live), open(live, ['p-1'])];
    change(...Array.from({ length: 1_001 }, (_, index) => `p-${index}`));
    await vi.advanceTimersByTimeAsync(0);
    expect(String(all.buffers[0])).toMatch(/^event: refetch\n/);
    expect(String(named.buffers[0])).toMatch(/^event: counts\ndata: \[\{"id":"p-1",/);
  });
});

describe('resuming streams', () => {
  const idsOf = ({ text }: FakeStream) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));

  test('a resuming stream gets no id before its missed changes, not even with a heartbeat', async () => {
    const { live, state, change } = setUp();
    open(live, ['a', 'b']);
    state.observedUpTo = 40_000;
    await vi.advanceTimersByTimeAsync(25_000);
    state.missed = { productIds: ['b'], catalogue: false };
    state.isUnreachable = true;
    const resumed = open(live, ['a', 'b'], 20_000);
    change('a');
    await vi.advanceTimersByTimeAsync(25_000);
    expect(resumed.text).toMatch(/^retry: \d+\n\n:\n\n$/);
    state.isUnreachable = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(resumed.buffers.map(String)).toEqual([
      ':\n\n',
      'event: counts\ndata: [{"id":"b","upvotes":1,"comments":0}]\nid: 40000\n\n',
    ]);
  });

  test('a resuming stream gets no frame of an earlier delivery, and all frames after its missed changes', async () => {
    const { live, state, change } = setUp();
    const earlier = open(live, ['a', 'b']);
    let release = () => {};
    state.hold = new Promise((resolve) => {
      release = resolve;
    });
    state.observedUpTo = 40_000;
    change('a');
    await vi.advanceTimersByTimeAsync(0);
    state.missed = { productIds: ['b'], catalogue: false };
    const resumed = open(live, ['a', 'b'], 20_000);
    state.observedUpTo = 50_000;
    release();
    await vi.advanceTimersByTimeAsync(0);
    expect(idsOf(earlier)).toEqual([1_000, 40_000]);
    expect(idsOf(resumed)).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    expect(idsOf(resumed)).toEqual([50_000]);
    state.observedUpTo = 60_000;
    change('a');
    await vi.advanceTimersByTimeAsync(250);
    expect(resumed.buffers.at(-1)).toBe(earlier.buffers.at(-1));
    expect(idsOf(resumed)).toEqual([50_000, 60_000]);
  });

  test('resuming streams share one lookup of comments, and refetch if their missed comments are unknown', async () => {
    const { live, state } = setUp();
    state.missed = { productIds: ['a'], catalogue: false };
    state.commentsCompleteSince = 401;
    const named = Array.from({ length: 200 }, (_, index) => open(live, ['a', `p-${index}`], 400 + index));
    const unnamed = open(live, undefined, 1);
    await vi.advanceTimersByTimeAsync(0);
    expect(state.lookups).toEqual([400]);
    const [late, ...others] = named;
    expect(late?.text).toContain('event: refetch');
    for (const stream of [...others, unnamed]) expect(stream.text).toContain('event: counts');
  });

  test('a stream that closes while its missed changes are read gets no further frames', async () => {
    const { live, state, change } = setUp();
    const other = open(live, ['a']);
    let release = () => {};
    state.hold = new Promise((resolve) => {
      release = resolve;
    });
    state.missed = { productIds: [], catalogue: false };
    const resumed = open(live, ['a'], 20_000);
    await vi.advanceTimersByTimeAsync(0);
    resumed.close();
    release();
    change('a');
    await vi.advanceTimersByTimeAsync(250);
    expect(other.buffers).toHaveLength(1);
    expect(resumed.buffers).toEqual([]);
  });

  test('a resuming stream is ended when the site stops, even before it gets its missed changes', () => {
    const { live } = setUp();
    const resumed = open(live, ['a'], 20_000);
    live.close();
    expect(resumed.text.match(/^retry: /gm)).toHaveLength(2);
  });
});

describe('failures', () => {
  test('changes during a database outage are delivered afterwards, and no event id sent earlier marks them as delivered', async () => {
    const { live, state, log, change } = setUp();
    const stream = open(live);
    state.isUnreachable = true;
    change('a');
    await vi.advanceTimersByTimeAsync(10_000);
    state.observedUpTo = 30_000;
    change('b');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(stream.text).not.toContain('event:');
    expect(stream.text).not.toContain('id: 30000');
    expect(log.warn).toHaveBeenCalledTimes(1);
    state.isUnreachable = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(String(stream.buffers.at(-1))).toContain('data: [{"id":"a","upvotes":1,"comments":0},{"id":"b",');
    expect(stream.text).toMatch(/id: 30000\n\n$/);
  });

  test('after an outage, every stream is told to refetch, because its page may have read outdated responses', async () => {
    const { live, reconnect } = setUp();
    const streams = [open(live), open(live, ['a'])];
    reconnect();
    await vi.advanceTimersByTimeAsync(0);
    for (const stream of streams) expect(stream.text).toContain('event: refetch');
  });

  test('a client that does not keep up is counted as dropped', async () => {
    const { live, change } = setUp();
    const stream = open(live);
    stream.keepsUp = false;
    change('a');
    await vi.advanceTimersByTimeAsync(0);
    expect(live.stats()).toMatchObject({ dropped: 1 });
  });
});
