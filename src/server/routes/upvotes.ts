import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { UpvotedQuerySchema, UpvotedSchema, UpvoteStateSchema } from '../../contract/upvotes/schema.ts';
import type { Core } from '../../core/core.ts';
import { NO_STORE } from '../http/caching.ts';
import { sessionOf } from '../http/session.ts';

export const upvoteRoutes: FastifyPluginAsyncTypebox<{ core: Core }> = async (app, { core }) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', NO_STORE);
  });

  app.get(
    '/api/upvotes',
    { schema: { querystring: UpvotedQuerySchema, response: { 200: UpvotedSchema } } },
    async (request) => {
      const session = sessionOf(request);
      const productIds = request.query.products.split(',').filter((id) => id !== '');
      return core.getUpvoted(productIds, session);
    },
  );

  const params = Type.Object({ id: Type.String() });
  for (const [method, upvoted] of [
    ['PUT', true],
    ['DELETE', false],
  ] as const) {
    app.route({
      method,
      url: '/api/products/:id/upvote',
      schema: { params, response: { 200: UpvoteStateSchema } },
      handler: async (request) => {
        const { id: productId } = request.params;
        return core.setUpvote({ productId, session: sessionOf(request), upvoted });
      },
    });
  }
};
