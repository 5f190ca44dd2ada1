import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredEncoding } from './accept-encoding.ts';
import { Representations } from './representations.ts';

const COMPRESSIBLE = /^(?:text\/|application\/(?:[a-z.]+\+)?(?:json|xml)|image\/svg)/;

/**
 * Gives every answer to GET and HEAD that was made here its representation: the encoding that the client prefers, a
 * strong ETag for just that encoding, and 304 where the client has it already.
 *
 * An answer that sets its own ETag, such as a file's, is left alone.
 */
export function negotiateRepresentation(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    // What comes from the cache is bytes already.
    if (typeof payload !== 'string' || !isNegotiable(request, reply)) done(null, payload);
    else represent(payload, request, reply).then((bytes) => done(null, bytes), done);
  });
}

function isNegotiable({ method }: FastifyRequest, reply: FastifyReply): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const type = String(reply.getHeader('content-type') ?? '');
  return COMPRESSIBLE.test(type) && !reply.hasHeader('etag') && !reply.hasHeader('content-encoding');
}

async function represent(payload: string, request: FastifyRequest, reply: FastifyReply): Promise<Buffer | string> {
  reply.header('Vary', 'Accept-Encoding');
  const content = new Representations(payload);
  const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
  if (reply.statusCode === 200 && reply.getHeader('cache-control') !== 'no-store') {
    const tag = content.tag(encoding);
    reply.header('ETag', tag);
    if (isKnownTag(request.headers['if-none-match'], tag)) {
      reply.code(304).removeHeader('content-type').removeHeader('content-length');
      return '';
    }
  }
  const bytes = await content.bytes(encoding);
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
  reply.header('Content-Length', bytes.length);
  return bytes;
}

/** RFC 9110, section 13.1.2: weak comparison, and `*` for anything that exists. */
export function isKnownTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag);
}
