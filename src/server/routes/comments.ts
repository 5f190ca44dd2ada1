import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_PATTERN } from '../../contract/comments/idempotency.ts';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import {
  AddedCommentSchema,
  CommentListQuerySchema,
  CommentPageSchema,
  HeldCommentsSchema,
  LikesSchema,
  type NewComment,
  NewCommentSchema,
} from '../../contract/comments/schema.ts';
import { paths } from '../../contract/paths.ts';
import type { WrittenComment } from '../../core/comments/add-comments.ts';
import type { Sender } from '../../core/comments/draft.ts';
import type { Core } from '../../core/core.ts';
import { CoreError } from '../../core/core-error.ts';
import { addressOf } from '../cache/address.ts';
import { API_FRESHNESS } from '../cache/answer.ts';
import type { AnswerCache } from '../cache/answer-cache.ts';
import { jsonAnswer } from '../cache/json-answer.ts';
import { sendFromCache } from '../cache/send-answer.ts';
import { coreApi } from '../core-api.ts';
import { NO_STORE } from '../http/caching.ts';
import { sessionOf } from '../http/session.ts';
import { rememberWrite } from '../http/wrote-cookie.ts';
import type { RepeatedTexts } from '../limits/repeated-texts.ts';

interface Options {
  core: Core;
  cache: AnswerCache;
  /** Unset: nobody watches for repeated comments. */
  repeatedTexts: RepeatedTexts | undefined;
}

export const commentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { core, cache, repeatedTexts }) => {
  const params = Type.Object({ id: Type.String() });
  const readApi = coreApi(core);

  app.get(
    '/api/products/:id/comments',
    { schema: { params, querystring: CommentListQuerySchema, response: { 200: CommentPageSchema } } },
    (request, reply) => {
      const { id } = request.params;
      const { sort, limit, cursor } = request.query;
      const wanted = {
        key: addressOf(paths.api.productComments(id), { sort, limit, cursor }),
        freshness: API_FRESHNESS,
        produce: () => jsonAnswer(readApi, (api) => api.listComments(id, request.query)),
      };
      return sendFromCache(cache, wanted, request, reply);
    },
  );

  app.get(
    '/api/products/:id/comments/held',
    { schema: { params, response: { 200: HeldCommentsSchema } } },
    async (request, reply) => {
      reply.header('Cache-Control', NO_STORE);
      return core.listHeldComments(request.params.id, sessionOf(request));
    },
  );

  app.post(
    paths.api.comments,
    {
      config: { limit: { action: 'comment' } },
      schema: { body: NewCommentSchema, response: { 200: AddedCommentSchema, 201: AddedCommentSchema } },
      schemaErrorFormatter: (errors) =>
        // A field that is missing or no text is, in the specification's words, the same fault as an empty one.
        errors.some(({ keyword, instancePath }) => keyword === 'format' || instancePath === '/website')
          ? new CoreError('bad_request', 'The comment has characters that cannot be stored')
          : new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete),
    },
    async (request, reply) => {
      const sender = { session: sessionOf(request), idempotencyKey: idempotencyKeyOf(request) };
      const { comment, created } = await addJudged(request, sender);
      rememberWrite(reply);
      reply.code(created ? 201 : 200).header('Cache-Control', NO_STORE);
      return { comment };
    },
  );

  app.post(
    '/api/comments/:id/like',
    { config: { limit: { action: 'like' } }, schema: { params, response: { 200: LikesSchema } } },
    async (request, reply) => {
      reply.header('Cache-Control', NO_STORE);
      const likes = await core.likeComment({ commentId: request.params.id, session: sessionOf(request) });
      rememberWrite(reply);
      return likes;
    },
  );

  /** What looks like spam is taken like any other comment, and held until the operator has seen it. */
  async function addJudged(request: FastifyRequest<{ Body: NewComment }>, sender: Sender): Promise<WrittenComment> {
    const repetition = repeatedTexts?.(request.body.content, { session: sender.session, address: request.ip });
    const isFilledIn = request.body.website !== undefined && request.body.website !== '';
    const held = isFilledIn || repetition?.isRepeated === true;
    try {
      const added = await core.addComment(request.body, sender, { held });
      if (!added.created) repetition?.forget();
      return added;
    } catch (error) {
      repetition?.forget();
      throw error;
    }
  }
};

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers[IDEMPOTENCY_HEADER.toLowerCase()];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new CoreError('idempotency_key_invalid', `${IDEMPOTENCY_HEADER} must be 1 to 200 visible ASCII characters`);
}
