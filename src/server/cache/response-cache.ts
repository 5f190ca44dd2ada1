import type { Change } from '../../core/changes/change-feed.ts';
import { CoreError } from '../../core/core-error.ts';
import { type Log, type Runtime, systemRuntime } from '../../core/runtime.ts';
import { Representations } from '../http/representations.ts';
import type { CacheableResponse, CachedHead, CacheRequest, RevalidationReason, Version } from './cached-response.ts';
import { decide, type EntryState, nextRevalidationAt, stateOf, step } from './entry-state.ts';
import { type Entry, EntryStore } from './entry-store.ts';

/** A version of a response, as served for one request. */
export interface Served {
  version: Version;
  /** Seconds since it was last known to be current, while revalidation fails or the change feed is disconnected. */
  ageS: number | undefined;
}

export interface ResponseCache {
  /**
   * Returns a cached response if it is fresh enough, or else a promise of a response.
   * @throws the errors of `produce` and `charge`, if there is no response to fall back on.
   */
  get(request: CacheRequest): Promise<Served> | Served;
  /** Returns the response to send for a key without calling its route, or undefined if the route must decide. */
  peek(key: string): Served | undefined;
  /** Marks responses that depend on a change as stale. */
  invalidate(change: Change): void;
  invalidateAll(): void;
  /** Whether the change feed is connected; while it is not, responses carry their age. */
  setConnected(isConnected: boolean): void;
  sizeBytes(): number;
  stats(): Readonly<Record<CacheOutcome, number>>;
}

/** The response was current, was produced for the request, or may be stale. */
export type CacheOutcome = 'hit' | 'miss' | 'stale';

