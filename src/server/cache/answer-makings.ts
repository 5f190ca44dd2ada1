import { CoreError } from '../../core/core-error.ts';
import type { Log } from '../../core/log.ts';
import { Representations } from '../http/representations.ts';
import type { Answer, AnswerHead, AnswerRequest, Freshness } from './answer.ts';
import type { Entry, EntryStore } from './entry-store.ts';

/** After a failure, the next attempt waits this long: a database that is coming back is not to be stormed. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * While a page is made, nobody is answered: with making every page again taking 4 % of the time, 99 of 100 requests do not
 * notice. An answer that may not lag at all is made at once.
 */
const MAKING_SHARE = 0.04;
const LONGEST_INTERVAL_MS = 750;

export interface Makings {
  /** Makes the first version of an answer, unless that is under way; never for two at a time. */
  first(request: AnswerRequest): FirstMaking;
  /** Makes the next version of one that there is, unless that is under way; never rejects. */
  next(entry: Entry, request: AnswerRequest): Promise<void>;
  /** Says that something changed. @returns its place in the count of beginnings and changes. */
  noteChange(): number;
}

/** By the wall clock, and in the count of beginnings and changes, since several fall into one millisecond. */
type Beginning = Pick<Entry, 'startedAt' | 'startedTick'>;

interface FirstMaking {
  made: Promise<Entry>;
  /** It had begun for somebody else, before what this request must be shown. */
  mayBeTooOld: boolean;
}

interface MakingsOptions {
  /** Has what was made and is kept. */
  store: EntryStore;
  log: Log;
  now: () => number;
  sleep: (ms: number) => Promise<void>;
}

/** Makes answers: one making in flight per key however many ask, and one version after the other. */
export function createMakings({ store, log, now, sleep }: MakingsOptions): Makings {
  const firstMakings = new Map<string, Beginning & { made: Promise<Entry> }>();
  let tick = 0;
  let lastChangeTick = 0;

  const begin = (): Beginning => ({ startedAt: now(), startedTick: ++tick });

  function first(request: AnswerRequest): FirstMaking {
    const { key } = request;
    const underWay = firstMakings.get(key);
    if (underWay !== undefined) return { made: underWay.made, mayBeTooOld: isTooOld(underWay, request) };
    const beginning = begin();
    const made = make(request, beginning).finally(() => firstMakings.delete(key));
    firstMakings.set(key, { ...beginning, made });
    return { made, mayBeTooOld: false };
  }

  function isTooOld({ startedAt, startedTick }: Beginning, { freshness, notBefore = 0 }: AnswerRequest): boolean {
    // Any change counts: what it will depend on is not known yet.
    return startedAt < notBefore || (freshness.maxOutdatedMs === 0 && startedTick < lastChangeTick);
  }

  async function make({ key, freshness, produce }: AnswerRequest, beginning: Beginning): Promise<Entry> {
    const { body, ...answer } = await produce();
    const entry: Entry = {
      key,
      maxOutdatedMs: freshness.maxOutdatedMs,
      answer,
      content: new Representations(body),
      contentSince: beginning.startedAt,
      ...beginning,
      tookMs: now() - beginning.startedAt,
      droppedTick: lastChangeTick,
      // A change that came in between may or may not be in it.
      outdatedSince: lastChangeTick > beginning.startedTick ? now() : undefined,
      refreshing: undefined,
      failedAt: undefined,
      goneWith: undefined,
    };
    if (isKept(answer)) store.add(entry);
    return entry;
  }

  function next(entry: Entry, request: AnswerRequest): Promise<void> {
    entry.refreshing ??= makeNext(entry, request).finally(() => {
      entry.refreshing = undefined;
    });
    return entry.refreshing;
  }

  async function makeNext(entry: Entry, { produce, freshness }: AnswerRequest): Promise<void> {
    const { startedAt: lastStart, failedAt } = entry;
    const earliest = failedAt === undefined ? lastStart + intervalMs(entry, freshness) : failedAt + RETRY_INTERVAL_MS;
    if (earliest > now()) await sleep(earliest - now());
    const beginning = begin();
    try {
      const answer = await produce();
      if (answer.status >= 500) throw new Error(`The answer could not be made: status ${answer.status}`);
      replace(entry, answer, beginning);
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
      entry.outdatedSince ??= beginning.startedAt;
    }
  }

  function replace(entry: Entry, { body, ...answer }: Answer, beginning: Beginning): void {
    const wasThere = store.remove(entry);
    const content = new Representations(body);
    // What has not changed stays as it is, with its date and whatever was compressed of it.
    const isSame = answer.status === entry.answer.status && content.tag('identity') === entry.content.tag('identity');
    Object.assign(entry, {
      answer,
      ...(isSame ? {} : { content, contentSince: beginning.startedAt }),
      ...beginning,
      tookMs: now() - beginning.startedAt,
      failedAt: undefined,
    });
    entry.outdatedSince = entry.droppedTick > beginning.startedTick ? now() : undefined;
    // One that had to go meanwhile heard of no change since then, and another may have come in its place.
    if (wasThere && isKept(answer)) store.add(entry);
  }

  function noteChange(): number {
    lastChangeTick = ++tick;
    return lastChangeTick;
  }

  return { first, next, noteChange };
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
