import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LIMITS } from '../../contract/limits.ts';
import { EventsQuerySchema } from '../../contract/live/schema.ts';
import { paths } from '../../contract/paths.ts';
import { isProductId } from '../../contract/products/product-id.ts';
import { CoreError } from '../../core/core-error.ts';
import type { StreamLimits } from '../../settings/stream-limits.ts';
import { EventStream } from '../live/event-stream.ts';
import type { Live } from '../live/live.ts';
import type { Since } from '../live/pending-news.ts';
import { createStreamSeats } from '../live/stream-seats.ts';

interface Options {
  live: Live;
  limits: StreamLimits;
}

/** How long a network that holds all its streams should wait. */
const RETRY_AFTER_S = 30;

/** Not kept, not compressed and not collected by anything in between; the end of the connection is the end of the stream. */
const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store, no-transform',
  'x-accel-buffering': 'no',
  connection: 'close',
} as const;

export const eventRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { live, limits }) => {
  const seats = createStreamSeats(limits);
  app.addHook('preClose', (done) => {
    live.close();
    done();
  });

  app.get(
    paths.api.events,
    { schema: { querystring: EventsQuerySchema }, config: { isStream: true } },
    (request, reply) => {
      const productIds = productsOf(request.query.products);
      const since = sinceOf(request.headers['last-event-id'] ?? request.query.since);
      const { socket } = reply.raw;
      // Behind a stream on the same connection, whose answer has no end.
      if (socket === null) throw new CoreError('bad_request', 'A stream needs a connection of its own');
      const release = take(request, reply);
      reply.hijack();
      for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...STREAM_HEADERS })) {
        if (value !== undefined) reply.raw.setHeader(name, value);
      }
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

  /** A place among the open streams, told in the fields of draft-ietf-httpapi-ratelimit-headers-11. */
  function take({ ip }: FastifyRequest, reply: FastifyReply): () => void {
    if (limits.perNetwork !== undefined) {
      reply.header('RateLimit-Policy', `"network";q=${limits.perNetwork};qu="concurrent-requests"`);
    }
    const left = seats.left(ip);
    if (left === 0) reply.header('Retry-After', RETRY_AFTER_S);
    if (left !== undefined) reply.header('RateLimit', `"network";r=${Math.max(0, left - 1)}`);
    return seats.take(ip);
  }
};

/** Undefined: all. Ids that no product can have are of no product. */
function productsOf(list: string | undefined): string[] | undefined {
  const ids = (list ?? '').split(',').filter((id) => id !== '');
  if (ids.length > LIMITS.eventProducts) {
    throw new CoreError('too_many_products', `At most ${LIMITS.eventProducts} products can be followed at once`);
  }
  return ids.length === 0 ? undefined : ids.filter(isProductId);
}

function sinceOf(text: string | string[] | undefined): Since | undefined {
  if (text === undefined || text === '') return undefined;
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 'unknown';
}
