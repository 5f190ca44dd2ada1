import type { Change } from '../../core/changes/change.ts';
import { CoreError } from '../../core/core-error.ts';
import type { Log } from '../../core/log.ts';
import { Representations } from '../http/representations.ts';
import type { Answer, AnswerHead, Freshness } from './answer.ts';
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

export interface AnswerRequest {
  /**
   * Names the answer, in one way only: two addresses that mean the same have the same key. One that is itself an address names what
   * that address has, so that `repeat-answers.ts` finds it without asking the route.
   */
  key: string;
  freshness: Freshness;
  /** @throws CoreError where there is no such answer, or anything else where it cannot be made now. */
  produce(): Promise<Answer>;
  /** Milliseconds since 1970: a visitor who wrote then must not see an older state. */
  notBefore?: number | undefined;
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

/** After a failure, the next attempt waits this long: a database that is coming back is not to be stormed. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * While a page is made, nobody is answered: with making every page again taking 4 % of the time, 99 of 100 requests do not
 * notice. An answer that may not lag at all is made at once.
 */
const MAKING_SHARE = 0.04;
const LONGEST_INTERVAL_MS = 750;

/** Whatever became of the messages about changes, no answer is taken for current longer than this. */
const MAX_AGE_MS = 60_000;

/**
 * A cache of whole answers in memory. Each is made once per version, one making in flight per key however many ask;
 * marked as outdated by what it depends on; given for a moment longer while the next is made (stale-while-revalidate) and
 * for as long as it takes while the next cannot be made (stale-if-error; both RFC 5861).
 */
export function createAnswerCache(options: AnswerCacheOptions): AnswerCache {
  const { log, maxBytes = MAX_BYTES, now = Date.now, sleep = pause } = options;
  const store = new EntryStore(maxBytes);
  const firstMakings = new Map<string, Promise<Entry>>();
  /** Counts beginnings and changes, since several fall into one millisecond. */
  let tick = 0;
  let lastDropTick = 0;
  let deafSince: number | undefined;
  const stats: Record<AnswerOutcome, number> = { kept: 0, made: 0, outdated: 0 };

  function counted(outcome: AnswerOutcome, served: Served): Served {
    stats[served.staleForS === undefined ? outcome : 'outdated'] += 1;
    return served;
  }

  function get(request: AnswerRequest): Promise<Served> | Served {
    const asked = now();
    const entry = entryOf(request.key, asked);
    if (entry === undefined) return makeFirst(request).then((made) => counted('made', serve(made)));
    entry.maxOutdatedMs = Math.min(entry.maxOutdatedMs, request.freshness.maxOutdatedMs);
    const isSeen = entry.startedAt >= (request.notBefore ?? 0);
    if (entry.outdatedSince === undefined && isSeen) return counted('kept', serve(entry));
    // Whoever sets the making off waits for it; the crowd that comes meanwhile does not.
    const setsOff = entry.refreshing === undefined;
    const refreshing = refresh(entry, request);
    const mayLag = isSeen && (isAway(request) || (!setsOff && outdatedForMs(entry) < request.freshness.maxOutdatedMs));
    if (entry.failedAt !== undefined || mayLag) return counted('outdated', serve(entry));
    const { droppedTick } = entry;
    const waited = refreshing.then(() => {
      // The making that was under way may have begun before the change, or the visitor's own write.
      const isNewEnough = entry.startedTick > droppedTick && entry.startedAt >= (request.notBefore ?? 0);
      return isNewEnough || entry.failedAt !== undefined || entry.goneWith ? undefined : refresh(entry, request);
    });
    return Promise.race([waited, sleep(MAX_WAIT_MS)]).then(() => counted('made', serve(entry)));
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

  function makeFirst(request: AnswerRequest): Promise<Entry> {
    const { key } = request;
    const making = firstMakings.get(key) ?? make(request).finally(() => firstMakings.delete(key));
    firstMakings.set(key, making);
    return making;
  }

  async function make({ key, freshness, produce }: AnswerRequest): Promise<Entry> {
    const [startedAt, startedTick] = [now(), ++tick];
    const { body, ...answer } = await produce();
    const entry: Entry = {
      key,
      maxOutdatedMs: freshness.maxOutdatedMs,
      answer,
      content: new Representations(body),
      contentSince: startedAt,
      startedAt,
      startedTick,
      tookMs: now() - startedAt,
      droppedTick: lastDropTick,
      // A change that came in between may or may not be in it.
      outdatedSince: lastDropTick > startedTick ? now() : undefined,
      refreshing: undefined,
      failedAt: undefined,
      goneWith: undefined,
    };
    if (isKept(answer)) store.add(entry);
    return entry;
  }

  /** Makes the next version, unless that is under way; never rejects. */
  function refresh(entry: Entry, request: AnswerRequest): Promise<void> {
    entry.refreshing ??= makeNext(entry, request).finally(() => {
      entry.refreshing = undefined;
    });
    return entry.refreshing;
  }

  async function makeNext(entry: Entry, { produce, freshness }: AnswerRequest): Promise<void> {
    const { startedAt: lastStart, failedAt } = entry;
    const earliest = failedAt === undefined ? lastStart + intervalMs(entry, freshness) : failedAt + RETRY_INTERVAL_MS;
    if (earliest > now()) await sleep(earliest - now());
    const [startedAt, startedTick] = [now(), ++tick];
    try {
      const answer = await produce();
      if (answer.status >= 500) throw new Error(`The answer could not be made: status ${answer.status}`);
      replace(entry, answer, { startedAt, startedTick });
    } catch (error) {
      if (isFinal(error)) {
        store.remove(entry);
        entry.goneWith = error;
        return;
      }
      if (failedAt === undefined) {
        log.warn({ err: error, key: entry.key }, 'Serving the last good answer while no new one can be made');
      }
      entry.failedAt = now();
      entry.outdatedSince ??= startedAt;
    }
  }

  function replace(
    entry: Entry,
    { body, ...answer }: Answer,
    { startedAt, startedTick }: Pick<Entry, 'startedAt' | 'startedTick'>,
  ): void {
    const wasThere = store.remove(entry);
    const content = new Representations(body);
    // What has not changed stays as it is, with its date and whatever was compressed of it.
    const isSame = answer.status === entry.answer.status && content.tag('identity') === entry.content.tag('identity');
    Object.assign(entry, {
      answer,
      ...(isSame ? {} : { content, contentSince: startedAt }),
      startedAt,
      startedTick,
      tookMs: now() - startedAt,
      failedAt: undefined,
    });
    entry.outdatedSince = entry.droppedTick > startedTick ? now() : undefined;
    // One that had to go meanwhile heard of no change since then, and another may have come in its place.
    if (wasThere && isKept(answer)) store.add(entry);
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
    lastDropTick = ++tick;
    for (const entry of entries) {
      entry.droppedTick = lastDropTick;
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

/**
 * What does not exist is not kept, lest made-up addresses push out what does; the one page that says so is. Nor is what
 * was not finished, and would be another time.
 */
function isKept({ status, reads }: AnswerHead): boolean {
  return (status === 200 && !reads.unfinished) || (status === 404 && reads.products.length === 0);
}

function intervalMs({ tookMs }: Entry, { minIntervalMs }: Freshness): number {
  if (minIntervalMs === 0) return 0;
  return Math.max(minIntervalMs, Math.min(tookMs / MAKING_SHARE, LONGEST_INTERVAL_MS));
}

/** Whether an error is the answer, such as that there is no such product, and not a failure to find it. */
function isFinal(error: unknown): error is CoreError {
  return error instanceof CoreError && error.code !== 'unavailable' && error.code !== 'overloaded';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
