import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { paths } from '../../contract/paths.ts';
import { UpvotedQuerySchema, UpvotedSchema, UpvoteStateSchema } from '../../contract/upvotes/schema.ts';
import type { Core } from '../../core/core.ts';
import { NO_STORE } from '../http/caching.ts';
import { knownSessionOf, sessionOf } from '../http/session.ts';
import { rememberWrite } from '../http/wrote-cookie.ts';
import type { UpvoteBursts } from '../limits/upvote-bursts.ts';

interface Options {
  core: Core;
  /** Unset: nobody watches for bursts. */
  bursts: UpvoteBursts | undefined;
}

export const upvoteRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, bursts }) => {
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('Cache-Control', NO_STORE);
  });

  app.get(
    paths.api.upvotes,
    { schema: { querystring: UpvotedQuerySchema, response: { 200: UpvotedSchema } } },
    async (request) => {
      const session = sessionOf(request);
      const productIds = request.query.products.split(',').filter((id) => id !== '');
      return core.getUpvoted(productIds, session);
    },
  );

  const params = Type.Object({ id: Type.String() });

  /** Whoever voted can take the vote back, whatever others do in the same network. Not more work than asking for it. */
  async function isRetraction(request: FastifyRequest): Promise<boolean> {
    const session = knownSessionOf(request);
    const { id } = request.params as { id: string };
    return session !== undefined && (await core.getUpvoted([id], session)).upvoted.length > 0;
  }

  for (const [method, upvoted] of [
    ['PUT', true],
    ['DELETE', false],
  ] as const) {
    app.route({
      method,
      url: '/api/products/:id/upvote',
      schema: { params, response: { 200: UpvoteStateSchema } },
      config: { limit: { action: 'upvote', ...(upvoted ? {} : { passesBusyNetwork: isRetraction }) } },
      handler: async (request, reply) => {
        const { id: productId } = request.params;
        const session = sessionOf(request);
        const state = await core.setUpvote({ productId, session, upvoted });
        bursts?.note(productId, { session, address: request.ip }, upvoted);
        rememberWrite(reply);
        return state;
      },
    });
  }
};
