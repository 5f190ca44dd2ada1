import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { type ModerationEntry, ModerationLogSchema } from '../../contract/moderation/schema.ts';
import { PageQuerySchema } from '../../contract/page-query.ts';
import * as paths from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { apiResponse, type SendApiResponse } from '../cache/api-response.ts';
import { cursorOf, LIMIT, type Operation } from '../openapi/parts.ts';

interface Options {
  core: Core;
  send: SendApiResponse;
}

/** The public moderation log, on sites that have one. */
export const moderationLogRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, send }) => {
  app.get(
    paths.api.moderationLog,
    {
      config: { operation: LIST_MODERATION },
      schema: { querystring: PageQuerySchema, response: { 200: ModerationLogSchema } },
    },
    (request, reply) => {
      const { limit, cursor } = request.query;
      const key = paths.api.withQuery(paths.api.moderationLog, { limit, cursor });
      const response = apiResponse(core, key, async (api) => api.getModerationLog?.(request.query));
      return send(response, request, reply, Boolean(cursor));
    },
  );
};

const ENTRY_EXAMPLE: ModerationEntry = {
  id: '6f1c1f7e-0d3c-4a52-9c53-0a4c3a1b9f10',
  at: '2026-11-21T18:04:11.120Z',
  action: 'comment.hidden',
  productId: 'git',
  productName: 'Git',
  votes: null,
  reason: 'spam',
  undoneAt: null,
};

/** The OpenAPI metadata of this route. */
const LIST_MODERATION: Operation = {
  id: 'listModeration',
  tag: 'Moderation',
  summary: 'List the entries of the public moderation log',
  description:
    'Lists removed and postponed products, hidden comments, excluded and included votes, and declined submissions, newest first. The names of operators, the names of removed products and hidden texts are omitted. Actions that were undone stay listed.',
  isCacheable: true,
  isRateLimited: true,
  parameters: { limit: LIMIT, cursor: cursorOf('moderation', ENTRY_EXAMPLE.at, ENTRY_EXAMPLE.id) },
  responses: {
    200: { description: 'A page of the log', example: { items: [ENTRY_EXAMPLE], nextCursor: null } },
  },
  problems: ['bad_request', 'bad_cursor', 'rate_limited', 'unavailable'],
};
