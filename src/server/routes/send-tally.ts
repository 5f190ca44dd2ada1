import { PassThrough, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Core } from '../../core/core.ts';
import { periodNotFound } from '../../core/core-error.ts';
import { REVALIDATE } from '../http/cache-control.ts';
import { matchesEntityTag } from '../http/representations.ts';

const TALLY_MEDIA_TYPE = 'application/jsonl; charset=utf-8';

/**
 * Slower clients are disconnected, because they keep other clients waiting, and because the snapshots of their reads
 * prevent VACUUM from removing dead rows. A megabyte may take 45 seconds, and any tally 15 minutes.
 */
export const MIN_READ_RATE = { graceMs: 30_000, bytesPerMs: 64, maxMs: 15 * 60_000 };

/**
 * Streams the tally of a day as fast as the client reads it, uncompressed, because the digest covers these bytes.
 * `reader` is the network of the client, for the limit on concurrent tallies. Resolves once the file has been sent or
 * the client has disconnected. @throws CoreError only before anything has been sent.
 */
export async function sendTally(
  core: Pick<Core, 'readTally'>,
  reader: string | undefined,
  request: FastifyRequest<{ Params: { id: string } }>,
  reply: FastifyReply,
  minReadRate = MIN_READ_RATE,
): Promise<FastifyReply> {
  let isSending = false;
  const isFound = await core
    .readTally(request.params.id, reader, async ({ version, chunks }, turn) => {
      isSending = true;
      const tag = `"${version.replace(':', '-')}"`;
      reply.header('ETag', tag).header('Cache-Control', `${REVALIDATE}, no-transform`);
      if (matchesEntityTag(request.headers['if-none-match'], tag)) {
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
      await abortIfSlow(chunks(), minReadRate, (sent, slow) =>
        pipeline(Readable.from(sent), body, { signal: AbortSignal.any([slow, turn]) }),
      );
    })
    .catch((error: unknown) => {
      // Once the response has begun, Fastify closes the connection and logs the failure. `isSending` replaces
      // `reply.sent`, which is true only after the end of the response.
      if (!isSending) throw error;
      return true;
    });
  if (!isFound) throw periodNotFound();
  return reply;
}

/**
 * Runs `send`, and aborts it if the client reads too slowly, or after `maxMs` in total. Time spent in the database does
 * not count as slow reading.
 */
async function abortIfSlow(
  chunks: AsyncIterable<string>,
  { graceMs, bytesPerMs, maxMs }: typeof MIN_READ_RATE,
  send: (chunks: AsyncIterable<string>, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const slow = new AbortController();
  let allowedMs = graceMs;
  let timer: NodeJS.Timeout | undefined;
  const startTimer = () => {
    timer = setTimeout(() => slow.abort(), allowedMs).unref();
  };
  async function* timed(): AsyncGenerator<string> {
    for await (const chunk of chunks) {
      const from = performance.now();
      startTimer();
      yield chunk;
      clearTimeout(timer);
      allowedMs += Buffer.byteLength(chunk) / bytesPerMs - (performance.now() - from);
    }
    startTimer();
  }
  // `AbortSignal.timeout` is not used, because it may be garbage-collected before it aborts a combined signal.
  const end = setTimeout(() => slow.abort(), maxMs).unref();
  await send(timed(), slow.signal).finally(() => {
    clearTimeout(timer);
    clearTimeout(end);
  });
}
