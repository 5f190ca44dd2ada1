import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { TrustedProxies } from '../../settings/trusted-proxies.ts';
import { networkPrefix } from '../limits/network-keys.ts';

/** A fifth of the process's limit: an office of 150 people whose browsers open six each. */
export const MAX_CONNECTIONS_PER_NETWORK = 1_000;

/**
 * Closes further connections of a network that has too many, before anything else: otherwise one address takes them
 * all. A trusted proxy carries all visitors, so it has no bound. A network is remembered only while it is connected.
 */
export function boundConnectionsPerNetwork(
  { server }: Pick<FastifyInstance, 'server'>,
  trustProxy: TrustedProxies | undefined,
  max = MAX_CONNECTIONS_PER_NETWORK,
): void {
  const open = new Map<string, number>();
  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress !== undefined && trustProxy?.(remoteAddress)) return;
    const network = networkPrefix(remoteAddress).join('.');
    const count = open.get(network) ?? 0;
    if (count >= max) return void socket.destroy();
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
}

/** Maximum number of pipelined requests per connection. Browsers and proxies do not pipeline. */
const MAX_WAITING = 100;

/**
 * Closes connections with too many pipelined requests. Node stops reading there, but one chunk may contain a thousand
 * small requests, and each costs several kilobytes until its response is read.
 */
export function boundPipelinedRequests({ server }: FastifyInstance): void {
  const waiting = new WeakMap<Socket, number>();
  server.on('request', ({ socket }, response) => {
    // Node assigns the connection to one response at a time.
    if (response.socket !== null) return;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > MAX_WAITING) return void socket.destroy();
    waiting.set(socket, count);
    response.once('close', () => waiting.set(socket, (waiting.get(socket) ?? 0) - 1));
  });
}

const STALL_CHECK_MS = 15_000;
/** A connection without progress for this long, such as an unread response, is closed. */
const STALLED_MS = 120_000;

interface Progress {
  bytes: number;
  since: number;
}

/**
 * Closes connections that stand still. Node's own timeout for that (`server.timeout`) creates and clears timers with
 * every request, which costs a quarter of sending a cached response; scanning all connections now and then costs
 * nothing. The server's other bounds close connections that are idle between requests, or never finish one.
 */
export function endStalledConnections(app: FastifyInstance, now = () => performance.now()): { sweep(): void } {
  const connections = new Map<Socket, Progress>();

  function sweep(): void {
    for (const [socket, progress] of connections) {
      // Bytes that are still queued do not count as sent. A response takes several writes, each of which shows
      // progress.
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== progress.bytes) connections.set(socket, { bytes, since: now() });
      else if (now() - progress.since >= STALLED_MS) socket.destroy();
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
 * Requests still in flight after this are aborted: a client that never finishes must not keep the site from stopping.
 */
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Makes a closing server end soon and in order: requests in flight get responses that close their connections, and
 * idle connections are closed. Without this, a server waits for each client to hang up. Before the stop it keeps no
 * connection alive, but closes none, since its client may be about to send.
 *
 * @returns whether responses are to close their connections now.
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
    // A server that never listened never closes.
    if (!app.server.listening) {
      clearInterval(sweep);
      clearTimeout(last);
    }
    done();
  });
  return endsConnections;
}
