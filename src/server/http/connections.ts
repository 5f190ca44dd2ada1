import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Maximum number of pipelined requests per connection. Browsers and proxies do not pipeline. */
const MAX_PIPELINED_REQUESTS = 100;

/**
 * Closes connections with too many pipelined requests. Node stops reading from them, but one chunk may contain a
 * thousand small requests, and each costs several kilobytes until its response is read.
 */
export function limitPipelinedRequests({ server }: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, response) => {
    // Node assigns the socket to one response at a time; the other requests are waiting.
    if (response.socket !== null) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_PIPELINED_REQUESTS) return void socket.destroy();
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
  });
}

const STALL_CHECK_MS = 15_000;
/** A connection without progress for this long, such as an unread response, is closed. */
const STALL_TIMEOUT_MS = 120_000;

interface Progress {
  bytes: number;
  since: number;
}

/**
 * Closes stalled connections. Node's own timeout (`server.timeout`) creates and clears timers for every request, which
 * takes a quarter of the time of sending a cached response; scanning all connections periodically costs almost nothing.
 * The server's other limits close connections that are idle between requests, or never finish sending one.
 */
export function endStalledConnections(app: FastifyInstance, now = () => performance.now()): { sweep(): void } {
  const connections = new Map<Socket, Progress>();

  function sweep(): void {
    for (const [socket, progress] of connections) {
      // Bytes that are still queued do not count as sent. A response takes several writes, each of which shows
      // progress.
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== progress.bytes) connections.set(socket, { bytes, since: now() });
      else if (now() - progress.since >= STALL_TIMEOUT_MS) socket.destroy();
    }
  }

  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: now() });
    socket.once('close', () => connections.delete(socket));
  });
  const timer = setInterval(sweep, STALL_CHECK_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  return { sweep };
}

/** How often idle connections are closed while the server closes. */
const DRAIN_CHECK_MS = 50;

/**
 * Requests still in flight after this time are aborted: a client that never finishes must not keep the site from
 * stopping.
 */
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Shuts a closing server down quickly and gracefully: requests in flight get responses that close their connections,
 * and idle connections are closed. Without this, the server would wait for each client to disconnect. While it is
 * stopping but not closing yet, idle connections stay open, because their clients may be about to send a request.
 *
 * @returns a function that tells whether responses must close their connections.
 */
export function drainOnClose(app: FastifyInstance, isStopping: () => boolean): () => boolean {
  let isClosing = false;
  const endsConnections = () => isClosing || isStopping();
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (endsConnections()) reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', (done) => {
    isClosing = true;
    const sweep = setInterval(() => app.server.closeIdleConnections(), DRAIN_CHECK_MS);
    const last = setTimeout(() => app.server.closeAllConnections(), DRAIN_TIMEOUT_MS);
    app.server.once('close', () => {
      clearInterval(sweep);
      clearTimeout(last);
    });
    // A server that never listened emits no `close` event.
    if (!app.server.listening) {
      clearInterval(sweep);
      clearTimeout(last);
    }
    done();
  });
  return endsConnections;
}
