import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { LIMITS } from '../../contract/limits.ts';
import * as paths from '../../contract/paths.ts';
import { UpvotedQuerySchema, UpvotedSchema, UpvoteStateSchema } from '../../contract/upvotes/schema.ts';
import type { Core } from '../../core/core.ts';
import type { Runtime } from '../../core/runtime.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { setLastWriteCookie } from '../http/last-write-cookie.ts';
import { knownSessionOf, sessionOf } from '../http/request-keys.ts';
import type { UpvoteBursts } from '../limits/detect-bursts.ts';
import { addressPrefix } from '../limits/network-keys.ts';
import { type Operation, PRODUCT_ID } from '../openapi/parts.ts';

interface Options {
  core: Core;
  runtime: Runtime;
  /** If unset, bursts are not detected. */
  bursts: UpvoteBursts | undefined;
}

export const upvoteRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, runtime, bursts }) => {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Cache-Control', NO_STORE);
    done();
  });

  app.get(
    paths.api.upvotes,
    {
      config: { operation: OPERATIONS.getUpvoted },
      schema: { querystring: UpvotedQuerySchema, response: { 200: UpvotedSchema } },
    },
    async (request) => {
      const session = sessionOf(request);
      const productIds = request.query.products.split(',').filter((id) => id !== '');
      return core.getUpvoted(productIds, session);
    },
  );

  const params = Type.Object({ id: Type.String() });

  /**
   * Returns whether the request withdraws an existing upvote. A withdrawal is allowed even if the network is over its
   * limit. The check costs no more than reading upvotes.
   */
  async function isWithdrawal(request: FastifyRequest): Promise<boolean> {
    const session = knownSessionOf(request);
    const { id } = request.params as { id: string };
    return session !== undefined && (await core.getUpvoted([id], session)).upvoted.length > 0;
  }

  for (const [method, upvoted, operation] of [
    ['PUT', true, OPERATIONS.addUpvote],
    ['DELETE', false, OPERATIONS.removeUpvote],
  ] as const) {
    app.route({
      method,
      url: paths.api.upvote.route,
      schema: { params, response: { 200: UpvoteStateSchema } },
      config: { operation, limit: { action: 'upvote', ...(upvoted ? {} : { passesBusyNetwork: isWithdrawal }) } },
      handler: async (request, reply) => {
        const { id: productId } = request.params;
        const session = sessionOf(request);
        const state = await core.setUpvote({ productId, session, upvoted }, addressPrefix(request.ip));
        bursts?.record(productId, { session, address: request.ip }, upvoted);
        setLastWriteCookie(reply, runtime);
        return state;
      },
    });
  }
};

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  getUpvoted: {
    id: 'getUpvoted',
    tag: 'Upvotes',
    summary: 'List which of the given products this session has upvoted',
    needsSession: true,
    parameters: {
      products: {
        description: `Comma-separated product ids, at most ${LIMITS.upvoteQueryProducts}`,
        example: 'git,rust',
      },
    },
    responses: { 200: { description: 'The ids of the upvoted products', example: { upvoted: ['git'] } } },
    problems: ['bad_request', 'session_required', 'too_many_products', 'unavailable'],
  },
  addUpvote: {
    id: 'addUpvote',
    tag: 'Upvotes',
    summary: "Add the session's upvote",
    description: 'Idempotent.',
    needsSession: true,
    parameters: { id: PRODUCT_ID },
    responses: {
      200: { description: 'The state and the count after the change', example: { upvoted: true, upvotes: 10 } },
    },
    problems: ['bad_request', 'session_required', 'product_not_found', 'rate_limited', 'unavailable', 'overloaded'],
  },
  removeUpvote: {
    id: 'removeUpvote',
    tag: 'Upvotes',
    summary: "Withdraw the session's upvote",
    description: 'Idempotent.',
    needsSession: true,
    parameters: { id: PRODUCT_ID },
    responses: {
      200: { description: 'The state and the count after the change', example: { upvoted: false, upvotes: 9 } },
    },
    problems: ['bad_request', 'session_required', 'product_not_found', 'rate_limited', 'unavailable', 'overloaded'],
  },
} satisfies Record<string, Operation>;
