import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { formatAward } from '../../contract/leaderboards/format.ts';
import type { Leaderboard, Standings } from '../../contract/leaderboards/schema.ts';
import * as paths from '../../contract/paths.ts';
import type { ProductDetail } from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import {
  boardResponse,
  productResponse,
  readCached,
  readCachedOrNull,
  standingsResponse,
} from '../cache/api-response.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import type { Cards, ServedCard } from '../cards/cards.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { matchesEntityTag } from '../http/representations.ts';
import { allowEmbedding } from '../http/security-headers.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';

/** Caches may serve a card for ten minutes, ten more while they revalidate, and a day while the site is unreachable. */
const CARD_CACHING = 'public, max-age=600, stale-while-revalidate=600, stale-if-error=86400';

/** Clients can request the cards of any number of leaderboards, so requests for them count against the search limit. */
const BOARD_CARD = { config: { limit: { action: 'search' } } } as const;

interface Options {
  core: Core;
  cache: ResponseCache;
  cards: Cards;
  charge: ChargeRequest;
}

/** Cards: the images for link previews of products, leaderboards and the site. */
export const cardRoutes: FastifyPluginAsync<Options> = async (app, { core, cache, cards, charge }) => {
  allowEmbedding(app);
  app.addHook('preClose', async () => cards.stopQueueing());
  app.addHook('onClose', () => cards.close());

  app.get(paths.siteCard, async (request, reply) => send(await cards.ofSite(), request, reply));

  app.get<{ Params: { id: string } }>(paths.card.route, async (request, reply) => {
    // Reads the API's cached response, so the card shows changes without a query for each request.
    const { product } = await readCached<ProductDetail>(cache, productResponse(core, request.params.id));
    const award = await awardOf(product.id);
    // Clients can request the cards of any number of products, so drawing one counts against the search limit.
    return send(await cards.ofProduct(product, award, () => charge('search', request, reply)), request, reply);
  });

  app.get<{ Params: { id: string } }>(paths.boardCard.route, BOARD_CARD, async (request, reply) => {
    const board = await readCached<Leaderboard>(cache, boardResponse(core, request.params.id));
    return send(await cards.ofBoard(board), request, reply);
  });

  /** Returns the rank on the launch day, or undefined if the day is not final or the launch has no counted votes. */
  async function awardOf(id: string): Promise<string | undefined> {
    const standings = await readCachedOrNull<Standings>(cache, standingsResponse(core, id));
    return standings === null ? undefined : formatAward(standings.day);
  }
};

function send({ card, isSubstitute }: ServedCard, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.header('Cache-Control', isSubstitute ? NO_STORE : CARD_CACHING);
  if (!isSubstitute) {
    reply.header('ETag', card.etag);
    if (matchesEntityTag(request.headers['if-none-match'], card.etag)) return reply.code(304).send();
  }
  return reply.type('image/png').send(card.png);
}
