import type { Change } from '../../core/changes/change.ts';
import type { Log } from '../../core/log.ts';
import type { Representations } from '../http/representations.ts';
import type { AnswerHead, AnswerRequest } from './answer.ts';
import { createMakings } from './answer-makings.ts';
import { type Entry, EntryStore } from './entry-store.ts';

/** What is sent: one version, and how honest it has to be about its age. */
export interface Served {
  answer: AnswerHead;
  content: Representations;
  /** Milliseconds since 1970: since when it has had just this content. */
  contentSince: number;
  /** Seconds since it was last known to be current, where it no longer is. */
  staleForS: number | undefined;
}

export interface AnswerCache {
  /** @throws whatever `produce` throws, where there is nothing older to fall back on. */
  get(request: AnswerRequest): Promise<Served> | Served;
  /**
   * Hands over what everybody who asks by this key gets at once, if it is there. @returns whether it was there and taken: else it
   * counts as not asked for.
   */
  offer(key: string, take: (served: Served) => boolean): boolean;
  /** Whether there is an answer for a key, however old. */
  has(key: string): boolean;
  /** Marks what depends on a change as outdated. */
  drop(change: Change): void;
  dropAll(): void;
  /** Says that changes cannot be heard of since a moment, or (undefined) that they are heard of again. */
  setDeafSince(moment: number | undefined): void;
  sizeBytes(): number;
  /** How many were answered how: kept and current, made for who asked, or as it was last known. */
  stats(): Readonly<Record<AnswerOutcome, number>>;
}

export type AnswerOutcome = 'kept' | 'made' | 'outdated';

export interface AnswerCacheOptions {
  log: Log;
  maxBytes?: number;
  /** The time in milliseconds, and waiting: a seam, so that no test sleeps. */
  now?: () => number;
  sleep?: (ms: number) => Promise<void>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** Nobody waits longer than this for a newer answer: then the outdated one is better than none. */
const MAX_WAIT_MS = 2_000;

/** Whatever became of the messages about changes, no answer is taken for current longer than this. */
const MAX_AGE_MS = 60_000;

/**
 * A cache of whole answers in memory. Each is made once per version; marked as outdated by what it depends on; given for a moment
 * longer while the next is made (stale-while-revalidate) and for as long as it takes while the next cannot be made (stale-if-error;
 * both RFC 5861).
 */
export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const { log, maxBytes = MAX_BYTES, now = Date.now, sleep = pause } = options;
  const store = new EntryStore(maxBytes);
  const makings = createMakings({ store, log, now, sleep });
  let deafSince: number | undefined;
  const stats: Record<AnswerOutcome, number> = { kept: 0, made: 0, outdated: 0 };

  function counted(outcome: AnswerOutcome, served: Served): Served {
    stats[served.staleForS === undefined ? outcome : 'outdated'] += 1;
    return served;
  }

  function get(request: AnswerRequest): Promise<Served> | Served {
    const asked = now();
    const entry = entryOf(request.key, asked);
    if (entry === undefined) return getFirst(request);
    entry.maxOutdatedMs = Math.min(entry.maxOutdatedMs, request.freshness.maxOutdatedMs);
    const isSeen = entry.startedAt >= (request.notBefore ?? 0);
    if (entry.outdatedSince === undefined && isSeen) return counted('kept', serve(entry));
    // Whoever sets the making off waits for it; the crowd that comes meanwhile does not.
    const setsOff = entry.refreshing === undefined;
    const refreshing = makings.next(entry, request);
    const mayLag = isSeen && (isAway(request) || (!setsOff && outdatedForMs(entry) < request.freshness.maxOutdatedMs));
    if (entry.failedAt !== undefined || mayLag) return counted('outdated', serve(entry));
    const { droppedTick } = entry;
    const waited = refreshing.then(() => {
      // The making that was under way may have begun before the change, or the visitor's own write.
      const isNewEnough = entry.startedTick > droppedTick && entry.startedAt >= (request.notBefore ?? 0);
      return isNewEnough || entry.failedAt !== undefined || entry.goneWith ? undefined : makings.next(entry, request);
    });
    return Promise.race([waited, sleep(MAX_WAIT_MS)]).then(() => counted('made', serve(entry)));
  }

  async function getFirst(request: AnswerRequest): Promise<Served> {
    const { made, mayBeTooOld } = makings.first(request);
    if (!mayBeTooOld) return counted('made', serve(await made));
    // Then there is one to make the next version of, unless it was not kept.
    await made.catch(() => {});
    return get(request);
  }

  function offer(key: string, take: (served: Served) => boolean): boolean {
    const entry = entryOf(key, now());
    if (entry === undefined || deafSince !== undefined || entry.failedAt !== undefined) return false;
    const isCurrent = entry.outdatedSince === undefined;
    // Somebody has to set off the making of the next: not here.
    const mayLag = entry.refreshing !== undefined && outdatedForMs(entry) < entry.maxOutdatedMs;
    if (!(isCurrent || mayLag) || !take(serve(entry))) return false;
    stats[isCurrent ? 'kept' : 'outdated'] += 1;
    return true;
  }

  function entryOf(key: string, asked: number): Entry | undefined {
    const entry = store.use(key);
    if (entry !== undefined && asked - entry.startedAt > MAX_AGE_MS) entry.outdatedSince ??= asked;
    return entry;
  }

  function serve(entry: Entry): Served {
    const { answer, content, contentSince, outdatedSince, failedAt, goneWith } = entry;
    if (goneWith !== undefined) throw goneWith;
    const since = failedAt === undefined ? deafSince : outdatedSince;
    return {
      answer,
      content,
      contentSince,
      staleForS: since === undefined ? undefined : Math.floor((now() - since) / 1000),
    };
  }

  /** A database that cannot even tell of changes may leave the making of a page without an answer for long: nobody waits for it. */
  function isAway({ freshness }: AnswerRequest): boolean {
    return deafSince !== undefined && freshness.maxOutdatedMs > 0;
  }

  function outdatedForMs({ outdatedSince }: Entry): number {
    return outdatedSince === undefined ? 0 : now() - outdatedSince;
  }

  function outdate(entries: Iterable<Entry>): void {
    const tick = makings.noteChange();
    for (const entry of entries) {
      entry.droppedTick = tick;
      entry.outdatedSince ??= now();
    }
  }

  return {
    get,
    offer,
    has: (key) => store.has(key),
    drop: (change) => outdate(store.dependents(change)),
    dropAll: () => outdate(store.all()),
    setDeafSince: (moment) => {
      deafSince = moment;
    },
    sizeBytes: () => store.bytes,
    stats: () => stats,
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
