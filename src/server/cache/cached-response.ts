import { REVALIDATE } from '../http/cache-control.ts';
import type { Representations } from '../http/representations.ts';

/** A GET response that is the same for every visitor, and its dependencies. */
export interface CacheableResponse {
  status: number;
  type: string;
  cacheControl: string;
  body: string;
  dependencies: Dependencies;
  /** A request header, other than Accept-Encoding, on which the response depends. */
  vary?: string;
  /**
   * Whether the response has `Last-Modified`, for clients that do not support ETags. The header counts whole seconds,
   * so the response must use `FEED_FRESHNESS`, which limits revalidations to one per second.
   */
  isDated?: boolean;
  /** Whether a part, such as the comments of a page, could not be read. */
  isIncomplete?: boolean;
}

/** Returns a response with status 200 that depends on no data. */
export function constantResponse(type: string, body: string): CacheableResponse {
  const dependencies = { products: [], catalogue: false, allCounts: false, unfinished: false };
  return { status: 200, type, cacheControl: REVALIDATE, body, dependencies };
}

/** The parts of a cached response other than its body. */
export type CachedHead = Omit<CacheableResponse, 'body'>;

/** The data that a response depends on. */
export interface Dependencies {
  /** The products that the response shows. */
  products: readonly string[];
  /** Whether the response also depends on the catalogue (see `Change.catalogue`). */
  catalogue: boolean;
  /** Whether the response depends on the counts of all products, as a list ordered by them does. */
  allCounts: boolean;
  /** Whether a search timed out before it filled a page, so the same search may find more next time. */
  unfinished: boolean;
}

/** The dependencies of a response that neither counts nor comments affect. */
export const CATALOGUE_ONLY: Dependencies = { products: [], catalogue: true, allCounts: false, unfinished: false };

/** One version of a cached response. */
export interface Version {
  head: CachedHead;
  content: Representations;
  /**
   * When the first revalidation that produced this content began, as wall-clock time in milliseconds. If the clock was
   * set back, this is one second later than the `contentSince` of the previous content.
   */
  contentSince: number;
  /** When the revalidation began, on the monotonic clock. */
  startedAt: number;
  /** The number of changes before the revalidation began. The version includes all of them. */
  startedTick: number;
  /** The version includes the writes of all processes up to this time of the monotonic clock. */
  includesUpTo: number;
  tookMs: number;
}

/** How fresh a response must be, in milliseconds. */
export interface Freshness {
  /** Minimum time between the starts of two background revalidations; longer if producing the response is slow. */
  minIntervalMs: number;
  /** How long after a change the stale response may be served while the next one is produced. */
  maxStaleMs: number;
}

/** The state of a cached response. Times are in milliseconds of the monotonic clock; ticks number the known changes. */
export type EntryState =
  | { kind: 'fresh'; version: Version; changedTick: number }
  /** A dependency may have changed at the time `since` or later. */
  | { kind: 'stale'; version: Version; changedTick: number; since: number }
  /** The revalidations since `failingSince` failed, the last one at `failedAt` (stale-if-error). */
  | {
      kind: 'failing';
      version: Version;
      changedTick: number;
      since: number;
      failingSince: number;
      failedAt: number;
    };

export type EntryEvent =
  /** A dependency changed at `at`, which may lie in the past: a launch becomes known some time after it happened. */
  | { type: 'changed'; tick: number; at: number }
  | { type: 'expired' }
  | { type: 'produced'; version: Version }
  | { type: 'failed'; startedAt: number; at: number };

/**
 * Why a request causes a revalidation: there is no version (`miss`), the version is too old to be served (`expired`),
 * the version is served during the revalidation (`stale`), or the visitor claims to have just written (`claim`).
 */
export type RevalidationReason = 'miss' | 'expired' | 'stale' | 'claim';

/** A request for a response, and how to produce the response if the cache has no suitable version. */
export interface CacheRequest {
  /**
   * A canonical name: equivalent URLs have the same key, and all requests with one key have the same freshness. If the
   * key is a URL, it identifies the response of that URL, so the fast path finds the response without the route.
   */
  key: string;
  freshness: Freshness;
  /** @throws CoreError if the response does not exist, or any error if it cannot be produced now. */
  produce(): Promise<CacheableResponse>;
  /** The response must include the visitor's writes up to this time of the monotonic clock. */
  notBefore?: number | undefined;
  /** Counts the request against the client's limits before a revalidation. @throws CoreError `rate_limited`. */
  charge?: (reason: RevalidationReason) => void;
}

/** The `notBefore` of a visitor who has not written recently. */
export const NO_WRITE = Number.NEGATIVE_INFINITY;

/** A page takes milliseconds to render, and may lag briefly behind the writes of other visitors. */
export const PAGE_FRESHNESS: Freshness = { minIntervalMs: 250, maxStaleMs: 1_000 };

/** A feed has `Last-Modified` in seconds, and its subscribers can wait a second. */
export const FEED_FRESHNESS: Freshness = { minIntervalMs: 1_000, maxStaleMs: 1_000 };

/**
 * An API response costs at most a few SQL statements, and must include every write that was acknowledged before the
 * request.
 */