export interface ResponseCacheOptions {
  log: Log;
  maxBytes?: number;
  /**
   * If reads use replicas, a version may lack writes that other processes made up to this long before its production.
   */
  otherProcessLagMs?: number;
  runtime?: Runtime;
  sleep?: (ms: number) => Promise<void>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** No request waits longer for a newer version if there is an older one. */
const MAX_WAIT_MS = 2_000;

/** An older response counts as stale even without a known change, because changes may be lost. */
const MAX_AGE_MS = 60_000;

type ProductionStart = Pick<Version, 'startedAt' | 'startedTick' | 'includesUpTo'>;

/** The production of one version. */
interface Production extends ProductionStart {
  outcome: Promise<Outcome>;
}

type Outcome = { version: Version } | { error: unknown; isFinal: boolean };

/** The changes that a waiting request must see: everything up to a time, and up to an event. */
interface MinVersion {
  notBefore: number;
  tick: number;
}

/**
 * A cache of whole responses in memory: stale-while-revalidate and stale-if-error (RFC 5861). One version of a response
 * is produced at a time for all requests. `entry-state.ts` holds the rules that this function applies.
 */
export function createResponseCache(options: ResponseCacheOptions): ResponseCache {
  const { log, maxBytes = MAX_BYTES, otherProcessLagMs = 0, runtime = systemRuntime, sleep = pause } = options;
  const { monotonicMs } = runtime;
  const store = new EntryStore(maxBytes);
  const productions = new Map<string, Production>();
  /** Keys that are revalidated once their interval is over. */
  const scheduled = new Set<string>();
  const stats: Record<CacheOutcome, number> = { hit: 0, miss: 0, stale: 0 };
  let disconnectedAt: number | undefined;
  /** Orders changes and productions that happen in the same millisecond. */
  let tick = 0;
  let lastChangeTick = 0;

  function get(request: CacheRequest): Promise<Served> | Served {
    const at = monotonicMs();
    const entry = findEntry(request.key, at);
    const notBefore = request.notBefore ?? Number.NEGATIVE_INFINITY;
    if (entry === undefined) {
      // Until the dependencies of a response are known, any change may affect it. Only pages may lag behind changes.
      if (!productions.has(request.key)) begin(request, 'miss');
      return waitForVersion(request, { notBefore, tick: request.freshness.maxStaleMs > 0 ? 0 : lastChangeTick });
    }
    const { freshness } = request;
    const maxStaleMs = allowedStaleMs(freshness.maxStaleMs);
    const decision = decide(entry.state, { now: at, maxStaleMs, notBefore });
    if (decision === 'hit') return serve('hit', entry.state);
    if (decision === 'stale') {
      revalidateInBackground(entry, request, at);
      return serve('stale', entry.state);
    }
    if (!productions.has(request.key)) {
      const unclaimed = decide(entry.state, { now: at, maxStaleMs, notBefore: Number.NEGATIVE_INFINITY });
      try {
        begin(request, unclaimed === 'wait' ? 'stale' : 'claim');
      } catch (refusal) {
        // If only the claim required a new version, the visitor gets the shared response instead of the refusal.
        if (unclaimed === 'wait') throw refusal;
        return serve(unclaimed, entry.state);
      }
    }
    const next = waitForVersion(request, { notBefore, tick: entry.state.changedTick });
    return Promise.race([next, sleep(MAX_WAIT_MS).then(() => serve('stale', entry.state))]);
  }

  function peek(key: string): Served | undefined {
    const at = monotonicMs();
    const entry = findEntry(key, at);
    if (entry?.state.version.head.status !== 200) return undefined;
    if (disconnectedAt !== undefined || entry.state.kind === 'failing') return undefined;
    const decision = decide(entry.state, {
      now: at,
      maxStaleMs: entry.maxStaleMs,
      notBefore: Number.NEGATIVE_INFINITY,
    });
    if (decision === 'wait') return undefined;
    // A route has to start the revalidation.
    if (decision === 'stale' && !productions.has(key) && !scheduled.has(key)) return undefined;
    return serve(decision, entry.state);
  }

  function findEntry(key: string, at: number): Entry | undefined {
    const entry = store.get(key);
    if (entry?.state.kind === 'fresh' && at - entry.state.version.startedAt > MAX_AGE_MS) {
      tick += 1;
      entry.state = step(entry.state, { type: 'changed', tick, at });
    }
    return entry;
  }

  /** If the database cannot even report changes, rendering a page may hang: pages are served as they are. */
  function allowedStaleMs(maxStaleMs: number): number {
    return disconnectedAt !== undefined && maxStaleMs > 0 ? Number.POSITIVE_INFINITY : maxStaleMs;
  }

  function serve(outcome: CacheOutcome, state: EntryState): Served {
    const since = state.kind === 'failing' ? state.since : disconnectedAt;
    stats[since === undefined ? outcome : 'stale'] += 1;
    return {
      version: state.version,
      ageS: since === undefined ? undefined : Math.floor((monotonicMs() - since) / 1_000),
    };
  }

  async function waitForVersion(request: CacheRequest, minVersion: MinVersion): Promise<Served> {
    for (;;) {
      const production = productions.get(request.key) ?? start(request);
      const outcome = await production.outcome;
      const isNewEnough = production.includesUpTo >= minVersion.notBefore && production.startedTick > minVersion.tick;
      if ('version' in outcome) {
        if (isNewEnough) return serve('miss', stateOf(outcome.version, 0));
        continue;
      }
      const older = outcome.isFinal ? undefined : store.get(request.key);
      if (older !== undefined) return serve('stale', older.state);
      if (isNewEnough) throw outcome.error;
    }
  }

  function revalidateInBackground(entry: Entry, request: CacheRequest, at: number): void {
    const { key } = entry;
    if (productions.has(key) || scheduled.has(key)) return;
    const delayMs = nextRevalidationAt(entry.state, request.freshness) - at;
    try {
      if (delayMs <= 0) return void begin(request, 'stale');
      request.charge?.('stale');
    } catch (error) {
      // This client is over its limit; the request of another client starts the revalidation.
      if (error instanceof CoreError) return;
      throw error;
    }
    scheduled.add(key);
    void sleep(delayMs).then(() => {
      // Another request may have started the revalidation during the wait.
      if (scheduled.delete(key) && !productions.has(key)) start(request);
    });
  }

  function begin(request: CacheRequest, reason: RevalidationReason): Production {
    request.charge?.(reason);
    return start(request);
  }

  function start(request: CacheRequest): Production {
    const { key, produce, notBefore = Number.NEGATIVE_INFINITY } = request;
    scheduled.delete(key);
    tick += 1;
    const startedAt = monotonicMs();
    // Reads for a visitor who has just written include that write, even if they use a replica.
    const includesUpTo = Math.max(notBefore, startedAt - otherProcessLagMs);
    const productionStart = { startedAt, startedTick: tick, includesUpTo };
    // Production starts in a later microtask, so the request that causes it is served first if possible.
    const outcome = Promise.resolve()
      .then(produce)
      .then((response) => finish(request, response, productionStart))
      .catch((error: unknown) => fail(key, error, startedAt))
      .finally(() => productions.delete(key));
    const production = { ...productionStart, outcome };
    productions.set(key, production);
    return production;
  }

  function finish(
    { key, freshness }: CacheRequest,
    { body, ...head }: CacheableResponse,
    productionStart: ProductionStart,
  ): Outcome {
    const old = store.get(key);
    if (old !== undefined && head.status >= 500) throw new Error(`The response has status ${head.status}`);
    const produced: Version = {
      ...productionStart,
      head,
      content: new Representations(body),
      contentSince: runtime.now().getTime(),
      tookMs: monotonicMs() - productionStart.startedAt,
    };
    const state = old ? step(old.state, { type: 'produced', version: produced }) : stateOf(produced, lastChangeTick);
    if (isStorable(head)) store.set({ key, state, maxStaleMs: freshness.maxStaleMs });
    else store.delete(key);
    return { version: state.version };
  }

  function fail(key: string, error: unknown, startedAt: number): Outcome {
    const entry = store.get(key);
    const isFinal = isResponseError(error);
    if (isFinal) store.delete(key);
    else if (entry !== undefined) {
      if (entry.state.kind !== 'failing') {
        log.warn({ err: error, key }, 'Cannot revalidate a response. Serving the last good one.');
      }
      entry.state = step(entry.state, { type: 'failed', startedAt, at: monotonicMs() });
    }
    return { error, isFinal };
  }

  function markStale(entries: Iterable<Entry>): void {
    tick += 1;
    lastChangeTick = tick;
    const at = monotonicMs();
    for (const entry of entries) entry.state = step(entry.state, { type: 'changed', tick, at });
  }

  return {
    get,
    peek,
    invalidate: (change) => markStale(store.dependents(change)),
    invalidateAll: () => markStale(store.all()),
    setConnected(isConnected) {
      disconnectedAt = isConnected ? undefined : (disconnectedAt ?? monotonicMs());
    },
    sizeBytes: () => store.bytes,
    stats: () => stats,
  };
}

/**
 * 404 responses for arbitrary ids are not stored, because they would evict other responses; the shared 404 page is.
 * Unfinished lists are not stored, either.
 */
function isStorable({ status, dependencies }: CachedHead): boolean {
  return (status === 200 && !dependencies.unfinished) || (status === 404 && dependencies.products.length === 0);
}

/** Whether an error is the response, such as an unknown product, and not a failure to produce it. */
function isResponseError(error: unknown): boolean {
  return error instanceof CoreError && error.code !== 'unavailable' && error.code !== 'overloaded';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
