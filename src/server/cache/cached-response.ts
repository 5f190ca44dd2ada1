import type { Representations } from '../http/representations.ts';

/** A GET response that is the same for every visitor, and its dependencies. */
export interface CacheableResponse {
  status: number;
  type: string;
  cacheControl: string;
  body: string;
  dependencies: Dependencies;
  /** A request header, besides Accept-Encoding, on which the response depends. */
  vary?: string;
  /**
   * Whether the response has `Last-Modified`, for clients without ETags. The header counts whole seconds, so such a
   * response must use `FEED_FRESHNESS`, which limits revalidations to one per second.
   */
  isDated?: boolean;
}

/** The stored parts of a response besides the bytes of its body. */
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

/** One version of a cached response. */
export interface Version {
  head: CachedHead;
  content: Representations;
  /** The wall-clock time, in milliseconds, at which the first revalidation with this content began. */
  contentSince: number;
  /** When the revalidation began, on the monotonic clock. */
  startedAt: number;
  /** The number of changes before the revalidation began. The version includes all of them. */
  startedTick: number;
  /** The version includes the writes of all processes up to this time. */
  includesUpTo: number;
  tookMs: number;
}

/** How fresh a response must be, in milliseconds. */
export interface Freshness {
  /** Minimum time between two background revalidations; longer if producing the response is slow. */
  minIntervalMs: number;
  /** How long after a change the stale response may be served while the next one is produced. */
  maxStaleMs: number;
}

/**
 * Why a request causes a revalidation: there is no version (`miss`), the version is too old to be served (`expired`),
 * the version is served during the revalidation (`stale`), or the visitor claims to have just written (`claim`).
 */
export type RevalidationReason = 'miss' | 'expired' | 'stale' | 'claim';

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

/** The `notBefore` of a visitor without a recent write. */
export const NO_WRITE = Number.NEGATIVE_INFINITY;

/** A page takes milliseconds to render, and may lag briefly behind the writes of other visitors. */
export const PAGE_FRESHNESS: Freshness = { minIntervalMs: 250, maxStaleMs: 1_000 };

/** A feed has `Last-Modified` in seconds, and its subscribers can wait a second. */
export const FEED_FRESHNESS: Freshness = { minIntervalMs: 1_000, maxStaleMs: 1_000 };

/** An API response costs one SQL statement, and must show every write acknowledged before the request. */
export const API_FRESHNESS: Freshness = { minIntervalMs: 0, maxStaleMs: 0 };
