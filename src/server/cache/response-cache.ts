import { setTimeout as pause } from 'node:timers/promises';
import type { Change } from '../../core/changes/change-feed.ts';
import { CoreError } from '../../core/core-error.ts';
import { type Log, type Runtime, systemRuntime } from '../../core/runtime.ts';
import {
  type CacheRequest,
  type Decision,
  decide,
  type EntryState,
  isExpired,
  NO_WRITE,
  nextRevalidationAt,
  step,
  type Version,
} from './cached-response.ts';
import { type Entry, EntryStore } from './entry-store.ts';
import { Revalidator } from './revalidator.ts';

/** A version of a response, as served for one request. */
export interface Served {
  version: Version;
  /**
   * Seconds since the version was last known to be current. Set only while revalidation fails or the change feed is
   * disconnected.
   */
  ageS: number | undefined;
}

/** Whether the response was current, was produced for the request, or may be stale. */
type CacheOutcome = 'hit' | 'miss' | 'stale';

interface ResponseCacheOptions {
  log: Log;
  maxBytes?: number;
  /**
   * If reads use replicas, a version may lack writes that other processes made up to this long before its revalidation.
   */
  otherProcessLagMs?: number;
  runtime?: Runtime;
  sleep?: (ms: number) => Promise<void>;
}

const MAX_BYTES = 64 * 1024 * 1024;

/** How long a request that could get an older version waits for a newer one; longer if this process is blocked. */
const MAX_WAIT_MS = 2_000;
/**
 * The wait is a series of this many timers. While the process is blocked, at most one of them elapses, so a newer
 * version still has time to finish.
 */
const WAIT_PARTS = 4;

/**
 * A cache of whole responses in memory, with stale-while-revalidate and stale-if-error (RFC 5861). It decides how to
 * serve each request; `cached-response.ts` contains the rules, and `revalidator.ts` produces the versions.
 */
