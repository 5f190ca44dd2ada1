import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { ProductDetailSchema, ProductListQuerySchema, ProductPageSchema } from '../../contract/products/schema.ts';
import type { Core } from '../../core/core.ts';
import { productNotFound } from '../../core/products/product-not-found.ts';
import { REVALIDATE } from '../http/caching.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';

interface Options {
  core: Core;
  charge: ChargeRequest;
}

export const productRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, charge }) => {
  app.get(
    '/api/products',
    { schema: { querystring: ProductListQuerySchema, response: { 200: ProductPageSchema } } },
    async (request, reply) => {
      // Only what the database is really asked for: an answer out of a cache is to be given before this.
      if (request.query.q) charge('search', request, reply);
      reply.header('Cache-Control', REVALIDATE);
      return core.listProducts(request.query);
    },
  );

  app.get(
    '/api/products/:id',
    { schema: { params: Type.Object({ id: Type.String() }), response: { 200: ProductDetailSchema } } },
    async (request, reply) => {
      const detail = await core.getProduct(request.params.id);
      if (detail === null) throw productNotFound();
      reply.header('Cache-Control', REVALIDATE);
      return detail;
    },
  );
};
