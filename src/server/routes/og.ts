import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { paths } from '../../contract/paths.ts';
import type { ProductDetail } from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import { PAGE_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import type { Cards, ServedCard } from '../cards/cards.ts';
import { coreApi } from '../core-api.ts';
import { NO_STORE } from '../http/caching.ts';
import { allowEmbedding } from '../http/embedding.ts';
import { isKnownTag } from '../http/negotiate-representation.ts';
import { productAnswer } from './product-answer.ts';

/** As long as a changed count may wait for its new card; a day longer while the site cannot be reached. */
const CARD_CACHING = 'public, max-age=600, stale-while-revalidate=600, stale-if-error=86400';

interface Options {
  core: Core;
  cache: AnswerCache;
  cards: Cards;
}

/** Share images: of a product, and of the site. */
export const cardRoutes: FastifyPluginAsync<Options> = async (app, { core, cache, cards }) => {
  const readApi = coreApi(core);
  allowEmbedding(app);
  app.addHook('preClose', async () => cards.stopQueueing());
  app.addHook('onClose', () => cards.close());

  app.get(paths.siteCard, async (request, reply) => send(await cards.ofSite(), request, reply));

  app.get<{ Params: { id: string } }>('/og/:id.png', async (request, reply) => {
    // The same answer as the API's, so that a change of the product is seen and the database is not asked each time.
    const { content } = await cache.get({ ...productAnswer(readApi, request.params.id), freshness: PAGE_FRESHNESS });
    const { product } = JSON.parse(String(await content.bytes('identity'))) as ProductDetail;
    return send(await cards.ofProduct(product), request, reply);
  });
};

function send({ card, isSubstitute }: ServedCard, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('Cache-Control', isSubstitute ? NO_STORE : CARD_CACHING);
  if (!isSubstitute) {
    reply.header('ETag', card.etag);
    if (isKnownTag(request.headers['if-none-match'], card.etag)) return reply.code(304).send();
  }
  return reply.type('image/png').send(card.png);
}
