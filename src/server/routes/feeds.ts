import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import * as paths from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/core-error.ts';
import { CATALOGUE_ONLY, type CacheableResponse, type Dependencies, FEED_FRESHNESS } from '../cache/cached-response.ts';
import { trackDependencies } from '../cache/dependency-tracker.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import {
  ATOM_MEDIA_TYPE,
  commentsFeed,
  FEED_ENTRIES,
  JSON_FEED_MEDIA_TYPE,
  launchesFeed,
  launchesJsonFeed,
  leaderboardsFeed,
  readLaunches,
} from '../feeds/feeds.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import type { SiteIdentity } from '../http/site-identity.ts';

interface Options {
  core: Core;
  cache: ResponseCache;
  site: SiteIdentity;
}

/** Feeds: launches (Atom and JSON Feed), final leaderboards, and comments on a product (both Atom). */
export const feedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, site }) => {
  for (const [path, type, write] of [
    [paths.feed, ATOM_MEDIA_TYPE, launchesFeed],
    [paths.jsonFeed, JSON_FEED_MEDIA_TYPE, launchesJsonFeed],
  ] as const) {
    app.get(path, (request, reply) => {
      const produce = async () => feedResponse(type, write(site, await readLaunches(core, site)), CATALOGUE_ONLY);
      return sendFromCache(cache, { key: path, freshness: FEED_FRESHNESS, produce }, request, reply);
    });
  }

  app.get(paths.leaderboardFeed, (request, reply) => {
    const produce = async () => {
      const days = await core.readFinalDays(FEED_ENTRIES);
      // Votes do not change finalized days.
      return feedResponse(ATOM_MEDIA_TYPE, await leaderboardsFeed(site, core, days), CATALOGUE_ONLY);
    };
    return sendFromCache(cache, { key: paths.leaderboardFeed, freshness: FEED_FRESHNESS, produce }, request, reply);
  });

  app.get(paths.commentsFeed.route, { schema: { params: Type.Object({ id: Type.String() }) } }, (request, reply) => {
    const { id } = request.params;
    const produce = async () => {
      const { api, dependencies } = trackDependencies(core);
      const found = await api.getProduct(id);
      if (found === null) throw productNotFound();
      const { items } = await api.listComments(id, { sort: 'newest', limit: FEED_ENTRIES });
      return feedResponse(ATOM_MEDIA_TYPE, commentsFeed(site, found.product, items), dependencies());
    };
    const wanted = { key: `comments feed ${id}`, freshness: FEED_FRESHNESS, produce };
    return sendFromCache(cache, wanted, request, reply);
  });
};

function feedResponse(type: string, body: string, dependencies: Dependencies): CacheableResponse {
  return { status: 200, type, cacheControl: REVALIDATE, body, dependencies, isDated: true };
}
