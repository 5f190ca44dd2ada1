import { setImmediate as nextTurn } from 'node:timers/promises';
import { LIVE_FRAMES_PER_SECOND, LIVE_HEARTBEAT_S } from '../../contract/live/events.ts';
import type { SiteChanges } from '../../core/changes/site-changes.ts';
import type { Sql } from '../../core/database/database.ts';
import { readLiveComments, readLiveCounts } from '../../core/live/read-live.ts';
import type { Log } from '../../core/log.ts';
import { encode, encodeEnding, encodeHeartbeat, encodeOpening, encodeRefetch, eventDataOf } from './event-frames.ts';
import type { EventStream } from './event-stream.ts';
import { type Interest, Interests } from './interests.ts';
import { PendingNews, type Since } from './pending-news.ts';

const INTERVAL_MS = 1_000 / LIVE_FRAMES_PER_SECOND;

/** After a failure to read what changed; it is kept meanwhile. */
const RETRY_INTERVAL_MS = 1_000;

/** Writes to sockets before others get their turn: thousands of streams must not hold up a request. */
const WRITES_PER_TURN = 250;

export interface LiveStats {
  open: number;
  /** Streams that were let go because their client did not read. */
  dropped: number;
  /** Frames that were sent, heartbeats not among them, once for each stream. */
  frames: number;
}

/** What open pages are told. */
export interface Live {
  /** Tells a stream from now on about some products, or about all counts; first of what it missed `since` a moment. */
  open(stream: EventStream, productIds: readonly string[] | undefined, since: Since | undefined): void;
  stats(): LiveStats;
  /** Ends every stream: its client is to come back. */
  close(): void;
}

export interface LiveOptions {
  database: Sql;
  changes: SiteChanges;
  log: Log;
}

/**
 * Tells all open pages what changed, at most a few times a second: one reading of the database for all of them, and one
 * buffer for all that want to hear the same. Nothing runs while nothing happens, but for a heartbeat while there are streams.
 */
export function createLive({ database, changes, log }: LiveOptions): Live {
  const interests = new Interests();
  const stats: LiveStats = { open: 0, dropped: 0, frames: 0 };
  let pending = new PendingNews();
  let heartbeat: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isTelling = false;
  let isFailing = false;
  let nextAt = 0;
  /** Everything that was heard of up to this moment was told. */
  let toldUpTo: number | undefined;

  changes.follow({
    onChange(change) {
      if (stats.open === 0) return;
      pending.add(change, interests);
      schedule();
    },
    onGap() {
      if (stats.open === 0) return;
      pending.addEverything();
      schedule();
    },
  });

  function schedule(): void {
    if (isTelling || timer !== undefined || pending.isEmpty()) return;
    timer = setTimeout(tell, Math.max(0, nextAt - performance.now()));
  }

  async function tell(): Promise<void> {
    timer = undefined;
    isTelling = true;
    const untold = pending;
    pending = new PendingNews();
    const heardUpTo = changes.heardUpTo();
    try {
      await send(untold, heardUpTo);
      toldUpTo = heardUpTo;
      isFailing = false;
    } catch (error) {
      if (!isFailing) log.warn({ err: error }, 'Open pages cannot be told of changes yet');
      isFailing = true;
      pending.takeBack(untold);
      nextAt = performance.now() + RETRY_INTERVAL_MS;
    }
    isTelling = false;
    if (stats.open === 0) pending = new PendingNews();
    schedule();
  }

  async function send(untold: PendingNews, id: number | undefined): Promise<void> {
    const { tellings, productIds, commentProductIds, commentIds } = untold.plan(interests, changes);
    const [counts, comments] = await Promise.all([
      readLiveCounts(database, productIds),
      readLiveComments(database, commentProductIds, commentIds),
    ]);
    nextAt = performance.now() + INTERVAL_MS;
    const data = eventDataOf(counts, comments);
    for (const { streams, withComments, about } of tellings) {
      const bytes = about === undefined ? encodeRefetch(id) : encode(data, { ...about, withComments, id });
      if (bytes !== undefined) await sendToAll(streams, bytes);
    }
  }

  let writes = 0;
  async function sendToAll(streams: Iterable<EventStream>, bytes: Buffer): Promise<void> {
    for (const stream of streams) {
      stats.frames += 1;
      if (!stream.send(bytes)) stats.dropped += 1;
      writes += 1;
      if (writes % WRITES_PER_TURN === 0) await nextTurn();
    }
  }

  function beat(): void {
    if (!isTelling && pending.isEmpty()) toldUpTo = changes.heardUpTo();
    const bytes = encodeHeartbeat(toldUpTo);
    for (const { streams } of interests.all()) {
      for (const stream of streams) if (!stream.send(bytes)) stats.dropped += 1;
    }
  }

  function leave(stream: EventStream, interest: Interest): void {
    interests.remove(stream, interest);
    pending.forget(stream, interest);
    stats.open -= 1;
    if (stats.open > 0) return;
    clearInterval(heartbeat);
    heartbeat = undefined;
    clearTimeout(timer);
    timer = undefined;
    pending = new PendingNews();
  }

  return {
    open(stream, productIds, since) {
      // What another was not told of yet, this one will be.
      const interest = interests.add(stream, productIds);
      stats.open += 1;
      heartbeat ??= setInterval(beat, LIVE_HEARTBEAT_S * 1_000);
      stream.onClose(() => leave(stream, interest));
      stream.begin(encodeOpening(changes.heardUpTo()));
      if (since !== undefined) pending.resume(stream, interest, since);
      schedule();
    },
    stats: () => ({ ...stats }),
    close() {
      for (const { streams } of interests.all()) for (const stream of streams) stream.end(encodeEnding());
    },
  };
}
