import type { Server } from 'node:http';
import type { FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import { LIMITS } from '../../contract/limits.ts';
import { CoreError } from '../../core/core-error.ts';
import { handleConnectionFault } from './connection-faults.ts';
import { boundPipelinedRequests } from './pipelined-requests.ts';
import { endStalledConnections } from './stalled-connections.ts';

/** The longest address: a question about 100 upvotes has some 6,700 characters. */
const URL_BYTES = 8 * 1024;

/** Address and headers together; Node refuses more before anything of ours sees it. */
const HEAD_BYTES = 16 * 1024;

/**
 * Beyond this, and one for each stream that may be open, new connections are closed at once: each costs memory, and there
 * are only so many file descriptors. Streams never take the place of requests.
 */
const MAX_CONNECTIONS = 5_000;

/** How big and how slow a request may be. A connection that keeps to none of it is let go. */
export const SERVER_BOUNDS = {
  bodyLimit: LIMITS.bodyBytes,
  // The whole request must be here by then, its headers earlier; a connection that says nothing at all counts from its
  // beginning.
  requestTimeout: 30_000,
  http: { maxHeaderSize: HEAD_BYTES, headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
  // Longer than the 60 seconds for which proxies commonly keep a connection: they must be the ones to close it.
  keepAliveTimeout: 65_000,
  // Connections that stand still are found by stalled-connections.ts.
  connectionTimeout: 0,
  // As long as an address can be at all: that an id is too long to exist is for its route to say.
  routerOptions: { maxParamLength: URL_BYTES },
  clientErrorHandler: handleConnectionFault,
} as const satisfies FastifyHttpOptions<Server>;

/** Bounds that are no option of the server. To be called before the first route. */
export function boundRequests(app: FastifyInstance, maxStreams: number): void {
  endStalledConnections(app);
  boundPipelinedRequests(app);
  app.server.maxConnections = MAX_CONNECTIONS + maxStreams;
  app.addHook('onRequest', (request, _reply, done) => {
    refuseUnusableAddress(request);
    done();
  });
}

function refuseUnusableAddress({ url }: FastifyRequest): void {
  if (url.length > URL_BYTES) throw new CoreError('uri_too_long', `An address has at most ${URL_BYTES} characters`);
  // A page shows what it can make of a mistyped address; what a program sends must mean what it says.
  if (url.startsWith('/api/') && url.includes('%') && !isDecodable(url)) {
    throw new CoreError('bad_request', 'The address is not a valid URL');
  }
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}
