import type { IncomingMessage, RequestListener } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NO_STORE, OWN_WRITE } from '../http/cache-control.ts';
import { hasLastWrite } from '../http/last-write-cookie.ts';
import { type Encoding, matchesEntityTag, preferredEncoding, type Representations } from '../http/representations.ts';
import type { ChargeRequest } from '../limits/limit-requests.ts';
import type { CacheRequest, RevalidationReason, Version } from './cached-response.ts';
import type { ResponseCache, Served } from './response-cache.ts';

/** The header fields of one version in one encoding. */
interface VersionHeaders {
  /** The fields that a 304 response also includes. */
  validation: Readonly<Record<string, string>>;
  all: Readonly<Record<string, string>>;
}

/** Values that, like the compressed bytes, are built once for each content and encoding. */
type ByEncoding<Value> = WeakMap<Representations, Map<Encoding, Value>>;

const builtHeaders: ByEncoding<VersionHeaders> = new WeakMap();

/**
 * Responds from the cache, with 304 if the client already has the version. Hits are synchronous, because a promise
 * would cost as much as sending the response.
 */
export function sendFromCache(
  cache: ResponseCache,
  wanted: CacheRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const isOwn = wanted.notBefore !== undefined;
  const served = cache.get(wanted);
  if (served instanceof Promise) return served.then((produced) => send(produced, isOwn, request, reply));
  return send(served, isOwn, request, reply);
}

/**
 * Returns a function that counts revalidations for a request against the search limit: all of them with `isCharged`,
 * otherwise only those that the last-write cookie requires, because clients can forge it.
 */
export function chargeRevalidation(
  charge: ChargeRequest,
  request: FastifyRequest,
  reply: FastifyReply,
  isCharged: boolean,
): (reason: RevalidationReason) => void {
  return (reason) => {
    // For any other reason, a refused client gets the cached response, so the refusal must not set headers.
    const isRefusable = reason === 'miss' || reason === 'expired';
    if (isCharged || reason === 'claim') charge('search', request, isRefusable ? reply : undefined);
  };
}

function send(
  { version, ageS }: Served,
  isOwn: boolean,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const { head, content } = version;
  const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
  const headers = headersOf(version, encoding);
  // A visitor who has just written may get a newer version, which shared caches must not store.
  const caching = isOwn && head.cacheControl !== NO_STORE ? { 'cache-control': OWN_WRITE } : {};
  if (ageS !== undefined) reply.header('Age', ageS);
  if (head.status === 200 && isNotModified(version, encoding, request)) {
    reply.code(304).headers(headers.validation).headers(caching).send();
    return;
  }
  reply.code(head.status).headers(headers.all).headers(caching);
  const bytes = content.bytes(encoding);
  if (bytes instanceof Promise) return bytes.then((encoded) => void reply.send(encoded));
  reply.send(bytes);
}

/**
 * Returns whether the client already has this version. `If-Modified-Since` counts only without `If-None-Match` (RFC
 * 9110, section 13.2.2).
 */
function isNotModified(
  { head, content, contentSince }: Version,
  encoding: Encoding,
  { headers }: FastifyRequest,
): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return matchesEntityTag(tags, content.tag(encoding));
  const date = head.isDated ? headers['if-modified-since'] : undefined;
  return date !== undefined && Date.parse(date) >= Math.floor(contentSince / 1_000) * 1_000;
}

function headersOf({ head, content, contentSince }: Version, encoding: Encoding): VersionHeaders {
  return buildOnce(builtHeaders, content, encoding, () => {
    const validation = {
      vary: head.vary ? `Accept-Encoding, ${head.vary}` : 'Accept-Encoding',
      'cache-control': head.cacheControl,
      ...(head.status === 200 ? { etag: content.tag(encoding) } : {}),
      ...(head.isDated ? { 'last-modified': new Date(contentSince).toUTCString() } : {}),
    };
    const coding = encoding === 'identity' ? {} : { 'content-encoding': encoding };
    return { validation, all: { ...validation, 'content-type': head.type, ...coding } };
  });
}

function buildOnce<Value>(
  built: ByEncoding<Value>,
  content: Representations,
  encoding: Encoding,
  build: () => Value,
): Value {
  let byEncoding = built.get(content);
  if (byEncoding === undefined) {
    byEncoding = new Map();
    built.set(content, byEncoding);
  }
  let value = byEncoding.get(encoding);
  if (value === undefined) {
    value = build();
    byEncoding.set(encoding, value);
  }
  return value;
}

interface FastPathOptions {
  cache: ResponseCache;
  /** Returns the header fields of every response at a URL. */
  commonHeaders: (url: string) => Readonly<Record<string, string>>;
  /** Whether responses must close their connections now. */
  endsConnections: () => boolean;
  /** Whether a header of the request may select a response other than the one at this URL. */
  needsRoute?: ((url: string, headers: IncomingMessage['headers']) => boolean) | undefined;
  /** Returns the route pattern of a URL, for metrics. */
  routeOf: (url: string) => string | undefined;
  /** Called for each response that the fast path sends. */
  observe?: FastPathObserver | undefined;
}

export type FastPathObserver = (response: { route: string | undefined; seconds: number }) => void;

/** The header fields of one version in one encoding, and the route of its URL. */
interface FastPathHeaders {
  /** Names and values, alternating. */
  fields: string[];
  route: string | undefined;
}

/**
 * Sends cached responses before Fastify sees the request, because Fastify's routing and hooks take longer than sending.
 * A response consists only of the cache entry and the `commonHeaders` of its URL.
 */
export function addFastPath(
  { server }: FastifyInstance,
  { cache, commonHeaders, routeOf, endsConnections, needsRoute, observe }: FastPathOptions,
): void {
  const built: ByEncoding<FastPathHeaders> = new WeakMap();

  const [handle] = server.listeners('request') as [RequestListener];
  server.off('request', handle).on('request', (request, response) => {
    const { url = '' } = request;
    // `peek` returns only versions with status 200.
    const isFast = isPlain(request) && !endsConnections() && !needsRoute?.(url, request.headers);
    const version = isFast ? cache.peek(url)?.version : undefined;
    if (version === undefined) return handle.call(server, request, response);
    const { content } = version;
    const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
    const bytes = content.bytes(encoding);
    if (bytes instanceof Promise) return handle.call(server, request, response);
    const { fields, route } = buildOnce(built, content, encoding, () => {
      const all = { ...commonHeaders(url), ...headersOf(version, encoding).all, 'content-length': `${bytes.length}` };
      return { fields: Object.entries(all).flat(), route: routeOf(url) };
    });
    if (observe) {
      const startedAt = performance.now();
      response.once('finish', () => observe({ route, seconds: (performance.now() - startedAt) / 1_000 }));
    }
    response.writeHead(200, fields).end(bytes);
  });
}

/**
 * Returns whether the response depends only on the URL and the encoding: a GET request without conditional headers and
 * without the cookie of a recent write.
 */
function isPlain(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'GET' &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    (headers.cookie === undefined || !hasLastWrite(headers.cookie))
  );
}
