import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { paths } from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { CoreError } from '../../core/core-error.ts';
import { type Answer, FEED_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { MAX_SITEMAP_URLS, SHARD_URLS, SITEMAP_MEDIA_TYPE, sitemapIndex, stretchOf, urlSet } from '../feeds/sitemap.ts';
import { REVALIDATE } from '../http/caching.ts';

interface Options {
  core: Core;
  cache: AnswerCache;
  site: SiteIdentity;
}

/** Made anew for each request, a shard costs as much as a search: it counts as one. */
const SHARD = {
  schema: { params: Type.Object({ shard: Type.String() }) },
  config: { limit: { action: 'search' } },
} as const;

const EVERYTHING = { after: '', upTo: '' };

/** Products of a file, beside the home page. */
const MAX_PRODUCTS = MAX_SITEMAP_URLS - 1;

/** Every address that a search engine should know: in one file, or past 50,000 in shards that an index names. */
export const sitemapRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, site }) => {
  app.get(paths.sitemap, (request, reply) =>
    sendFromCache(cache, { key: 'sitemap', freshness: FEED_FRESHNESS, produce: sitemapAnswer }, request, reply),
  );

  // Shards are not kept: a search engine that fetches all of them would push every page out of memory.
  app.get('/sitemap/:shard', SHARD, async (request, reply) => {
    const stretch = stretchOf(request.params.shard);
    if (stretch === undefined) return reply.callNotFound();
    const batches = core.readProductAddresses(stretch, MAX_PRODUCTS);
    const body = await urlSet(site, batches, { withHome: stretch.after === '' }).catch((error: unknown) => {
      if (error instanceof CoreError && error.code === 'bad_cursor') return undefined;
      throw error;
    });
    if (body === undefined) return reply.callNotFound();
    return reply.type(SITEMAP_MEDIA_TYPE).header('Cache-Control', REVALIDATE).send(body);
  });

  async function sitemapAnswer(): Promise<Answer> {
    const stretches = await core.cutProductStretches(SHARD_URLS);
    const isSmall = stretches.length * SHARD_URLS <= MAX_SITEMAP_URLS;
    const body = isSmall
      ? await urlSet(site, core.readProductAddresses(EVERYTHING, MAX_PRODUCTS), { withHome: true })
      : sitemapIndex(site, stretches);
    return {
      status: 200,
      type: SITEMAP_MEDIA_TYPE,
      cacheControl: REVALIDATE,
      body,
      reads: { products: [], catalogue: true, allCounts: false, unfinished: false },
      isDated: true,
    };
  }
};