export class ResponseCache {
  readonly #store: EntryStore;
  readonly #revalidator: Revalidator;
  readonly #runtime: Runtime;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #stats: Record<CacheOutcome, number> = { hit: 0, miss: 0, stale: 0 };
  #disconnectedAt: number | undefined;
  #reconnectedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ResponseCacheOptions) {
    const { log, maxBytes = MAX_BYTES, otherProcessLagMs = 0, runtime = systemRuntime } = options;
    const { sleep = (ms) => pause(ms, undefined, { ref: false }) } = options;
    this.#store = new EntryStore(maxBytes);
    this.#revalidator = new Revalidator(this.#store, { log, runtime, otherProcessLagMs, sleep });
    this.#runtime = runtime;
    this.#sleep = sleep;
  }

  /**
   * Returns a cached response if it is fresh enough, or else a promise of a response.
   * @throws the errors of `produce` and `charge`, if no cached response may be served instead.
   */
  get(request: CacheRequest): Promise<Served> | Served {
    const { key, freshness, notBefore = NO_WRITE } = request;
    const now = this.#runtime.monotonicMs();
    const entry = this.#find(key, now);
    if (entry === undefined) return this.#getFirst(request);
    const isConnected = this.#disconnectedAt === undefined;
    const reconnectedAt = this.#reconnectedAt;
    const required = { now, maxStaleMs: freshness.maxStaleMs, notBefore, isConnected, reconnectedAt };
    const decision = decide(entry.state, required);
    if (decision === 'wait') {
      return this.#getNext(entry, request, decide(entry.state, { ...required, notBefore: NO_WRITE }));
    }
    if (decision === 'stale') this.#revalidate(entry, request, now);
    return this.#serve(decision, entry.state);
  }

  /** Returns the response to send for a key without calling its route, or undefined if the route must decide. */
  peek(key: string): Served | undefined {
    const now = this.#runtime.monotonicMs();
    const entry = this.#find(key, now);
    if (entry?.state.version.head.status !== 200) return undefined;
    // Only a route can add the `Age` header.
    if (this.#disconnectedAt !== undefined || entry.state.kind === 'failing') return undefined;
    const decision = decide(entry.state, { now, maxStaleMs: entry.maxStaleMs, notBefore: NO_WRITE });
    if (decision === 'wait') return undefined;
    // Only a route can start a revalidation.
    if (decision === 'stale' && !this.#revalidator.has(key)) return undefined;
    return this.#serve(decision, entry.state);
  }

  /** Marks all responses affected by a change as stale, since the time of the change. */
  invalidate(change: Change): void {
    this.#store.invalidate(change, this.#runtime.monotonicMs() - (change.ageMs ?? 0));
  }

  invalidateAll(): void {
    this.#store.invalidateAll(this.#runtime.monotonicMs());
  }

  /** Returns whether the change feed is connected. */
  isConnected(): boolean {
    return this.#disconnectedAt === undefined;
  }

  /** Sets whether the change feed is connected. While it is disconnected, responses have an `Age` header. */
  setConnected(isConnected: boolean): void {
    if (isConnected) this.#reconnectedAt = this.#runtime.monotonicMs();
    this.#disconnectedAt = isConnected ? undefined : (this.#disconnectedAt ?? this.#runtime.monotonicMs());
  }

  sizeBytes(): number {
    return this.#store.bytes;
  }

  stats(): Readonly<Record<CacheOutcome, number>> {
    return this.#stats;
  }

  #find(key: string, now: number): Entry | undefined {
    const entry = this.#store.get(key);
    if (entry !== undefined && isExpired(entry.state, now)) {
      entry.state = step(entry.state, { type: 'expired' });
    }
    return entry;
  }

  #getFirst(request: CacheRequest): Promise<Served> {
    if (!this.#revalidator.isRunning(request.key)) request.charge?.('miss');
    return this.#revalidator.waitFor(request, this.#minTick(request, 0)).then((state) => this.#serve('miss', state));
  }

  /**
   * Waits for a newer version. If none is being produced, the request counts against the client's limits.
   * `withoutClaim` is the decision without the last-write cookie, which a client can forge.
   */
  #getNext(entry: Entry, request: CacheRequest, withoutClaim: Decision): Promise<Served> | Served {
    try {
      if (!this.#revalidator.isRunning(request.key)) request.charge?.(withoutClaim === 'wait' ? 'expired' : 'claim');
    } catch (refusal) {
      // If only the claim required a new version, the visitor gets the shared response instead of an error.
      if (withoutClaim === 'wait') throw refusal;
      return this.#serve(withoutClaim, entry.state);
    }
    return this.#waitForNext(entry, request);
  }

  /** Serves the next version, or the old one if the next one takes too long. */
  async #waitForNext(entry: Entry, request: CacheRequest): Promise<Served> {
    const next = this.#revalidator.waitFor(request, this.#minTick(request, entry.state.changedTick));
    const state = await Promise.race([next, this.#waitInParts()]);
    return state ? this.#serve('miss', state) : this.#serve('stale', entry.state);
  }

  async #waitInParts(): Promise<void> {
    for (let part = 0; part < WAIT_PARTS; part += 1) await this.#sleep(MAX_WAIT_MS / WAIT_PARTS);
  }

  /**
   * Returns the tick up to which a new version must include all changes. A page may lack changes after those that made
   * the old version stale. An API response must include every change, because the dependencies of its new version are
   * not yet known.
   */
  #minTick({ freshness }: CacheRequest, knownTick: number): number {
    return freshness.maxStaleMs > 0 ? knownTick : this.#store.tick;
  }

  #revalidate(entry: Entry, request: CacheRequest, now: number): void {
    if (this.#revalidator.has(request.key)) return;
    try {
      request.charge?.('stale');
    } catch (error) {
      // This client is over its limit. The next request from another client can start the revalidation.
      if (error instanceof CoreError) return;
      throw error;
    }
    this.#revalidator.schedule(request, nextRevalidationAt(entry.state, request.freshness) - now);
  }

  #serve(outcome: CacheOutcome, state: EntryState): Served {
    const since = state.kind === 'failing' ? state.since : this.#disconnectedSince(state);
    this.#stats[since === undefined ? outcome : 'stale'] += 1;
    return {
      version: state.version,
      ageS: since === undefined ? undefined : Math.floor((this.#runtime.monotonicMs() - since) / 1_000),
    };
  }

  /** Returns since when the version may be outdated, or undefined while the change feed is connected. */
  #disconnectedSince(state: EntryState): number | undefined {
    if (this.#disconnectedAt === undefined || state.kind === 'fresh') return this.#disconnectedAt;
    return Math.min(state.since, this.#disconnectedAt);
  }
}
