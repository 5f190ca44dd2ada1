import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { type Encoding, preferredEncoding } from './accept-encoding.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Below this, compression saves less than a packet. */
const MIN_COMPRESSED_BYTES = 1_024;
const COMPRESSIBLE = /^(?:text\/|application\/(?:[a-z.]+\+)?(?:json|xml)|image\/svg)/;

/**
 * Gives every answer to GET and HEAD that was made here its representation: the encoding that the client prefers, a
 * strong ETag for just that encoding, and 304 where the client has it already.
 *
 * An answer that sets its own ETag, such as a file's, is left alone.
 */
export function negotiateRepresentation(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    const type = String(reply.getHeader('content-type') ?? '');
    if ((request.method !== 'GET' && request.method !== 'HEAD') || !COMPRESSIBLE.test(type)) return payload;
    if (typeof payload !== 'string' || reply.hasHeader('etag') || reply.hasHeader('content-encoding')) return payload;

    reply.header('Vary', 'Accept-Encoding');
    const body = Buffer.from(payload);
    const encoding =
      body.length < MIN_COMPRESSED_BYTES ? 'identity' : preferredEncoding(request.headers['accept-encoding']);
    if (reply.statusCode === 200 && reply.getHeader('cache-control') !== 'no-store') {
      const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}-${encoding}"`;
      reply.header('ETag', tag);
      if (isKnown(request.headers['if-none-match'], tag)) {
        reply.code(304).removeHeader('content-type').removeHeader('content-length');
        return '';
      }
    }
    const encoded = await encode(body, encoding);
    if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
    reply.header('Content-Length', encoded.length);
    return encoded;
  });
}

/** RFC 9110, section 13.1.2: weak comparison, and `*` for anything that exists. */
function isKnown(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  return ifNoneMatch.split(',').some((known) => known.trim() === '*' || known.trim().replace(/^W\//, '') === tag);
}

async function encode(body: Buffer, encoding: Encoding): Promise<Buffer> {
  if (encoding === 'br') return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  if (encoding === 'gzip') return compressGzip(body);
  return body;
}
