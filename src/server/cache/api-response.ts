import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ReadApi } from '../../contract/api.ts';
import { paths } from '../../contract/paths.ts';
import { CoreError, productNotFound } from '../../core/core-error.ts';
import type { Runtime } from '../../core/runtime.ts';
import { lastWriteElsewhere } from '../http/last-write-cookie.ts';
import { REVALIDATE } from '../http/problems.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { API_FRESHNESS, type CacheableResponse, type CacheRequest } from './cached-response.ts';
import { trackDependencies } from './dependency-tracker.ts';
import type { ResponseCache } from './response-cache.ts';
import { sendFromCache } from './send-cached.ts';

type ApiResponse = Pick<CacheRequest, 'key' | 'produce'>;

/**
 * Sends an API response from the cache. `isCharged` is set if clients can request arbitrary URLs of this kind:
 * producing such a response counts against the search limit.
 */
export type SendApiResponse = (
  response: ApiResponse,
  request: FastifyRequest,
  reply: FastifyReply,
  isCharged?: boolean,
) => undefined | Promise<void>;

interface SenderOptions {
  cache: ResponseCache;
  runtime: Runtime;
  charge: ChargeRequest;
}

export function createApiSender({ cache, runtime, charge }: SenderOptions): SendApiResponse {
  return (response, request, reply, isCharged = false) => {
    const wanted: CacheRequest = {
      ...response,
      freshness: API_FRESHNESS,
      notBefore: lastWriteElsewhere(request, runtime),
      // A client can forge the claim that it has just written, so such requests count against the search limit. Over
      // the limit, the client gets the cached response instead of an error.
      charge(reason) {
        if (isCharged || reason === 'claim') charge('search', request, reason === 'claim' ? undefined : reply);
      },
    };
    return sendFromCache(cache, wanted, request, reply);
  };
}

export const periodNotFound = () => new CoreError('period_not_found', 'There is no leaderboard for this period');

/** Builds a URL with its parameters in a fixed order, so equivalent requests share one key. */
export function cacheKeyOf(path: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size > 0 ? `${path}?${given}` : path;
}

/** Builds a JSON response from the result of `read`, with its dependencies. */
export async function jsonResponse(api: ReadApi, read: (api: ReadApi) => Promise<unknown>): Promise<CacheableResponse> {
  const tracker = trackDependencies(api);
  const content = await read(tracker.api);
  return {
    status: 200,
    type: 'application/json; charset=utf-8',
    cacheControl: REVALIDATE,
    body: JSON.stringify(content),
    dependencies: tracker.dependencies(),
  };
}

/** The API's response about a product, under one key for all routes that use it. */
export function productResponse(api: ReadApi, id: string): Omit<CacheRequest, 'notBefore'> {
  return {
    key: paths.api.product(id),
    freshness: API_FRESHNESS,
    produce: () =>
      jsonResponse(api, async (tracked) => (await tracked.getProduct(id)) ?? Promise.reject(productNotFound())),
  };
}

/** Returns the body of a cached API response. @throws the error that the API would report. */
export async function readCached<Body>(cache: ResponseCache, response: Omit<CacheRequest, 'notBefore'>): Promise<Body> {
  const { version } = await cache.get(response);
  return JSON.parse(String(await version.content.bytes('identity')));
}

/** Like `readCached`, but returns null for an unknown product. */
export async function readCachedOrNull<Body>(...parameters: Parameters<typeof readCached>): Promise<Body | null> {
  try {
    return await readCached<Body>(...parameters);
  } catch (error) {
    if (error instanceof CoreError && error.code === 'product_not_found') return null;
    throw error;
  }
}

/** The API's response about related products, like `productResponse`. */
export function relatedResponse(api: ReadApi, id: string): Omit<CacheRequest, 'notBefore'> {
  return {
    key: paths.api.related(id),
    freshness: API_FRESHNESS,
    produce: () =>
      jsonResponse(api, async (tracked) => (await tracked.getRelatedProducts(id)) ?? Promise.reject(productNotFound())),
  };
}

/** The API's response with the first page of a leaderboard, like `productResponse`. */
export function boardResponse(api: ReadApi, period: string): Omit<CacheRequest, 'notBefore'> {
  return {
    key: paths.api.leaderboard(period),
    freshness: API_FRESHNESS,
    produce: () =>
      jsonResponse(
        api,
        async (tracked) => (await tracked.getLeaderboard(period, {})) ?? Promise.reject(periodNotFound()),
      ),
  };
}

/** The API's response about the standing of a launch, like `productResponse`. */
export function standingsResponse(api: ReadApi, id: string): Omit<CacheRequest, 'notBefore'> {
  return {
    key: paths.api.standings(id),
    freshness: API_FRESHNESS,
    produce: () =>
      jsonResponse(api, async (tracked) => (await tracked.getStandings(id)) ?? Promise.reject(productNotFound())),
  };
}
