import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { SESSION_HEADER, SESSION_PATTERN } from '../../contract/api.ts';
import { IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_PATTERN } from '../../contract/comments/defaults.ts';
import { CoreError } from '../../core/core-error.ts';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';

const SESSION = new RegExp(SESSION_PATTERN);
const HEADER_NAME = SESSION_HEADER.toLowerCase();

/** Returns the visitor's session id. @throws CoreError `session_required` if it is missing or malformed. */
export function sessionOf(request: FastifyRequest): string {
  const session = knownSessionOf(request);
  if (session === undefined) {
    throw new CoreError('session_required', `The header ${SESSION_HEADER} must contain the visitor's session id.`);
  }
  return session;
}

/** Returns the session id, or undefined if it is missing or malformed. */
export function knownSessionOf(request: FastifyRequest): string | undefined {
  const session = request.headers[HEADER_NAME];
  return typeof session === 'string' && SESSION.test(session) ? session : undefined;
}

const BEARER = /^Bearer +(\S+)$/i;

/** Matches credentials of a scheme other than Bearer, such as the password that a proxy requires from every visitor. */
const OTHER_SCHEME = /^(?!Bearer )[a-z-]+ /i;

/** Returns the maker key of a request, or undefined if the request has none. A malformed key matches no submission. */
export function makerKeyOf({ headers: { authorization } }: Pick<FastifyRequest, 'headers'>): string | undefined {
  if (authorization === undefined || OTHER_SCHEME.test(authorization)) return undefined;
  return BEARER.exec(authorization)?.[1] ?? 'malformed';
}

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/**
 * Returns the request's idempotency key, or undefined if the header is missing.
 * @throws CoreError `idempotency_key_invalid`.
 */
export function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.headers[IDEMPOTENCY_HEADER.toLowerCase()];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw new CoreError('idempotency_key_invalid', `${IDEMPOTENCY_HEADER} must be 1 to 200 visible ASCII characters.`);
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns whether the other end of a connection is a trusted proxy. */
    isTrustedPeer: (request: IncomingMessage) => boolean;
  }
}

/** Matches the request ids that proxies generate. Other values are not logged, because clients may have chosen them. */
const ID_OF_PROXY = /^[A-Za-z0-9._-]{8,64}$/;

/** Returns a generator of request ids: a counter after a random prefix, which distinguishes processes. */
export function createRequestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/**
 * Decorates the app with `isTrustedPeer`, because the `X-Request-Id` of a request is logged only if a trusted proxy
 * sent it. Call this before the first route is registered.
 */
export function trustRequestIds(app: FastifyInstance, trustProxy: TrustedProxies | undefined): void {
  app.decorate('isTrustedPeer', ({ socket }: IncomingMessage) =>
    Boolean(trustProxy && socket.remoteAddress && trustProxy(socket.remoteAddress)),
  );
}

/**
 * Returns the ids of a request for the log: the site's own id, which error responses also contain, and the
 * `X-Request-Id` from a trusted proxy. The proxy may have passed on an id from the client.
 */
export function requestIdsOf({ id, raw, server }: FastifyRequest): { requestId: string; proxyRequestId?: string } {
  const given = raw.headers['x-request-id'];
  const isUsable = typeof given === 'string' && ID_OF_PROXY.test(given) && server.isTrustedPeer(raw);
  return isUsable ? { requestId: id, proxyRequestId: given } : { requestId: id };
}
