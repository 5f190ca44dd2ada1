import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Core } from '../../core/core.ts';
import { periodNotFound } from '../cache/api-response.ts';
import { REVALIDATE } from '../http/problems.ts';
import { isKnownTag } from '../http/representations.ts';

const TALLY_MEDIA_TYPE = 'application/jsonl; charset=utf-8';

/** A slower client is disconnected, because its snapshot keeps the database from cleaning up. */
const MAX_STREAM_MS = 15 * 60_000;

/**
 * Streams the tally of a day as fast as the client reads it, always uncompressed: the digest is that of the bytes.
 * @returns when the file was sent or the client left. @throws CoreError before anything was sent.
 */
export async function sendTally(
  core: Core,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const isFound = await core
    .readTally(request.params.id, async ({ version, lines }) => {
      const tag = `"${version.replace(':', '-')}"`;
      reply.header('ETag', tag).header('Cache-Control', `${REVALIDATE}, no-transform`);
      if (isKnownTag(request.headers['if-none-match'], tag)) {
        reply.code(304).send();
        return;
      }
      reply.type(TALLY_MEDIA_TYPE);
      if (request.method === 'HEAD') {
        reply.send();
        return;
      }
      const body = new PassThrough();
      reply.send(body);
      // Failures from here on end the connection, which Fastify logs: the status was sent.
      await pipeline(Readable.from(lines()), body, { signal: AbortSignal.timeout(MAX_STREAM_MS) });
    })
    .catch((error: unknown) => {
      if (!reply.sent) throw error;
      return true;
    });
  if (!isFound) throw periodNotFound();
  return reply;
}
