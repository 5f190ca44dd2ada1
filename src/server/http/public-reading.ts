import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { NO_STORE } from './caching.ts';
import type { AllowedMethods } from './method-not-allowed.ts';

/** What a page elsewhere may do with the public API: read. */
const READING = 'GET, HEAD';

/** Headers of ours that a page elsewhere may see beside those that every page may. */
const EXPOSED = [
  'ETag',
  'Age',
  'Allow',
  'Content-Length',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Warning',
].join(', ');

/** What a page elsewhere may send. Not X-User-Session: it acts for no visitor. Not Content-Type: it writes nothing. */
const ACCEPTED = 'If-None-Match, If-Modified-Since, Cache-Control, Last-Event-ID';

/** A browser may keep the answer to a preflight for this long, a day; it asks again after less (Chromium: two hours). */
const PREFLIGHT_MAX_AGE_S = 86_400;

const FEEDS = new Set<string>([paths.feed, paths.jsonFeed, '/oembed', '/sitemap.xml', '/robots.txt']);

/**
 * Lets pages of any origin read the public API and the feeds (the Fetch Standard's CORS protocol), and only read: an answer to
 * a write names no origin, and a preflight for one is a wrong method like any other OPTIONS.
 *
 * No credentials are ever allowed, so what is read is what everybody may read.
 */
export function allowPublicReading(app: FastifyInstance, allowedMethods: AllowedMethods): void {
  app.addHook('onRequest', (request, reply, done) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const { method } = request;
    if (isPublic(path) && (method === 'GET' || method === 'HEAD')) {
      reply.header('Access-Control-Allow-Origin', '*').header('Access-Control-Expose-Headers', EXPOSED);
    } else if (isPublic(path) && isPreflightForReading(request) && allowedMethods(path).includes('GET')) {
      return allow(reply);
    }
    done();
  });
}

/** Whether an address belongs to what everybody may read, as programs do. */
function isPublic(path: string): boolean {
  return path.startsWith('/api/') || path.endsWith('/comments.xml') || FEEDS.has(path);
}

function isPreflightForReading({ method, headers }: FastifyRequest): boolean {
  const wanted = headers['access-control-request-method'];
  return method === 'OPTIONS' && headers.origin !== undefined && (wanted === 'GET' || wanted === 'HEAD');
}

function allow(reply: FastifyReply): void {
  reply
    .code(204)
    .header('Access-Control-Allow-Origin', '*')
    .header('Access-Control-Allow-Methods', READING)
    .header('Access-Control-Allow-Headers', ACCEPTED)
    .header('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_S)
    .header('Cache-Control', NO_STORE)
    .send();
}
