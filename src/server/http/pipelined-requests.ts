import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** What a connection may ask for before it has been given what it asked for first: no browser and no proxy does so at all. */
const MAX_WAITING = 100;

/**
 * Ends connections on which too many requests wait for those before them. Node stops reading there, but a piece that it has read
 * may hold a thousand small requests, and each keeps several kilobytes until it is answered: for a client that reads nothing.
 */
export function boundPipelinedRequests({ server }: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, response) => {
    // Node hands the connection to one answer at a time.
    if (response.socket !== null) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) return void socket.destroy();
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
  });
}
