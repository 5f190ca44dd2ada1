import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIVE_FRAMES_PER_SECOND, LIVE_HEARTBEAT_S } from '../../contract/live/events.ts';
import type { SiteChanges } from '../../core/changes/site-changes.ts';
import type { Sql } from '../../core/database/database.ts';
import { readLiveComments, readLiveCounts } from '../../core/live/read-live.ts';
import type { Log } from '../../core/runtime.ts';
import { type DeliveryEffect, type DeliveryEvent, NOTHING_TO_DELIVER, step } from './delivery-schedule.ts';
import {
  type EventStream,
  encode,
  encodeEnding,
  encodeHeartbeat,
  encodeOpening,
  encodeRefetch,
  eventDataOf,
} from './event-stream.ts';
import { PendingUpdates, type Since } from './pending-updates.ts';
import { type Subscription, Subscriptions } from './subscriptions.ts';

const DELIVERY_TIMING = { intervalMs: 1_000 / LIVE_FRAMES_PER_SECOND, retryMs: 1_000 };

/** Maximum number of socket writes per turn of the event loop: thousands of streams must not delay a request. */
const WRITES_PER_TURN = 250;

interface LiveStats {
  open: number;
  /** Streams that were closed because their client did not read. */
  dropped: number;
  /** Frames sent, counted for each stream, excluding heartbeats. */
  frames: number;
}

/** Live updates of open pages. */
export interface Live {
  /**
   * Subscribes a stream to products, or to the counts of all products if `productIds` is undefined. With `since`, the
   * stream first receives the changes after that time.
   */
  open(stream: EventStream, productIds: readonly string[] | undefined, since: Since | undefined): void;
  stats(): LiveStats;
  /** Ends every open stream; clients reconnect. Streams that are opened later stay open. */
  close(): Promise<void>;
}

interface LiveOptions {
  database: Sql;
  changes: SiteChanges;
  log: Log;
  /** Returns the site's time. Products that launch after this time are not reported. */
  now: () => Date;
}

/**
 * Sends changes to all open pages up to four times a second. Each delivery reads the database once for all pages, and
 * fills one buffer per subscription. Without changes, only the heartbeat runs; without streams, no timer runs.
 */
export function createLive({ database, changes, log, now }: LiveOptions): Live {
  const subscriptions = new Subscriptions();
  const stats: LiveStats = { open: 0, dropped: 0, frames: 0 };
  let pending = new PendingUpdates();
  let state = NOTHING_TO_DELIVER;
  let timer: NodeJS.Timeout | undefined;
  let heartbeat: NodeJS.Timeout | undefined;
  /** Every change observed up to this time has been delivered. */
  let deliveredUpTo: number | undefined;

  changes.subscribe({
    onChange(change) {
      if (stats.open === 0) return;
      pending.add(change, subscriptions);
      scheduleDelivery();
    },
    onGap: requestRefetches,
    onDisconnect(since) {
      // During an outage, pages may have read outdated responses from the cache.
      if (since === undefined) requestRefetches();
    },
  });

  function requestRefetches(): void {
    if (stats.open === 0) return;
    pending.addEverything();
    scheduleDelivery();
  }

  function scheduleDelivery(): void {
    if (!pending.isEmpty()) dispatch({ kind: 'changed', at: performance.now() });
  }

  function dispatch(event: DeliveryEvent): void {
    const next = step(state, event, DELIVERY_TIMING);
    state = next.state;
    for (const effect of next.effects) apply(effect);
  }

  function apply(effect: DeliveryEffect): void {
    switch (effect.kind) {
      case 'wait':
        timer = setTimeout(() => dispatch({ kind: 'due' }), effect.ms);
        break;
      case 'cancelWait':
        clearTimeout(timer);
        break;
      case 'deliver':
        void deliver();
        break;
      case 'warn':
        log.warn({ err: effect.error }, 'Cannot read changes for open pages; trying again');
    }
  }

  async function deliver(): Promise<void> {
    const batch = pending;
    pending = new PendingUpdates();
    const observedUpTo = changes.observedUpTo();
    try {
      const readAt = await send(batch, observedUpTo);
      batch.endResuming();
      deliveredUpTo = observedUpTo;
      dispatch({ kind: 'delivered', readAt, at: performance.now(), hasMore: hasMore() });
    } catch (error) {
      pending.restore(batch);
      dispatch({ kind: 'failed', at: performance.now(), error, hasMore: hasMore() });
    }
  }

  function hasMore(): boolean {
    if (stats.open === 0) pending = new PendingUpdates();
    return !pending.isEmpty();
  }

  /** Sends a batch. @returns the time at which the database was read. */
  async function send(batch: PendingUpdates, id: number | undefined): Promise<number> {
    const { deliveries, productIds, commentProductIds, commentIds } = batch.plan(subscriptions, changes);
    const at = now();
    const [counts, comments] = await Promise.all([
      readLiveCounts(database, productIds, at),
      readLiveComments(database, commentProductIds, commentIds, at),
    ]);
    const readAt = performance.now();
    const data = eventDataOf(counts, comments);
    for (const { streams, withComments, about } of deliveries) {
      const bytes = about === undefined ? encodeRefetch(id) : encode(data, { ...about, withComments, id });
      if (bytes !== undefined) await sendToAll(streams, bytes);
    }
    return readAt;
  }

  let writes = 0;
  async function forAll(streams: Iterable<EventStream>, write: (stream: EventStream) => void): Promise<void> {
    for (const stream of streams) {
      write(stream);
      writes += 1;
      if (writes % WRITES_PER_TURN === 0) await nextTurn();
    }
  }

  function sendTo(stream: EventStream, bytes: Buffer): void {
    if (!stream.send(bytes)) stats.dropped += 1;
  }

  async function sendToAll(streams: Iterable<EventStream>, bytes: Buffer): Promise<void> {
    await forAll(streams, (stream) => {
      stats.frames += 1;
      sendTo(stream, bytes);
    });
  }

  /**
   * Sends the heartbeat. Its id may be older than the id of a stream's last frame. A client that then reconnects gets
   * some changes again, which is harmless.
   */
  async function sendHeartbeat(): Promise<void> {
    if (state.kind !== 'delivering' && pending.isEmpty()) deliveredUpTo = changes.observedUpTo();
    const bytes = encodeHeartbeat(deliveredUpTo);
    const withoutId = encodeHeartbeat(undefined);
    for (const { streams, resuming } of subscriptions.all()) {
      await forAll(streams, (stream) => sendTo(stream, bytes));
      await forAll(resuming, (stream) => sendTo(stream, withoutId));
    }
  }

  function unsubscribe(stream: EventStream, subscription: Subscription): void {
    subscriptions.remove(stream, subscription);
    pending.remove(stream, subscription);
    stats.open -= 1;
    if (stats.open > 0) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
    pending = new PendingUpdates();
    dispatch({ kind: 'abandoned' });
  }

  return {
    open(stream, productIds, since) {
      const isResuming = since !== undefined;
      const subscription = subscriptions.add(stream, productIds, isResuming);
      stats.open += 1;
      heartbeat ??= setInterval(sendHeartbeat, LIVE_HEARTBEAT_S * 1_000);
      stream.onClose(() => unsubscribe(stream, subscription));
      stream.begin(encodeOpening(isResuming ? undefined : changes.observedUpTo()));
      if (isResuming) pending.resume(stream, subscription, since);
      scheduleDelivery();
    },
    stats: () => ({ ...stats }),
    async close() {
      for (const { streams, resuming } of subscriptions.all()) {
        await forAll([...streams, ...resuming], (stream) => stream.end(encodeEnding()));
      }
    },
  };
}
