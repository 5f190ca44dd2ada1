import type { FastifyPluginAsync } from 'fastify';
import { awardInWords } from '../../contract/leaderboards/words.ts';
import type { BadgeBoard, BadgeTheme } from '../../contract/paths/site.ts';
import { paths } from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/core-error.ts';
import { type BadgeSite, renderBadge, type TextWidth } from '../badges/badge.ts';
import { API_FRESHNESS, type CacheableResponse } from '../cache/cached-response.ts';
import { trackDependencies } from '../cache/dependency-tracker.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { allowEmbedding } from '../http/security-headers.ts';

/** At most a minute old on other sites, so not every visit requests it again. */
const BADGE_CACHING = 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400';

interface Options {
  core: Core;
  cache: ResponseCache;
  site: BadgeSite;
  widthOf: TextWidth;
}

const BOARDS: readonly unknown[] = ['day', 'week', 'month'] satisfies BadgeBoard[];

/** Badges for other sites, with the live count or a final rank. */
export const badgeRoutes: FastifyPluginAsync<Options> = async (app, { core, cache, site, widthOf }) => {
  allowEmbedding(app, site.brand?.logo && 'data:');

  app.get<{ Params: { id: string }; Querystring: { theme?: unknown; board?: unknown } }>(
    paths.badge.route,
    (request, reply) => {
      const { id } = request.params;
      // Any other value is the default, so made-up addresses share one cache entry.
      const theme: BadgeTheme = request.query.theme === 'dark' ? 'dark' : 'light';
      const board = BOARDS.includes(request.query.board) ? (request.query.board as BadgeBoard) : undefined;
      const wanted = {
        key: `badge ${theme} ${board ?? ''} ${id}`,
        freshness: API_FRESHNESS,
        produce: () => badgeResponse(id, theme, board),
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );

  async function badgeResponse(id: string, theme: BadgeTheme, board?: BadgeBoard): Promise<CacheableResponse> {
    const tracker = trackDependencies(core, { standingsOf: 'neighbours' });
    const detail = await tracker.api.getProduct(id);
    if (detail === null) throw productNotFound();
    const { name: productName, upvotes } = detail.product;
    const standing = board && (await tracker.api.getStandings(id))?.[board];
    const [, rank = '', rest = ''] = /^(.*?) (of .*)$/.exec((standing && awardInWords(standing)) ?? '') ?? [];
    const award = rank === '' ? undefined : { rank, rest };
    return {
      status: 200,
      type: 'image/svg+xml; charset=utf-8',
      cacheControl: BADGE_CACHING,
      body: renderBadge({ site, productName, upvotes, award }, theme, widthOf),
      dependencies: tracker.dependencies(),
    };
  }
};
