import type { FastifyReply, FastifyRequest } from 'fastify';
import { OWN } from '../http/problems.ts';
import { type Encoding, isKnownTag, preferredEncoding, type Representations } from '../http/representations.ts';
import type { CacheRequest, Version } from './cached-response.ts';
import type { ResponseCache, Served } from './response-cache.ts';

/** The header fields of one version in one encoding. */
interface VersionHeaders {
  /** Those that a 304 has, too. */
  validation: Readonly<Record<string, string>>;
  all: Readonly<Record<string, string>>;
}

/** Built once per content, like its compressed bytes. */
const headersByContent = new WeakMap<Representations, Map<Encoding, VersionHeaders>>();

/**
 * Responds from the cache, with 304 if the client has this version. Synchronous for hits: a promise would cost as much
 * as the sending.
 */
export function sendFromCache(
  cache: ResponseCache,
  wanted: CacheRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  // A claim to have just written makes the response newer than what other visitors get.
  const isOwn = wanted.notBefore !== undefined;
  const served = cache.get(wanted);
  if (served instanceof Promise) return served.then((made) => send(made, isOwn, request, reply));
  return send(served, isOwn, request, reply);
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
  if (ageS !== undefined) reply.header('Age', ageS);
  if (head.status === 200 && isKnown(version, encoding, request)) {
    reply.code(304).headers(headers.validation);
    if (isOwn) reply.header('cache-control', OWN);
    reply.send();
    return;
  }
  reply.code(head.status).headers(headers.all);
  if (isOwn) reply.header('cache-control', OWN);
  const bytes = content.bytes(encoding);
  if (bytes instanceof Promise) return bytes.then((encoded) => void reply.send(encoded));
  reply.send(bytes);
}

/** Whether the client has this version; a date counts only without a tag (RFC 9110, section 13.2.2). */
function isKnown({ head, content, contentSince }: Version, encoding: Encoding, { headers }: FastifyRequest): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return isKnownTag(tags, content.tag(encoding));
  const date = head.isDated ? headers['if-modified-since'] : undefined;
  return date !== undefined && Date.parse(date) >= Math.floor(contentSince / 1_000) * 1_000;
}

export function headersOf({ head, content, contentSince }: Version, encoding: Encoding): VersionHeaders {
  let byEncoding = headersByContent.get(content);
  if (byEncoding === undefined) {
    byEncoding = new Map();
    headersByContent.set(content, byEncoding);
  }
  let headers = byEncoding.get(encoding);
  if (headers === undefined) {
    const validation = {
      vary: 'Accept-Encoding',
      'cache-control': head.cacheControl,
      ...(head.status === 200 ? { etag: content.tag(encoding) } : {}),
      ...(head.isDated ? { 'last-modified': new Date(contentSince).toUTCString() } : {}),
    };
    const coding = encoding === 'identity' ? {} : { 'content-encoding': encoding };
    headers = { validation, all: { ...validation, 'content-type': head.type, ...coding } };
    byEncoding.set(encoding, headers);
  }
  return headers;
}
