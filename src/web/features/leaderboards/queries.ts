import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ReadApi } from '../../../contract/api.ts';
import type { Leaderboard, Standings } from '../../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../../contract/limits.ts';
import { productKeys } from '../../cache/cached-data.ts';

/**
 * A board changes within a second of a vote, so it is refetched if the visitor returns to it after more than ten
 * seconds.
 */
const FRESHNESS = { staleTime: 10_000, gcTime: 30 * 60_000, retry: 2, meta: { logFailureAs: 'error' } } as const;

/** The pages of a board. If the period cannot have a board, the only page is null. */
type PagedBoard = InfiniteData<Leaderboard | null, string>;

/** Returns the query for a leaderboard from `cursor` or, without one, from the top. */
export function boardOptions(api: ReadApi, period: string, cursor = '') {
  return infiniteQueryOptions<Leaderboard | null, Error, PagedBoard, readonly unknown[], string>({
    ...FRESHNESS,
    queryKey: productKeys.board(period, cursor),
    queryFn: ({ pageParam, signal }) =>
      api.getLeaderboard(period, { limit: LIMITS.listedProducts, ...(pageParam && { cursor: pageParam }) }, signal),
    initialPageParam: cursor,
    getNextPageParam: (last) => last?.nextCursor ?? null,
  });
}

/** Returns the query for the standing of a launch. Its result is null until the launch is on a board. */
export function standingsOptions(api: ReadApi, productId: string) {
  return queryOptions({
    ...FRESHNESS,
    queryKey: productKeys.standing(productId),
    queryFn: ({ signal }): Promise<Standings | null> => api.getStandings(productId, signal),
  });
}
