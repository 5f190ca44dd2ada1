import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyPluginAsync } from 'fastify';
import { Type } from 'typebox';
import * as paths from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { CoreError } from '../../core/core-error.ts';
import type { BoardAddress } from '../../core/leaderboards/list-leaderboards.ts';
import type { ProductAddress, ProductRange } from '../../core/products/product-addresses.ts';
import { createReadLimiter, type ReadLimiter } from '../../core/semaphore.ts';
import { CATALOGUE_ONLY, type CacheableResponse, FEED_FRESHNESS } from '../cache/cached-response.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { sendFromCache } from '../cache/send-cached.ts';
import { element, type Xml, xmlDocument } from '../feeds/xml.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import { requireConnected } from '../http/connections.ts';
import { absoluteUrl, type SiteIdentity } from '../http/site-identity.ts';
import { clientNetworkOf } from '../limits/network-keys.ts';

interface Options {
  core: Pick<Core, 'readProductAddresses' | 'readBoardAddresses' | 'splitProductRanges'>;
  cache: ResponseCache;
  site: SiteIdentity;
  /** Whether the number of concurrent shards per network is limited. */
  isLimited: boolean;
  shards?: ReadLimiter;
}

/** Maximum number of shards that one process renders and sends at a time. Each takes 1 to 2 MB until it is sent. */
const MAX_CONCURRENT_SHARDS = 4;
/** A client that takes longer to read a shard is disconnected, because it keeps other clients waiting. */
const SHARD_TIMEOUT_MS = 60_000;

/** A shard is not cached and costs as much as a search, so requests for shards count against the search limit. */
const SHARD = {
  schema: { params: Type.Object({ shard: Type.String() }) },
  config: { limit: { action: 'search' } },
} as const;

const EVERYTHING = { after: '', upTo: '' };

/** Maximum number of URLs in one file (sitemaps.org). */
const MAX_SITEMAP_URLS = 50_000;

/** Maximum number of products in one file, which also lists the home page. */
const MAX_PRODUCTS = MAX_SITEMAP_URLS - 1;

/** Lists the site's URLs for search engines: in one sitemap, or in an index of shards if there are more than 50,000. */
export const sitemapRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const { core, cache, site, isLimited } = options;
  const { shards = createReadLimiter({ max: MAX_CONCURRENT_SHARDS, what: 'sitemaps' }) } = options;
  app.get(paths.sitemap, (request, reply) =>
    sendFromCache(cache, { key: 'sitemap', freshness: FEED_FRESHNESS, produce: sitemapResponse }, request, reply),
  );

  // Shards are not cached: a crawler that fetches all of them would evict every page.
  app.get(paths.sitemapShard.route, SHARD, async (request, reply) => {
    const range = rangeOf(request.params.shard);
    if (range === undefined) return reply.callNotFound();
    return shards.run(isLimited ? clientNetworkOf(request) : undefined, async () => {
      const socket = requireConnected(reply);
      const closed = new Promise((resolve) => reply.raw.once('close', resolve));
      const body = await shardBody(range);
      if (body === undefined) return reply.callNotFound();
      reply.type(SITEMAP_MEDIA_TYPE).header('Cache-Control', REVALIDATE).send(body);
      const timer = setTimeout(() => socket.destroy(), SHARD_TIMEOUT_MS).unref();
      await closed;
      clearTimeout(timer);
      return reply;
    });
  });

  /**
   * Renders a shard, or returns undefined if the range is not valid. Clients can send any range, so its length is
   * bounded.
   */
  async function shardBody(range: ProductRange): Promise<string | undefined> {
    const batches = core.readProductAddresses(range, 2 * SHARD_URLS);
    const boards = range.after === '' ? await core.readBoardAddresses(MAX_BOARDS) : undefined;
    return urlSet(site, batches, boards).catch((error: unknown) => {
      if (error instanceof CoreError && error.code === 'bad_cursor') return undefined;
      throw error;
    });
  }

  async function sitemapResponse(): Promise<CacheableResponse> {
    const ranges = await core.splitProductRanges(SHARD_URLS);
    const isSmall = ranges.length * SHARD_URLS <= MAX_SITEMAP_URLS;
    const boards = await core.readBoardAddresses(MAX_BOARDS);
    const fitsInOneFile = isSmall && (await core.splitProductRanges(MAX_PRODUCTS - boards.length)).length <= 1;
    const body = fitsInOneFile
      ? await urlSet(site, core.readProductAddresses(EVERYTHING, MAX_PRODUCTS), boards)
      : sitemapIndex(site, ranges, boards);
    return {
      status: 200,
      type: SITEMAP_MEDIA_TYPE,
      cacheControl: REVALIDATE,
      body,
      dependencies: CATALOGUE_ONLY,
      isDated: true,
    };
  }
};

