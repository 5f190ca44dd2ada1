import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { ProductDetailSchema, ProductListQuerySchema, ProductPageSchema } from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import { API_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { jsonAnswer } from '../cache/json-answer.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';

interface Options {
  core: Core;
  cache: AnswerCache;
  charge: ChargeRequest;
}

export const productRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, charge }) => {
  app.get(
    '/api/products',
    { schema: { querystring: ProductListQuerySchema, response: { 200: ProductPageSchema } } },
    (request, reply) => {
      const { q, tag, sort = 'newest', limit, cursor } = request.query;
      const key = `products ${JSON.stringify([q, tag, sort, limit, cursor])}`;
      if (q && !cache.has(key)) charge('search', request, reply);
      const wanted = {
        key,
        freshness: API_FRESHNESS,
        async produce() {
          const page = await core.listProducts(request.query);
          const products = page.items.map((product) => product.id);
          return jsonAnswer(page, { products, catalogue: true, allCounts: sort !== 'newest' });
        },
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );

  app.get(
    '/api/products/:id',
    { schema: { params: Type.Object({ id: Type.String() }), response: { 200: ProductDetailSchema } } },
    (request, reply) => {
      const { id } = request.params;
      const wanted = {
        key: `product ${id}`,
        freshness: API_FRESHNESS,
        async produce() {
          const detail = await core.getProduct(id);
          if (detail === null) throw productNotFound();
          return jsonAnswer(detail, { products: [id], catalogue: true });
        },
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );
};
