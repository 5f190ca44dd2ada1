import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { Socket } from 'node:net';
import type { ConnectionError, FastifyHttpOptions, FastifyInstance, FastifyRequest } from 'fastify';
import * as paths from '../../contract/paths.ts';
import type { ProblemCode } from '../../contract/problem.ts';
import { CoreError } from '../../core/core-error.ts';
import { endStalledConnections, limitPipelinedRequests } from './connections.ts';
import { PROBLEM_MEDIA_TYPE, problem } from './problems.ts';

/** Maximum size of a JSON request body, unless its route sets another limit. */
const BODY_BYTES = 16 * 1024;

/** Maximum length of a URL. The URL that requests the upvotes of 100 products may have 6,700 characters. */
const URL_BYTES = 8 * 1024;

/** Maximum size of URL and headers together, which Node enforces. */
const HEAD_BYTES = 16 * 1024;

/**
 * Maximum number of connections, in addition to one for each possible stream. Further connections are closed
 * immediately, because each costs memory and a file descriptor.
 */
const MAX_CONNECTIONS = 5_000;

/** Limits on the size and time of requests. A connection that exceeds them is closed. */
export const SERVER_LIMITS = {
  bodyLimit: BODY_BYTES,
  // Timeout for receiving a whole request, from its first byte or, before that, from the opening of the connection.
  // Headers and most bodies (`endSlowBodies`) have shorter timeouts. Imports have a longer one, which `app.ts` sets.
  requestTimeout: 180_000,
  http: { maxHeaderSize: HEAD_BYTES, headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
  // Longer than the 60 seconds after which proxies commonly close idle connections: if the server closed first, a proxy
  // might send a request to a closed connection.
  keepAliveTimeout: 65_000,
  // `endStalledConnections` finds stalled connections at a lower cost.
  connectionTimeout: 0,
  // A parameter may be as long as a URL: its route decides whether an id is too long.
  routerOptions: { maxParamLength: URL_BYTES },
  clientErrorHandler: handleConnectionError,
} as const satisfies FastifyHttpOptions<Server>;

/** Adds the limits for which the server has no option. Call this before the first route. */
export function enforceServerLimits(app: FastifyInstance, maxStreams: number): void {
  endStalledConnections(app);
  limitPipelinedRequests(app);
  endSlowBodies(app);
  app.server.maxConnections = MAX_CONNECTIONS + maxStreams;
  app.addHook('onRequest', (request, _reply, done) => {
    refuseInvalidUrl(request);
    done();
  });
}

function refuseInvalidUrl({ url }: FastifyRequest): void {
  if (url.length > URL_BYTES) throw new CoreError('uri_too_long', `The URL is longer than ${URL_BYTES} characters.`);
  // Pages ignore invalid escape sequences in a query, but an API request with one is refused.
  if (url.startsWith(paths.api.prefix) && url.includes('%') && !isDecodable(url)) {
    throw new CoreError('bad_request', 'The URL is not valid.');
  }
}

function isDecodable(url: string): boolean {
  try {
    // The bundler would remove a call whose result is not used.
    return decodeURIComponent(url) !== '';
  } catch {
    return false;
  }
}

/**
 * Responds to malformed and slow requests, and closes their connections. These requests are not logged, because the
 * error contains their raw bytes.
 */
export function handleConnectionError(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // Node's name for the response that has the socket. If it has begun, the error would become part of its body.
  const { _httpMessage: current } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (!socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const response = problem(...explain(error));
  const body = JSON.stringify(response);
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`,
    `Content-Type: ${PROBLEM_MEDIA_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  // Ending the socket is not enough: a client that never closes its side would keep the connection open.
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function explain({ code, rawPacket }: ConnectionError): [ProblemCode, string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['request_timeout', 'The request took too long to arrive.'];
  if (code !== 'HPE_HEADER_OVERFLOW') return ['bad_request', 'This is not a valid HTTP request.'];
  // Node passes the chunk that exceeded the limit, as a buffer, although Fastify's type differs.
  const bytes: unknown = rawPacket;
  const [firstLine = ''] = Buffer.isBuffer(bytes) ? bytes.toString('latin1').split('\r\n', 1) : [];
  return firstLine.length > URL_BYTES && firstLine.includes(' /')
    ? ['uri_too_long', 'The URL is too long.']
    : ['headers_too_large', 'The headers are larger than 16 KiB.'];
}

/** The timeout for a body: a base, plus time in proportion to its size. A picture of 5 MiB may take 2.5 minutes. */
const BODY_TIMEOUT = { baseMs: 30_000, bytesPerMs: 44 };

/** Stops the timers of bodies that are still arriving. */
const stopTimers = new WeakMap<IncomingMessage, () => void>();

/**
 * Ends requests whose bodies arrive too slowly, as Node does for requests with slow headers. This also applies to
 * requests that the console or the response cache handles, and to those that have already been refused.
 */
export function endSlowBodies({ server }: FastifyInstance, { baseMs, bytesPerMs } = BODY_TIMEOUT): void {
  server.on('request', (request: IncomingMessage) => {
    const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
    if (length === '0' && coding === undefined) return;
    // With a time longer than Node supports, a timer would expire at once.
    const timeoutMs = Math.min(baseMs + Number(length) / bytesPerMs, SERVER_LIMITS.requestTimeout);
    const timer = setTimeout(() => endSlowBody(server, request), timeoutMs).unref();
    const stop = () => clearTimeout(timer);
    request.once('end', stop).once('close', stop);
    stopTimers.set(request, stop);
  });
  // By default, Node rejects an unknown `Expect` header itself, without this timer. Servers may ignore the header, too.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/** Lets the body of this request take up to `IMPORT_TIMEOUT_MS` to arrive. */
export function allowSlowBody(request: IncomingMessage): void {
  stopTimers.get(request)?.();
}

/** Responds that the body took too long, and closes the connection. */
export function endSlowBody(server: Server, { socket }: IncomingMessage): void {
  const late = Object.assign(new Error('The body did not arrive in time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  // Requests that tests inject have no real socket.
  if (socket instanceof Socket) server.emit('clientError', late, socket);
}
