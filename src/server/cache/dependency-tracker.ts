import type { ReadApi } from '../../contract/api.ts';
import type { LeaderboardList, LeaderboardListQuery } from '../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import type { PageQuery } from '../../contract/page-query.ts';
import { MODERATION_LOG } from '../../core/changes/change-feed.ts';
import type { Dependencies } from './cached-response.ts';

/** The read operations whose responses are cached: those of pages, and those that only clients of the API use. */
export interface CachedApi extends ReadApi {
  listLeaderboards(query: LeaderboardListQuery): Promise<LeaderboardList>;
}

interface TrackerOptions {
  /**
   * Whether a standing depends on every vote on the site, or only on votes for the launch and its neighbours. With
   * `neighbours`, if another launch overtakes this one, a response may show the old rank until the response expires.
   */
  standingsOf?: 'everyVote' | 'neighbours';
}

/** Wraps an API: forwards every read, and records the dependencies of all reads. */
export function trackDependencies(
  api: CachedApi,
  { standingsOf = 'everyVote' }: TrackerOptions = {},
): { api: CachedApi; dependencies(): Dependencies } {
  const products = new Set<string>();
  let catalogue = false;
  let allCounts = false;
  let unfinished = false;
  return {
    api: {
      async listProducts(query, signal) {
        catalogue = true;
        allCounts ||= (query.sort ?? 'newest') !== 'newest';
        const page = await api.listProducts(query, signal);
        for (const { id } of page.items) products.add(id);
        unfinished ||= page.nextCursor !== null && page.items.length < (query.limit ?? LIMITS.pageSize.default);
        return page;
      },
      async getProduct(id, signal) {
        // The response contains the product's neighbours, so any change to the catalogue may affect it.
        catalogue = true;
        products.add(id);
        return api.getProduct(id, signal);
      },
      async getRelatedProducts(id, signal) {
        // Upvotes only break ties, so a change of counts need not invalidate the response before it expires.
        catalogue = true;
        return api.getRelatedProducts(id, signal);
      },
      async listLeaderboards(query) {
        catalogue = true;
        allCounts = true;
        return api.listLeaderboards(query);
      },
      async getLeaderboard(period, query, signal) {
        catalogue = true;
        const board = await api.getLeaderboard(period, query, signal);
        // Any vote may move any row, until the result is final.
        allCounts ||= board?.status !== 'final';
        for (const { productId } of board?.items ?? []) products.add(productId);
        return board;
      },
      async getStandings(productId, signal) {
        products.add(productId);
        catalogue = true;
        allCounts ||= standingsOf === 'everyVote';
        const standings = await api.getStandings(productId, signal);
        for (const standing of Object.values(standings ?? {})) {
          for (const neighbour of [standing.above, standing.below]) if (neighbour) products.add(neighbour.productId);
        }
        return standings;
      },
      ...(api.getModerationLog && {
        async getModerationLog(query: PageQuery) {
          // The log contains names of products, so it depends on the catalogue.
          catalogue = true;
          products.add(MODERATION_LOG);
          return api.getModerationLog?.(query) ?? { items: [], nextCursor: null };
        },
      }),
      async listComments(productId, query, signal) {
        products.add(productId);
        return api.listComments(productId, query, signal);
      },
    },
    dependencies: () => ({ products: [...products], catalogue, allCounts, unfinished }),
  };
}
