import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Encoding, preferredEncoding } from '../http/accept-encoding.ts';
import { OWN } from '../http/caching.ts';
import { isKnownTag } from '../http/negotiate-representation.ts';
import type { Representations } from '../http/representations.ts';
import type { AnswerRequest } from './answer.ts';
import type { AnswerCache, Served } from './answer-cache.ts';

/** What is told of one sending beside what is sent. */
interface Sending {
  /** Made new for one visitor, so no cache in between may take it, or give this visitor an older one. */
  isOwn: boolean;
  /** Whether everybody who asks at this address gets just this, in this encoding. */
  isForAll: boolean;
}

/** The fields of one version in one encoding. */
interface Head {
  /** Those that 304 has as well. */
  validation: Readonly<Record<string, string>>;
  all: Readonly<Record<string, string>>;
  sent?: Sent;
}

/** How it went out to the address that is its key, and goes out again. */
interface Sent {
  /** With what the hooks of that address add, as names and values in turn. */
  fields: string[];
  /** The pattern of that address. */
  route: string | undefined;
}

/** Made once, like the bytes that they belong to: to send what is kept costs little more than this. */
const heads = new WeakMap<Representations, Map<Encoding, Head>>();

/**
 * Answers from the cache, with 304 where the client has just this version. At once where the answer is there, since a promise
 * and its turns would cost as much as the sending: then there is nothing to wait for.
 */
export function sendFromCache(
  cache: AnswerCache,
  wanted: AnswerRequest,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const served = cache.get(wanted);
  const isOwn = wanted.notBefore !== undefined;
  if (served instanceof Promise) {
    // Whom it was made for may have been charged for it, and is told so.
    return served.then((made) => send(made, { isOwn, isForAll: false }, request, reply));
  }
  return send(served, { isOwn, isForAll: !isOwn && wanted.key === request.url }, request, reply);
}

function send(
  served: Served,
  { isOwn, isForAll }: Sending,
  request: FastifyRequest,
  reply: FastifyReply,
): undefined | Promise<void> {
  const { answer, content, staleForS } = served;
  const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
  const head = headOf(served, encoding);
  if (staleForS !== undefined) reply.header('Age', staleForS).header('Warning', '110 - "Response is Stale"');
  if (answer.status === 200 && isKnown(served, encoding, request)) {
    reply.code(304).headers(head.validation);
    if (isOwn) reply.header('cache-control', OWN);
    reply.send();
    return;
  }
  reply.code(answer.status).headers(head.all);
  if (isOwn) reply.header('cache-control', OWN);
  const bytes = content.bytes(encoding);
  if (bytes instanceof Promise) return bytes.then((encoded) => void reply.send(encoded));
  if (isForAll && answer.status === 200 && staleForS === undefined) {
    head.sent ??= { fields: fieldsOf(reply, bytes), route: request.routeOptions.url };
  }
  reply.send(bytes);
}

function fieldsOf(reply: FastifyReply, bytes: Buffer): string[] {
  const fields = { ...reply.getHeaders(), 'content-length': bytes.length };
  return Object.entries(fields).flatMap(([name, value]) => [name, String(value)]);
}

/** Sends what went out in this encoding before, to the same address. @returns how, or undefined where nothing was sent. */
export function sendAgain({ content }: Served, wished: Encoding, response: ServerResponse): Sent | undefined {
  const encoding = content.encodingFor(wished);
  const sent = heads.get(content)?.get(encoding)?.sent;
  if (sent === undefined) return undefined;
  const bytes = content.bytes(encoding);
  if (bytes instanceof Promise) return undefined;
  response.writeHead(200, sent.fields).end(bytes);
  return sent;
}

/** Whether the client has this version; a date is asked for only where there is no tag (RFC 9110, section 13.2.2). */
function isKnown({ answer, content, contentSince }: Served, encoding: Encoding, { headers }: FastifyRequest): boolean {
  const tags = headers['if-none-match'];
  if (tags !== undefined) return isKnownTag(tags, content.tag(encoding));
  const date = answer.isDated ? headers['if-modified-since'] : undefined;
  return date !== undefined && Date.parse(date) >= Math.floor(contentSince / 1_000) * 1_000;
}

function headOf({ answer, content, contentSince }: Served, encoding: Encoding): Head {
  let made = heads.get(content);
  if (made === undefined) {
    made = new Map();
    heads.set(content, made);
  }
  let head = made.get(encoding);
  if (head === undefined) {
    const validation = {
      vary: 'Accept-Encoding',
      'cache-control': answer.cacheControl,
      ...(answer.status === 200 ? { etag: content.tag(encoding) } : {}),
      ...(answer.isDated ? { 'last-modified': new Date(contentSince).toUTCString() } : {}),
    };
    const coding = encoding === 'identity' ? {} : { 'content-encoding': encoding };
    head = { validation, all: { ...validation, 'content-type': answer.type, ...coding } };
    made.set(encoding, head);
  }
  return head;
}
