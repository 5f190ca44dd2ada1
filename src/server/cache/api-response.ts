import type { FastifyReply, FastifyRequest } from 'fastify';
import * as paths from '../../contract/paths.ts';
import { CoreError, periodNotFound, productNotFound, standingNotFound } from '../../core/core-error.ts';
import type { Runtime } from '../../core/runtime.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import { lastWriteElsewhere } from '../http/last-write-cookie.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { API_FRESHNESS, type CacheRequest } from './cached-response.ts';
import { type CachedApi, trackDependencies } from './dependency-tracker.ts';
import type { ResponseCache } from './response-cache.ts';
import { chargeRevalidation, sendFromCache } from './send-cached.ts';

/** The cache key of an API response, its freshness rules, and the function that produces the response. */
type ApiResponse = Pick<CacheRequest, 'key' | 'freshness' | 'produce'>;

/**
 * Sends an API response from the cache. With `isCharged`, producing the response counts against the search limit,
 * because clients can request arbitrary URLs of this kind.
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
      notBefore: lastWriteElsewhere(request, runtime),
      charge: chargeRevalidation(charge, request, reply, isCharged),
    };
    return sendFromCache(cache, wanted, request, reply);
  };
}

/**
 * Describes the API response for a key. `produce` returns the result of `read` as JSON, with the dependencies of
 * `read`. If the result is null, it throws the error that `notFound` returns.
 */
export function apiResponse(
  api: CachedApi,
  key: string,
  read: (api: CachedApi) => Promise<unknown>,
  notFound = productNotFound,
): ApiResponse {
  return {
    key,
    freshness: API_FRESHNESS,
    async produce() {
      const tracker = trackDependencies(api);
      const content = await read(tracker.api);
      if (content === null) throw notFound();
      return {
        status: 200,
        type: 'application/json; charset=utf-8',
        cacheControl: REVALIDATE,
        body: JSON.stringify(content),
        dependencies: tracker.dependencies(),
      };
    },
  };
}

// Other routes also use the following responses, through `readCached`.

export function productResponse(api: CachedApi, id: string): ApiResponse {
  return apiResponse(api, paths.api.product(id), (tracked) => tracked.getProduct(id));
}

export function relatedResponse(api: CachedApi, id: string): ApiResponse {
  return apiResponse(api, paths.api.related(id), (tracked) => tracked.getRelatedProducts(id));
}

export function standingsResponse(api: CachedApi, id: string): ApiResponse {
  return apiResponse(api, paths.api.standings(id), async (tracked) => {
    const standings = await tracked.getStandings(id);
    if (standings === null && (await tracked.getProduct(id)) !== null) throw standingNotFound();
    return standings;
  });
}

/** Describes the response with the first page of a leaderboard. */
export function boardResponse(api: CachedApi, period: string): ApiResponse {
  return apiResponse(
    api,
    paths.api.leaderboard(period),
    (tracked) => tracked.getLeaderboard(period, {}),
    periodNotFound,
  );
}

/**
 * Returns the parsed body of an API response, from the cache if possible. @throws the error that the API would report.
 */
export async function readCached<Body>(cache: ResponseCache, response: ApiResponse): Promise<Body> {
  const { version } = await cache.get(response);
  return JSON.parse(String(await version.content.bytes('identity')));
}

/** Like `readCached`, but returns null for an unknown product. */
export async function readCachedOrNull<Body>(cache: ResponseCache, response: ApiResponse): Promise<Body | null> {
  try {
    return await readCached<Body>(cache, response);
  } catch (error) {
    if (error instanceof CoreError && error.code === 'product_not_found') return null;
    throw error;
  }
}