const SITEMAP_MEDIA_TYPE = 'application/xml; charset=utf-8';

/**
 * Products per shard, which take about a megabyte. A shard may grow to twice as many if products are added to its
 * range.
 */
const SHARD_URLS = 10_000;

const NAMESPACE = { xmlns: 'http://www.sitemaps.org/schemas/sitemap/0.9' };

/**
 * Returns the URL of a shard. The name of a shard consists of the cursors between which its products are, so every
 * process derives the same URL.
 */
const shardPath = ({ after, upTo }: ProductRange) => paths.sitemapShard(`${after}~${upTo}.xml`);

/** Returns the range that a shard's name encodes, or undefined for other names. The cursors are not validated. */
function rangeOf(shardName: string): ProductRange | undefined {
  const [, after, upTo] = /^([\w-]*)~([\w-]*)\.xml$/.exec(shardName) ?? [];
  return after === undefined || upTo === undefined ? undefined : { after, upTo };
}

/** Maximum number of leaderboards, newest first, which covers over twenty years. */
const MAX_BOARDS = 10_000;

/**
 * Renders a `urlset` document. Products are read in batches, so only the rendered XML is held in memory. With `boards`,
 * the document also lists the home page and as many leaderboards as fit.
 */
async function urlSet(
  site: SiteIdentity,
  batches: AsyncIterable<readonly ProductAddress[]>,
  boards?: readonly BoardAddress[],
): Promise<string> {
  const parts = boards ? [entry('url', absoluteUrl(site, paths.home))] : [];
  let count = parts.length;
  for await (const batch of batches) {
    count += batch.length;
    const entries = batch.map(({ id, createdAt }) => entry('url', absoluteUrl(site, paths.product(id)), createdAt));
    parts.push({ markup: entries.map(({ markup }) => markup).join('\n') });
  }
  for (const { period, finalAt } of boards?.slice(0, MAX_SITEMAP_URLS - count) ?? []) {
    parts.push(entry('url', absoluteUrl(site, paths.board(period)), finalAt));
  }
  // The format requires at least one URL.
  if (count === 0) parts.push(entry('url', absoluteUrl(site, paths.home)));
  return xmlDocument(element('urlset', NAMESPACE, parts));
}

/**
 * Renders the index of shards, each with the latest `lastmod` of its URLs. The first shard also lists the leaderboards.
 */
function sitemapIndex(
  site: SiteIdentity,
  shards: readonly (ProductRange & { newestAt: string })[],
  boards: readonly BoardAddress[],
): string {
  const boardTimes = boards.flatMap(({ finalAt }) => finalAt ?? []);
  const entries = shards.map((shard) => {
    const times = shard.after === '' ? [shard.newestAt, ...boardTimes] : [shard.newestAt];
    return entry('sitemap', absoluteUrl(site, shardPath(shard)), times.sort().at(-1));
  });
  return xmlDocument(element('sitemapindex', NAMESPACE, entries));
}

function entry(name: 'url' | 'sitemap', address: string, lastModified?: string): Xml {
  const dated = lastModified === undefined ? [] : [element('lastmod', {}, lastModified)];
  return element(name, {}, [element('loc', {}, address), ...dated]);
}

/** Everything may be crawled, because crawlers must read pages such as searches to find their `noindex`. */
export const robotsRoutes: FastifyPluginAsync<{ site: SiteIdentity }> = async (app, { site }) => {
  app.get(paths.robots, async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('Cache-Control', REVALIDATE);
    return `User-agent: *\nAllow: /\n\nSitemap: ${absoluteUrl(site, paths.sitemap)}\n`;
  });
};