export const API_FRESHNESS: Freshness = { minIntervalMs: 0, maxStaleMs: 0 };

/** A response older than this counts as stale even without a known change, because change notifications may be lost. */
const MAX_AGE_MS = 60_000;

/** After a failure, the next attempt waits this long, so a recovering database is not flooded. */
const RETRY_INTERVAL_MS = 1_000;

/**
 * Rendering blocks the event loop, so revalidating one page should take at most this share of the time. Slow pages
 * exceed it, because their interval is at most `MAX_INTERVAL_MS`.
 */
const REVALIDATION_SHARE = 0.04;
const MAX_INTERVAL_MS = 750;

/** Returns the state of an entry after an event. */
export function step(state: EntryState, event: EntryEvent): EntryState {
  const { version, changedTick } = state;
  switch (event.type) {
    case 'changed': {
      const since = Math.max(event.at, version.startedAt);
      return state.kind === 'fresh'
        ? { kind: 'stale', version, changedTick: event.tick, since }
        : { ...state, changedTick: event.tick, since: Math.min(state.since, since) };
    }
    case 'expired':
      return state.kind === 'fresh'
        ? { kind: 'stale', version, changedTick, since: version.startedAt + MAX_AGE_MS }
        : state;
    case 'produced':
      return stateOf(withOldContent(version, event.version), changedTick);
    case 'failed': {
      const since = state.kind === 'fresh' ? event.startedAt : state.since;
      const failingSince = state.kind === 'failing' ? state.failingSince : event.at;
      return { kind: 'failing', version, changedTick, since, failingSince, failedAt: event.at };
    }
  }
}

/**
 * Returns the state of a new version. It is stale if a change occurred during its revalidation, because the version may
 * not include that change.
 */
export function stateOf(version: Version, changedTick: number): EntryState {
  return version.startedTick >= changedTick
    ? { kind: 'fresh', version, changedTick }
    : { kind: 'stale', version, changedTick, since: version.startedAt };
}

/**
 * Returns whether a new response may replace a stored one. An incomplete response replaces a complete one only after a
 * minute of failures: from then on, a page without the missing part is better than an outdated page.
 */
export function mayReplace({ status, isIncomplete = false }: CachedHead, old: EntryState, now: number): boolean {
  if (status >= 500) return false;
  const isOutdated = old.kind === 'failing' && now - old.failingSince > MAX_AGE_MS;
  return !isIncomplete || old.version.head.isIncomplete === true || isOutdated;
}

/**
 * Keeps the date and the compressed bytes of unchanged content. Changed content gets a later date, even if the wall
 * clock was set back: `If-Modified-Since` with the date of the old content must not match.
 */
function withOldContent(old: Version, version: Version): Version {
  const isSame =
    version.head.status === old.head.status && version.content.tag('identity') === old.content.tag('identity');
  if (isSame) return { ...version, content: old.content, contentSince: old.contentSince };
  return version.contentSince > old.contentSince ? version : { ...version, contentSince: old.contentSince + 1_000 };
}

/** Returns whether a fresh version is so old that it must become stale. */
export function isExpired({ kind, version }: EntryState, now: number): boolean {
  return kind === 'fresh' && now - version.startedAt > MAX_AGE_MS;
}

/** How fresh the response to a request must be. */
interface FreshnessRequirement {
  now: number;
  maxStaleMs: number;
  /** All writes up to this time must be visible. */
  notBefore: number;
  /** Whether the change feed is connected. */
  isConnected?: boolean;
  /** When the change feed was last reconnected. */
  reconnectedAt?: number;
}

/** Whether to serve the version as current, to serve it while the next one is produced, or to wait for the next one. */
export type Decision = 'hit' | 'stale' | 'wait';

/** Returns how to respond to a request from an entry in this state. */
export function decide(state: EntryState, requirement: FreshnessRequirement): Decision {
  const { now, maxStaleMs, notBefore, isConnected = true, reconnectedAt = NO_WRITE } = requirement;
  if (state.kind === 'failing') {
    // A reconnection or a write by the visitor after the failure shows that the database is back.
    const isBack = Math.max(notBefore, reconnectedAt) > state.failedAt;
    if (!isConnected || (now < retryAt(state) && !isBack)) return 'stale';
  }
  if (state.version.includesUpTo < notBefore) return 'wait';
  if (state.kind === 'fresh') return 'hit';
  // While the change feed is disconnected, the database may be unreachable, and rendering could hang. Pages of any age
  // are therefore served.
  if (!isConnected && maxStaleMs > 0) return 'stale';
  return now - state.since < maxStaleMs ? 'stale' : 'wait';
}

/** Returns when the next version may be produced in the background. */
export function nextRevalidationAt(state: EntryState, { minIntervalMs }: Freshness): number {
  if (state.kind === 'failing') return retryAt(state);
  const { startedAt, tookMs } = state.version;
  if (minIntervalMs === 0) return startedAt;
  return startedAt + Math.max(minIntervalMs, Math.min(tookMs / REVALIDATION_SHARE, MAX_INTERVAL_MS));
}

function retryAt({ failedAt }: { failedAt: number }): number {
  return failedAt + RETRY_INTERVAL_MS;
}
