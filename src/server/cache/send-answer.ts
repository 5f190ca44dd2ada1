import type { FastifyReply, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../http/accept-encoding.ts';
import { isKnownTag } from '../http/negotiate-representation.ts';
import type { Served } from './answer-cache.ts';

/** Sends a cached answer in the encoding that the client prefers, or 304 where the client has just this version. */
export function sendAnswer(
  served: Served,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const { answer, content, staleForS } = served;
  const encoding = content.encodingFor(preferredEncoding(request.headers['accept-encoding']));
  reply.header('Vary', 'Accept-Encoding').header('Cache-Control', answer.cacheControl);
  if (staleForS !== undefined) reply.header('Age', staleForS).header('Warning', '110 - "Response is Stale"');
  if (answer.status === 200) {
    const tag = content.tag(encoding);
    reply.header('ETag', tag);
    if (isKnownTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  }
  reply.code(answer.status).header('Content-Type', answer.type);
  if (encoding !== 'identity') reply.header('Content-Encoding', encoding);
  const bytes = content.bytes(encoding);
  return bytes instanceof Promise ? bytes.then((encoded) => reply.send(encoded)) : reply.send(bytes);
}
