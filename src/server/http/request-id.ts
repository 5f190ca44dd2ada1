import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Whether the other end of a connection is a proxy whose word counts. */
    isTrustedPeer: (request: IncomingMessage) => boolean;
  }
}

/** What proxies commonly make, and nothing that could break a line of a log. */
const ID_OF_PROXY = /^[A-Za-z0-9._-]{8,64}$/;

/** Numbers the requests of this process, under a prefix that no other process has. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** To be called before the first route. */
export function trustRequestIds(app: FastifyInstance, trustProxy: TrustedProxies | undefined): void {
  app.decorate('isTrustedPeer', ({ socket }: IncomingMessage) =>
    Boolean(trustProxy && socket.remoteAddress && trustProxy(socket.remoteAddress)),
  );
}

/**
 * The name under which a request is in the log and in its problem: the trusted proxy's `X-Request-Id`, so that its log and
 * ours can be put together, else our own. Most requests are never asked for it.
 */
export function requestIdOf({ id, raw, server }: FastifyRequest): string {
  const given = raw.headers['x-request-id'];
  return typeof given === 'string' && ID_OF_PROXY.test(given) && server.isTrustedPeer(raw) ? given : id;
}
