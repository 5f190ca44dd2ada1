import type { FastifyInstance, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../http/accept-encoding.ts';
import { wroteAt } from '../http/wrote-cookie.ts';
import type { AnswerCache } from './answer-cache.ts';
import { sendAgain } from './send-answer.ts';

/**
 * Sends what everybody gets at an address once more as it last went out, head and bytes, before any other hook or the route looks at the
 * request. Whatever makes a request a special one leaves it to them; so does a server that is about to end its connections. To be
 * called before the hooks whose fields are part of an answer.
 */
export function repeatAnswers(app: FastifyInstance, cache: AnswerCache, endsConnections: () => boolean): void {
  app.addHook('onRequest', (request, reply, done) => {
    const wished = preferredEncoding(request.raw.headers['accept-encoding']);
    const isRepeated =
      isPlain(request) && !endsConnections() && cache.offer(request.url, (served) => sendAgain(served, wished, reply));
    if (!isRepeated) done();
  });
}

/** Nobody's answer depends on anything but the address and the encoding, except where one of these says so. */
function isPlain(request: FastifyRequest): boolean {
  const { method, headers } = request.raw;
  return (
    method === 'GET' &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    wroteAt(request) === undefined
  );
}
