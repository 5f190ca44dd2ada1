import type { IncomingMessage, RequestListener } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { hasLastWrite } from '../http/last-write-cookie.ts';
import { type Encoding, preferredEncoding, type Representations } from '../http/representations.ts';
import type { Version } from './cached-response.ts';
import type { ResponseCache } from './response-cache.ts';
import { headersOf } from './send-cached.ts';

interface FastPathOptions {
  cache: ResponseCache;
  /** Header fields of every response at an address. */
  commonHeaders: (url: string) => Readonly<Record<string, string>>;
  /** Whether responses are to close their connections now. */
  endsConnections: () => boolean;
  /** The route pattern of an address, for metrics. */
  routeOf: (url: string) => string | undefined;
  /** Called for each response sent here. */
  observe?: FastPathObserver | undefined;
}

export type FastPathObserver = (response: { route: string | undefined; seconds: number }) => void;

/** The header bytes of one version in one encoding. */
interface Head {
  /** Names and values, alternating. */
  fields: string[];
  route: string | undefined;
}

/**
 * Sends cached responses before Fastify sees the request, because its routing and hooks take longer than sending. A
 * response has only the cache entry and the `commonHeaders` of its address, never anything of another request.
 */
export function addFastPath(
  { server }: FastifyInstance,
  { cache, commonHeaders, routeOf, endsConnections, observe }: FastPathOptions,
): void {
  const heads = new WeakMap<Representations, Map<Encoding, Head>>();

  function headOf(url: string, version: Version, encoding: Encoding, bytes: Buffer): Head {
    let byEncoding = heads.get(version.content);
    if (byEncoding === undefined) {
      byEncoding = new Map();
      heads.set(version.content, byEncoding);
    }
    let head = byEncoding.get(encoding);
    if (head === undefined) {
      const fields = {
        ...commonHeaders(url),
        ...headersOf(version, encoding).all,
        'content-length': `${bytes.length}`,
      };
      head = { fields: Object.entries(fields).flat(), route: routeOf(url) };
      byEncoding.set(encoding, head);
    }
    return head;
  }

  const [handle] = server.listeners('request') as [RequestListener];
  server.off('request', handle).on('request', (request, response) => {
    const { url = '' } = request;
    const version = isPlain(request) && !endsConnections() ? cache.peek(url)?.version : undefined;
    if (version === undefined) return handle.call(server, request, response);
    const { content } = version;
    const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
    const bytes = content.bytes(encoding);
    if (bytes instanceof Promise) return handle.call(server, request, response);
    const { fields, route } = headOf(url, version, encoding, bytes);
    if (observe) {
      const startedAt = performance.now();
      response.once('finish', () => observe({ route, seconds: (performance.now() - startedAt) / 1_000 }));
    }
    response.writeHead(200, fields).end(bytes);
  });
}

/** A response depends only on address and encoding, unless one of these headers is present. */
function isPlain(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'GET' &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    (headers.cookie === undefined || !hasLastWrite(headers.cookie))
  );
}
