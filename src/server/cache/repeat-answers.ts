import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { preferredEncoding } from '../http/accept-encoding.ts';
import { wroteAt } from '../http/wrote-cookie.ts';
import type { AnswerCache } from './answer-cache.ts';
import { sendAgain } from './send-answer.ts';

interface RepeatOptions {
  cache: AnswerCache;
  /** Whether answers are to end their connections now. */
  endsConnections: () => boolean;
  /** Told of each answer that was repeated: the pattern of its address, and how many seconds it took. Unset: nobody counts. */
  observe?: RepeatObserver | undefined;
}

export type RepeatObserver = (answer: { route: string | undefined; seconds: number }) => void;

/**
 * Sends what everybody gets at an address once more as it last went out, head and bytes, before the framework sees the request: its
 * routing, its hooks and its own request and reply would take longer than the sending. Whatever makes a request a special one leaves it
 * to them. Only what comes over a socket is repeated, not what is injected.
 */
export function repeatAnswers({ server }: FastifyInstance, { cache, endsConnections, observe }: RepeatOptions): void {
  const [handle] = server.listeners('request') as [RequestListener];
  server.off('request', handle).on('request', (request, response) => {
    const isRepeated = isPlain(request) && !endsConnections() && repeat(cache, request, response, observe);
    if (!isRepeated) handle.call(server, request, response);
  });
}

/** Nobody's answer depends on anything but the address and the encoding, except where one of these says so. */
function isPlain(request: IncomingMessage): boolean {
  const { method, headers } = request;
  return (
    method === 'GET' &&
    headers['if-none-match'] === undefined &&
    headers['if-modified-since'] === undefined &&
    wroteAt(request) === undefined
  );
}

function repeat(
  cache: AnswerCache,
  { url = '', headers }: IncomingMessage,
  response: ServerResponse,
  observe: RepeatObserver | undefined,
): boolean {
  const wished = preferredEncoding(headers['accept-encoding']);
  return cache.offer(url, (served) => {
    const startedAt = observe && performance.now();
    const sent = sendAgain(served, wished, response);
    if (sent !== undefined && startedAt !== undefined) {
      response.once('finish', () => observe?.({ route: sent.route, seconds: (performance.now() - startedAt) / 1_000 }));
    }
    return sent !== undefined;
  });
}
