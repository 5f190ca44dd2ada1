import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { paths } from '../../contract/paths.ts';
import { ProductDetailSchema, ProductListQuerySchema, ProductPageSchema } from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import { addressOf } from '../cache/address.ts';
import { API_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { jsonAnswer } from '../cache/json-answer.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { coreApi } from '../core-api.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import { productAnswer } from './product-answer.ts';

interface Options {
  core: Core;
  cache: AnswerCache;
  charge: ChargeRequest;
}

export const productRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, charge }) => {
  const readApi = coreApi(core);

  app.get(
    paths.api.products,
    { schema: { querystring: ProductListQuerySchema, response: { 200: ProductPageSchema } } },
    (request, reply) => {
      const { q, tag, sort, limit, cursor } = request.query;
      const key = addressOf(paths.api.products, { q, tag, sort, limit, cursor });
      if (q && !cache.has(key)) charge('search', request, reply);
      const wanted = {
        key,
        freshness: API_FRESHNESS,
        produce: () => jsonAnswer(readApi, (api) => api.listProducts(request.query)),
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );

  app.get(
    '/api/products/:id',
    { schema: { params: Type.Object({ id: Type.String() }), response: { 200: ProductDetailSchema } } },
    (request, reply) => {
      const wanted = { ...productAnswer(readApi, request.params.id), freshness: API_FRESHNESS };
      return sendFromCache(cache, wanted, request, reply);
    },
  );
};
