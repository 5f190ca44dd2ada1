import { Type } from 'typebox';
import { LIMITS } from '../../contract/limits.ts';
import { LiveCommentSchema, LiveCountsSchema } from '../../contract/live/schema.ts';
import { COMMENT_EXAMPLE, CURSOR_EXAMPLE, PRODUCT_EXAMPLE } from './examples.ts';
import type { Operation } from './operation.ts';

const PRODUCT_ID = { description: 'The id of a product: 1 to 64 characters of `a-z 0-9 -`', example: 'git' };
const LIMIT = { description: `Items of the page; ${LIMITS.pageSize.default} without it`, example: 30 };
const CURSOR = {
  description:
    'The `nextCursor` of the page before; it belongs to one `sort`, and keeps its place when items are added',
  example: CURSOR_EXAMPLE,
};

/** What is said about each route of the API, by method and address as they are registered. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'GET /api/products': {
    id: 'listProducts',
    tag: 'Products',
    summary: 'List and search products',
    description:
      'A page narrowed by `q` or `tag` may hold fewer items than `limit`, even none, and still have a `nextCursor`: only `nextCursor: null` says that there is nothing more.',
    isKept: true,
    isLimited: true,
    parameters: {
      q: { description: 'Only products whose name or description contains this text, in any case', example: 'version' },
      tag: { description: 'Only products with this tag, in any case', example: 'Command line' },
      sort: {
        description: 'The order: newest first (without it), most upvotes or most comments first',
        example: 'top',
      },
      limit: LIMIT,
      cursor: CURSOR,
    },
    answers: {
      200: { description: 'A page of products', example: { items: [PRODUCT_EXAMPLE], nextCursor: CURSOR_EXAMPLE } },
    },
    problems: ['bad_request', 'bad_cursor', 'rate_limited', 'unavailable', 'overloaded'],
  },
  'GET /api/products/:id': {
    id: 'getProduct',
    tag: 'Products',
    summary: 'Get a product',
    description: 'With the ids of its neighbours in the list `newest`, `null` at its ends.',
    isKept: true,
    parameters: { id: PRODUCT_ID },
    answers: {
      200: {
        description: 'The product and its neighbours',
        example: { product: PRODUCT_EXAMPLE, previousId: 'threejs', nextId: null },
      },
    },
    problems: ['bad_request', 'product_not_found', 'unavailable'],
  },
  'GET /api/upvotes': {
    id: 'getUpvoted',
    tag: 'Upvotes',
    summary: 'Ask which products this session has upvoted',
    needsSession: true,
    parameters: {
      products: {
        description: `Ids of products, separated by commas; at most ${LIMITS.upvoteQueryProducts}`,
        example: 'git,rust',
      },
    },
    answers: { 200: { description: 'Those of them that it has upvoted', example: { upvoted: ['git'] } } },
    problems: ['bad_request', 'session_required', 'too_many_products', 'unavailable'],
  },
  'PUT /api/products/:id/upvote': {
    id: 'addUpvote',
    tag: 'Upvotes',
    summary: "Add the session's upvote",
    description: 'Sent twice, it does no harm.',
    needsSession: true,
    isLimited: true,
    parameters: { id: PRODUCT_ID },
    answers: { 200: { description: 'The state and the count now', example: { upvoted: true, upvotes: 10 } } },
    problems: ['bad_request', 'session_required', 'product_not_found', 'rate_limited', 'unavailable', 'overloaded'],
  },
  'DELETE /api/products/:id/upvote': {
    id: 'removeUpvote',
    tag: 'Upvotes',
    summary: "Take the session's upvote back",
    description: 'Sent twice, it does no harm.',
    needsSession: true,
    isLimited: true,
    parameters: { id: PRODUCT_ID },
    answers: { 200: { description: 'The state and the count now', example: { upvoted: false, upvotes: 9 } } },
    problems: ['bad_request', 'session_required', 'product_not_found', 'rate_limited', 'unavailable', 'overloaded'],
  },
  'GET /api/products/:id/comments': {
    id: 'listComments',
    tag: 'Comments',
    summary: 'List the comments on a product',
    isKept: true,
    parameters: {
      id: PRODUCT_ID,
      sort: { description: 'The order: most likes first (without it), newest or oldest first', example: 'newest' },
      limit: LIMIT,
      cursor: { ...CURSOR, example: 'WyJiZXN0Iiw0LCIyMDI2LTExLTE5VDE4OjA1OjEyLjQ4MFoiXQ' },
    },
    answers: {
      200: {
        description: 'A page of comments; `total` counts all of them',
        example: { items: [COMMENT_EXAMPLE], total: 1, nextCursor: null },
      },
    },
    problems: ['bad_request', 'bad_cursor', 'product_not_found', 'unavailable'],
  },
  'GET /api/products/:id/comments/held': {
    id: 'listHeldComments',
    tag: 'Comments',
    summary: "List the session's own comments that are held back",
    description: 'They wait for the operator, are in no other list and in no count. Newest first, at most 100.',
    needsSession: true,
    parameters: { id: PRODUCT_ID },
    answers: { 200: { description: 'The comments', example: { items: [] } } },
    problems: ['bad_request', 'session_required', 'product_not_found', 'unavailable'],
  },
  'POST /api/comments': {
    id: 'addComment',
    tag: 'Comments',
    summary: 'Comment on a product',
    description: `The text is trimmed and then has 1 to ${LIMITS.commentCharacters} characters. The author is always \`You\`, with the default avatar and no badge. A field \`website\`, which no person fills in, marks the comment as a program's: it is held back.`,
    needsSession: true,
    takesIdempotencyKey: true,
    isLimited: true,
    bodyExample: { productId: 'git', content: 'Worktrees!' },
    answers: {
      200: {
        description: 'The comment that this idempotency key has made before',
        example: { comment: COMMENT_EXAMPLE },
      },
      201: { description: 'The new comment', example: { comment: COMMENT_EXAMPLE } },
    },
    problems: [
      'bad_request',
      'session_required',
      'comment_incomplete',
      'idempotency_key_invalid',
      'product_not_found',
      'comment_not_found',
      'body_too_large',
      'unsupported_media_type',
      'comment_too_long',
      'rate_limited',
      'unavailable',
      'overloaded',
    ],
  },
  'POST /api/comments/:id/like': {
    id: 'likeComment',
    tag: 'Comments',
    summary: 'Like a comment',
    description: 'One like more for each request; there is no way to take it back.',
    needsSession: true,
    isLimited: true,
    parameters: { id: { description: 'The id of a comment, a UUID', example: COMMENT_EXAMPLE.id } },
    answers: { 200: { description: 'The likes now', example: { likes: 8 } } },
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
  'GET /api/events': {
    id: 'followChanges',
    tag: 'Events',
    summary: 'Follow changes as server-sent events',
    description:
      'Frames carry the present state, never a difference. `event: counts` has an array of `LiveCounts`, `event: comments` one of `LiveComment` of the named products; `event: catalogue` and `event: refetch` say that what is shown has to be read again. A comment line comes at least every 25 seconds.',
    takesLastEventId: true,
    isLimited: true,
    parameters: {
      products: {
        description: `Ids of products, separated by commas; at most ${LIMITS.eventProducts}. Without it: all counts`,
        example: 'git,rust',
      },
      since: {
        description: 'The moment in milliseconds since 1970 from which on changes are sent first',
        example: '1795201200000',
      },
    },
    answers: {
      200: {
        description: 'A stream that does not end',
        content: {
          type: 'text/event-stream',
          data: Type.Union([Type.Array(LiveCountsSchema), Type.Array(LiveCommentSchema)]),
        },
        example: 'id: 1795201200000\nevent: counts\ndata: [{"id":"git","upvotes":10,"comments":3}]\n\n',
      },
    },
    problems: ['bad_request', 'too_many_products', 'rate_limited', 'overloaded'],
  },
  'GET /api/openapi.json': {
    id: 'getOpenApi',
    tag: 'Reference',
    summary: 'This description, for programs',
    isKept: true,
    answers: { 200: { description: 'An OpenAPI 3.1 document', content: { type: 'application/json' } } },
    problems: ['bad_request'],
  },
  'GET /api/docs': {
    id: 'getReference',
    tag: 'Reference',
    summary: 'This description, for people',
    isKept: true,
    answers: { 200: { description: 'A page', content: { type: 'text/html' } } },
    problems: ['bad_request'],
  },
};
