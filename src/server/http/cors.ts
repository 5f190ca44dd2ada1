import type { FastifyInstance, FastifyRequest } from 'fastify';
import * as paths from '../../contract/paths.ts';
import { NO_STORE } from './cache-control.ts';
import { pathOf, type RouteTable } from './route-table.ts';

/** Headers that pages of other origins may read in addition to the safelisted ones. */
const EXPOSED_HEADERS = 'ETag, Age, Allow, Content-Length, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id';

/** Headers of a response to GET or HEAD. */
const CORS_HEADERS = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS };

/** Headers of a response to a preflight for GET or HEAD. */
const PREFLIGHT_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, HEAD',
  // X-User-Session and Content-Type are not allowed, because a page of another origin must not act for a visitor or
  // write.
  'access-control-allow-headers': 'If-None-Match, If-Modified-Since, Cache-Control, Last-Event-ID',
  // A day is the most that any browser applies (Firefox). Chromium applies two hours.
  'access-control-max-age': '86400',
  'cache-control': NO_STORE,
};

const SITEMAP_SHARDS = paths.sitemapShard.route.replace(':shard', '');
const FEEDS = new Set<string>([
  paths.feed,
  paths.jsonFeed,
  paths.leaderboardFeed,
  paths.oembed.route,
  paths.sitemap,
  paths.robots,
]);

/**
 * Lets pages of any origin read the public API and the feeds (the Fetch Standard's CORS protocol), but not write.
 * Responses to writes have no CORS headers. A preflight for a write is refused like any other OPTIONS request.
 * Credentials are never allowed.
 */
export function allowCrossOriginReads(app: FastifyInstance, routes: RouteTable): void {
  app.addHook('onRequest', (request, reply, done) => {
    const path = pathOf(request.url);
    reply.headers(corsHeadersFor(path, request.method));
    if (isPublic(path) && isReadPreflight(request) && routes.methodsOf(path).includes('GET')) {
      return reply.code(204).headers(PREFLIGHT_HEADERS).send();
    }
    done();
  });
}

/** Returns the CORS headers of a response to a request for this path. */
export function corsHeadersFor(path: string, method = 'GET'): Readonly<Record<string, string>> {
  return isReadMethod(method) && isPublic(path) ? CORS_HEADERS : {};
}

/** Returns whether pages of any origin may read a path. */
function isPublic(path: string): boolean {
  return (
    path.startsWith(paths.api.prefix) ||
    path.startsWith(SITEMAP_SHARDS) ||
    path.endsWith('/comments.xml') ||
    FEEDS.has(path)
  );
}

function isReadMethod(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD';
}

function isReadPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers.origin !== undefined && isReadMethod(headers['access-control-request-method']);
}
