import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { LIMITS } from '../../contract/limits.ts';
import { EventsQuerySchema, LiveCommentSchema, LiveCountsSchema } from '../../contract/live/schema.ts';
import * as paths from '../../contract/paths.ts';
import { isProductId } from '../../contract/products/fields.ts';
import { CoreError } from '../../core/core-error.ts';
import type { StreamLimits } from '../../settings/rate-limits.ts';
import { hijack, occupyConnection } from '../http/connections.ts';
import { createStreamLimiter } from '../limits/open-per-network.ts';
import { EventStream } from '../live/event-stream.ts';
import type { Live } from '../live/live.ts';
import type { Since } from '../live/pending-updates.ts';
import type { Operation } from '../openapi/parts.ts';

interface Options {
  live: Live;
  limits: StreamLimits;
}

/** How long a client whose network has reached its limit on streams should wait. */
const RETRY_AFTER_S = 30;

/** Proxies must not cache, compress or buffer streams. A stream ends with its connection. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

export const eventRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { live, limits }) => {
  const limiter = createStreamLimiter(limits);
  app.addHook('preClose', () => live.close());

  app.get(
    paths.api.events,
    { schema: { querystring: EventsQuerySchema }, config: { operation: FOLLOW_CHANGES, isStream: true } },
    (request, reply) => {
      const productIds = productsOf(request.query.products);
      const since = sinceOf(request.headers['last-event-id'] ?? request.query.since);
      const socket = occupyConnection(reply);
      const release = take(request, reply);
      hijack(reply, STREAM_HEADERS);
      // Turns off chunked encoding, because frames are written directly to the socket.
      reply.raw.removeHeader('transfer-encoding');
      if (request.method === 'HEAD') {
        release();
        reply.raw.end();
        return;
      }
      const stream = new EventStream(reply.raw, socket);
      stream.onClose(release);
      live.open(stream, productIds, since);
    },
  );

  /**
   * Takes a slot among the open streams, and sets the header fields of draft-ietf-httpapi-ratelimit-headers-11.
   * @returns a function that releases the slot.
   */
  function take({ ip }: FastifyRequest, reply: FastifyReply): () => void {
    if (limits.perNetwork !== undefined) {
      reply.header('RateLimit-Policy', `"network";q=${limits.perNetwork};qu="concurrent-requests"`);
    }
    const left = limiter.remaining(ip);
    if (left === 0) reply.header('Retry-After', RETRY_AFTER_S);
    if (left !== undefined) reply.header('RateLimit', `"network";r=${Math.max(0, left - 1)}`);
    return limiter.acquire(ip);
  }
};

/** Returns the ids of a list, or undefined for all products. Malformed ids are dropped, because no product has them. */
function productsOf(list: string | undefined): string[] | undefined {
  const ids = (list ?? '').split(',').filter((id) => id !== '');
  if (ids.length > LIMITS.eventProducts) {
    throw new CoreError('too_many_products', `A stream can subscribe to at most ${LIMITS.eventProducts} products.`);
  }
  return ids.length === 0 ? undefined : ids.filter(isProductId);
}

function sinceOf(text: string | string[] | undefined): Since | undefined {
  if (text === undefined || text === '') return undefined;
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 'unknown';
}

/** The OpenAPI metadata of this route. */
const FOLLOW_CHANGES: Operation = {
  id: 'followChanges',
  tag: 'Events',
  summary: 'Follow changes as server-sent events',
  description:
    'Events describe the current state, not deltas. `counts` contains an array of `LiveCounts`. `comments` contains an array of `LiveComment` for the products in `products`. `catalogue` and `refetch` contain an empty object, and ask the client to refetch the displayed data. A heartbeat with the latest id is sent every 25 seconds.',
  takesLastEventId: true,
  isRateLimited: true,
  parameters: {
    products: {
      description: `Comma-separated product ids, at most ${LIMITS.eventProducts}. If omitted, the stream contains the counts of all products and no comments`,
      example: 'git,rust',
    },
    since: {
      description: 'Unix time in milliseconds; the stream begins with the changes since then',
      example: '1795201200000',
    },
  },
  responses: {
    200: {
      description: 'A stream that stays open',
      content: {
        type: 'text/event-stream',
        data: Type.Union([
          Type.Array(LiveCountsSchema),
          Type.Array(LiveCommentSchema),
          Type.Object({}, { additionalProperties: false }),
        ]),
      },
      example: 'id: 1795201200000\nevent: counts\ndata: [{"id":"git","upvotes":10,"comments":3}]\n\n',
    },
  },
  problems: ['bad_request', 'too_many_products', 'rate_limited', 'overloaded'],
};
