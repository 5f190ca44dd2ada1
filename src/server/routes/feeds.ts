import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { ReadApi } from '../../contract/api.ts';
import { paths } from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import { type Answer, FEED_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { recordReads } from '../cache/read-recorder.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { coreApi } from '../core-api.ts';
import { ATOM_MEDIA_TYPE, commentsFeed, launchesFeed } from '../feeds/atom.ts';
import { JSON_FEED_MEDIA_TYPE, launchesJsonFeed } from '../feeds/json-feed.ts';
import { FEED_ENTRIES, readLaunches } from '../feeds/launches.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { REVALIDATE } from '../http/caching.ts';

interface Options {
  core: Core;
  cache: AnswerCache;
  site: SiteIdentity;
}

/** What feed readers follow: launches as Atom and JSON Feed, and what is said about a product. */
export const feedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, site }) => {
  const readApi = coreApi(core);

  for (const [path, type, write] of [
    [paths.feed, ATOM_MEDIA_TYPE, launchesFeed],
    [paths.jsonFeed, JSON_FEED_MEDIA_TYPE, launchesJsonFeed],
  ] as const) {
    app.get(path, (request, reply) => {
      const produce = () => feedAnswer(readApi, type, async (api) => write(site, await readLaunches(api, site)));
      return sendFromCache(cache, { key: path, freshness: FEED_FRESHNESS, produce }, request, reply);
    });
  }

  app.get('/product/:id/comments.xml', { schema: { params: Type.Object({ id: Type.String() }) } }, (request, reply) => {
    const { id } = request.params;
    const produce = () =>
      feedAnswer(readApi, ATOM_MEDIA_TYPE, async (api) => {
        const found = await api.getProduct(id);
        if (found === null) throw productNotFound();
        const { items } = await api.listComments(id, { sort: 'newest', limit: FEED_ENTRIES });
        return commentsFeed(site, found.product, items);
      });
    const wanted = { key: `comments feed ${id}`, freshness: FEED_FRESHNESS, produce };
    return sendFromCache(cache, wanted, request, reply);
  });
};

async function feedAnswer(api: ReadApi, type: string, write: (api: ReadApi) => Promise<string>): Promise<Answer> {
  const recorder = recordReads(api);
  const body = await write(recorder.api);
  return { status: 200, type, cacheControl: REVALIDATE, body, reads: recorder.reads(), isDated: true };
}
