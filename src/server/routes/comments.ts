import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { COMMENT_MESSAGES } from '../../contract/comments/messages.ts';
import {
  AddedCommentSchema,
  CommentListQuerySchema,
  CommentPageSchema,
  HeldCommentsSchema,
  LikesSchema,
  NewCommentSchema,
} from '../../contract/comments/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import * as paths from '../../contract/paths.ts';
import { requireComplete } from '../../core/comments/prepare-comment.ts';
import type { Core } from '../../core/core.ts';
import { CoreError } from '../../core/core-error.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { Submissions } from '../../core/submissions/submissions.ts';
import { apiResponse, type SendApiResponse } from '../cache/api-response.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { setLastWriteCookie } from '../http/last-write-cookie.ts';
import { idempotencyKeyOf, makerKeyOf, sessionOf } from '../http/request-keys.ts';
import type { RepeatedTexts } from '../limits/repeated-texts.ts';
import { COMMENT_EXAMPLE, cursorOf, LIMIT, type Operation, PRODUCT_ID } from '../openapi/parts.ts';

interface Options {
  core: Core;
  runtime: Runtime;
  send: SendApiResponse;
  /** If unset, repeated comments are not detected. */
  repeatedTexts: RepeatedTexts | undefined;
  /** If unset, submissions are disabled, and maker keys are ignored. */
  submissions?: Submissions | undefined;
}

export const commentRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { core, send, runtime, repeatedTexts, submissions },
) => {
  const params = Type.Object({ id: Type.String() });
  app.get(
    paths.api.productComments.route,
    {
      config: { operation: OPERATIONS.listComments },
      schema: { params, querystring: CommentListQuerySchema, response: { 200: CommentPageSchema } },
    },
    (request, reply) => {
      const { id } = request.params;
      const { sort, limit, cursor } = request.query;
      const key = paths.api.withQuery(paths.api.productComments(id), { sort, limit, cursor });
      const response = apiResponse(core, key, (api) => api.listComments(id, request.query));
      return send(response, request, reply, Boolean(cursor));
    },
  );

  app.get(
    paths.api.heldComments.route,
    { config: { operation: OPERATIONS.listHeldComments }, schema: { params, response: { 200: HeldCommentsSchema } } },
    async (request, reply) => {
      reply.header('Cache-Control', NO_STORE);
      return core.listHeldComments(request.params.id, sessionOf(request));
    },
  );

  app.post(
    paths.api.comments,
    {
      config: { operation: OPERATIONS.addComment, limit: { action: 'comment' } },
      schema: { body: NewCommentSchema, response: { 200: AddedCommentSchema, 201: AddedCommentSchema } },
      schemaErrorFormatter: (errors) =>
        // The specification has one message for a missing, an empty and a non-text field.
        errors.some(({ keyword, instancePath }) => keyword === 'format' || instancePath === '/website')
          ? new CoreError('bad_request', 'A field is not text, or contains characters that cannot be stored.')
          : new CoreError('comment_incomplete', COMMENT_MESSAGES.incomplete),
    },
    async (request, reply) => {
      const sender = { session: sessionOf(request), idempotencyKey: idempotencyKeyOf(request) };
      // Checked before the maker key, because an empty product id has no submission.
      requireComplete(request.body);
      const makerKey = submissions && makerKeyOf(request);
      const author =
        makerKey === undefined ? undefined : await submissions?.authorOf({ id: request.body.productId, makerKey });
      const repetition = repeatedTexts?.(request.body.content, { session: sender.session, address: request.ip });
      const { comment, created } = await core.addComment(request.body, sender, { repetition, author });
      setLastWriteCookie(reply, runtime);
      reply.code(created ? 201 : 200).header('Cache-Control', NO_STORE);
      return { comment };
    },
  );

  app.post(
    paths.api.like.route,
    {
      config: { operation: OPERATIONS.likeComment, limit: { action: 'like' } },
      schema: { params, response: { 200: LikesSchema } },
    },
    async (request, reply) => {
      reply.header('Cache-Control', NO_STORE);
      const likes = await core.likeComment({ commentId: request.params.id, session: sessionOf(request) });
      setLastWriteCookie(reply, runtime);
      return likes;
    },
  );
};

/** The OpenAPI metadata of these routes. */
const OPERATIONS = {
  listComments: {
    id: 'listComments',
    tag: 'Comments',
    summary: 'List the comments on a product',
    isCacheable: true,
    isRateLimited: true,
    parameters: {
      id: PRODUCT_ID,
      sort: {
        description: 'Sort order: `best` (most likes first, the default), `newest` or `oldest`',
        example: 'newest',
      },
      limit: LIMIT,
      cursor: cursorOf('newest', COMMENT_EXAMPLE.createdAt, COMMENT_EXAMPLE.id),
    },
    responses: {
      200: {
        description: 'A page of comments; `total` is the number of all public comments on the product',
        example: { items: [COMMENT_EXAMPLE], total: 1, nextCursor: null },
      },
    },
    problems: ['bad_request', 'bad_cursor', 'product_not_found', 'rate_limited', 'unavailable'],
  },
  listHeldComments: {
    id: 'listHeldComments',
    tag: 'Comments',
    summary: "List the session's own comments that are held for review",
    description:
      'Lists at most 100 comments, newest first. Held comments do not appear in other lists and are not counted.',
    needsSession: true,
    parameters: { id: PRODUCT_ID },
    responses: { 200: { description: 'The held comments', example: { items: [] } } },
    problems: ['bad_request', 'session_required', 'product_not_found', 'unavailable'],
  },
  addComment: {
    id: 'addComment',
    makerKey: 'optional',
    tag: 'Comments',
    summary: 'Comment on a product',
    description: `The trimmed text must have 1 to ${LIMITS.commentCharacters} characters. Visitors comment as \`You\`, with the default avatar and no badge. The field \`website\` is hidden on pages, so only bots fill it in: a comment with a value in it is held for review.`,
    needsSession: true,
    takesIdempotencyKey: true,
    bodyExample: { productId: 'git', content: 'Worktrees!' },
    responses: {
      200: {
        description: 'The comment that this idempotency key created earlier',
        example: { comment: COMMENT_EXAMPLE },
      },
      201: { description: 'The new comment', example: { comment: COMMENT_EXAMPLE } },
    },
    problems: [
      'bad_request',
      'session_required',
      'comment_incomplete',
      'idempotency_key_invalid',
      'idempotency_key_reused',
      'product_not_found',
      'comment_not_found',
      'submission_not_found',
      'body_too_large',
      'unsupported_media_type',
      'comment_too_long',
      'rate_limited',
      'unavailable',
      'overloaded',
    ],
  },
  likeComment: {
    id: 'likeComment',
    tag: 'Comments',
    summary: 'Like a comment',
    description: 'Each request adds a like. Likes cannot be removed.',
    needsSession: true,
    parameters: { id: { description: 'The id of a comment (a UUID)', example: COMMENT_EXAMPLE.id } },
    responses: { 200: { description: 'The likes after the change', example: { likes: 8 } } },
    problems: [
      'bad_request',
      'session_required',
      'comment_id_required',
      'comment_not_found',
      'rate_limited',
      'unavailable',
      'overloaded',
    ],
  },
} satisfies Record<string, Operation>;
