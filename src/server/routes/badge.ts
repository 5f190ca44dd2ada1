import type { FastifyPluginAsync } from 'fastify';
import type { BadgeTheme } from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import { renderBadge, type TextWidth } from '../badges/badge.ts';
import { type Answer, PAGE_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { recordReads } from '../cache/read-recorder.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { coreApi } from '../core-api.ts';
import { allowEmbedding } from '../http/embedding.ts';

/** The count lives on other people's pages: new within a minute there, without each of their visitors asking again. */
const BADGE_CACHING = 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400';

interface Options {
  core: Core;
  cache: AnswerCache;
  siteName: string;
  widthOf: TextWidth;
}

/** Badges for other people's pages, with the live count. */
export const badgeRoutes: FastifyPluginAsync<Options> = async (app, { core, cache, siteName, widthOf }) => {
  const readApi = coreApi(core);
  allowEmbedding(app);

  app.get<{ Params: { id: string }; Querystring: { theme?: unknown } }>('/badge/:id.svg', (request, reply) => {
    const { id } = request.params;
    // Whatever else somebody writes into the address is the light badge, and not another one to keep.
    const theme: BadgeTheme = request.query.theme === 'dark' ? 'dark' : 'light';
    const wanted = { key: `badge ${theme} ${id}`, freshness: PAGE_FRESHNESS, produce: () => badgeAnswer(id, theme) };
    return sendFromCache(cache, wanted, request, reply);
  });

  async function badgeAnswer(id: string, theme: BadgeTheme): Promise<Answer> {
    const recorder = recordReads(readApi);
    const detail = await recorder.api.getProduct(id);
    if (detail === null) throw productNotFound();
    const { name: productName, upvotes } = detail.product;
    return {
      status: 200,
      type: 'image/svg+xml; charset=utf-8',
      cacheControl: BADGE_CACHING,
      body: renderBadge({ siteName, productName, upvotes }, theme, widthOf),
      reads: recorder.reads(),
    };
  }
};
