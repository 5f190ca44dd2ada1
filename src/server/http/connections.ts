import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { CoreError } from '../../core/core-error.ts';

/**
 * Maximum number of waiting pipelined requests per connection. Browsers and proxies do not pipeline, and each waiting
 * response may hold a file open.
 */
const MAX_PIPELINED_REQUESTS = 4;

/** The responses to pipelined requests. The first may already have the socket; the others wait for it. */
const pipelinedOn = new WeakMap<Socket, Set<ServerResponse>>();
/** Sockets whose current response does not end, such as an event stream. */
const occupied = new WeakSet<Socket>();

/**
 * Closes connections with too many pipelined requests, or with a request that would wait for a stream to end. Node
 * stops reading from a connection with many waiting requests, but one chunk may contain a thousand small requests. Each
 * of them occupies several kilobytes until its response is read.
 *
 * When a connection closes, Node does not close the responses to its waiting requests. This function closes them, so
 * their resources are released.
 */
export function limitPipelinedRequests({ server }: FastifyInstance): void {
  server.on('request', ({ socket }, response) => {
    // Node assigns the socket to one response at a time; the other requests are waiting.
    if (response.socket !== null) return;
    const pipelined = pipelinedOn.get(socket) ?? new Set();
    if (!pipelinedOn.has(socket)) socket.once('close', () => closeWaiting(pipelined));
    pipelinedOn.set(socket, pipelined.add(response));
    response.once('close', () => pipelined.delete(response));
    if (pipelined.size > MAX_PIPELINED_REQUESTS || occupied.has(socket)) socket.destroy();
  });
}

function closeWaiting(responses: ReadonlySet<ServerResponse>): void {
  for (const response of responses) {
    // Node closes the response that has the socket.
    if (response.socket !== null) continue;
    response.destroy();
    // Node sets this flag before it emits `close`. Without it, a file that is opened later would never be closed.
    Object.assign(response, { _closed: true });
    response.emit('close');
  }
}

const CANNOT_BE_PIPELINED = 'This request cannot be pipelined. Please send it on another connection.';

/** The error for work whose client has disconnected. It is never sent. */
export function clientDisconnected(): CoreError {
  return new CoreError('bad_request', 'The client disconnected.');
}

/**
 * Checks that the client is connected and that the response does not wait for earlier ones. Call this before acquiring
 * a resource that is released when the response emits `close`. If the client has already disconnected, `close` is not
 * emitted again; if earlier responses have not ended, it may never be emitted.
 * @returns the socket of the response.
 * @throws CoreError if the client has disconnected, or if the response waits for earlier ones.
 */
export function requireConnected({ raw }: FastifyReply): Socket {
  if (raw.destroyed) throw clientDisconnected();
  if (raw.socket === null) throw new CoreError('bad_request', CANNOT_BE_PIPELINED);
  return raw.socket;
}

/**
 * Reserves the connection for a response that does not end. Further requests close the connection, because they would
 * wait forever.
 * @returns the socket of the response.
 * @throws CoreError if the client has disconnected, or if other requests wait on the connection.
 */
export function occupyConnection(reply: FastifyReply): Socket {
  const socket = requireConnected(reply);
  const areOthersWaiting = [...(pipelinedOn.get(socket) ?? [])].some((response) => response !== reply.raw);
  if (areOthersWaiting) throw new CoreError('bad_request', CANNOT_BE_PIPELINED);
  occupied.add(socket);
  reply.raw.once('close', () => occupied.delete(socket));
  return socket;
}

/** Takes over a response from Fastify, and sets its headers and `headers` on the raw response. */
export function hijack(reply: FastifyReply, headers: Record<string, string>): void {
  reply.hijack();
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...headers })) {
    if (value !== undefined) reply.raw.setHeader(name, value);
  }
}

const STALL_CHECK_MS = 15_000;
/**
 * A connection is closed if nothing is received or sent for this long, for example because a response is not read. The
 * time in which the site works on a response does not count: operations have their own timeouts.
 */
const STALL_TIMEOUT_MS = 120_000;

interface Progress {
  /** The number of bytes received and sent. */
  bytes: number;
  /** The time of the last check that found progress. */
  since: number;
  /** The response to the latest request, unless a check found that it was sent. */
  response: ServerResponse | undefined;
}

/**
 * Closes stalled connections. Node's own timeout (`server.timeout`) creates and clears timers for every request, which
 * takes a quarter of the time of sending a cached response. Other limits close connections that are idle between
 * requests, or on which a request never arrives completely.
 */
export function endStalledConnections(app: FastifyInstance): void {
  const connections = new Map<Socket, Progress>();

  function sweep(): void {
    const now = performance.now();
    for (const [socket, progress] of connections) {
      if (progress.response?.writableFinished) progress.response = undefined;
      // Bytes that are still queued do not count as sent. A large response is sent in several writes, each of which
      // counts.
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== progress.bytes || isResponsePending(socket, progress.response)) {
        progress.bytes = bytes;
        progress.since = now;
      } else if (now - progress.since >= STALL_TIMEOUT_MS) socket.destroy();
    }
  }

  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: performance.now(), response: undefined });
    socket.once('close', () => connections.delete(socket));
  });
  app.server.on('request', ({ socket }, response) => {
    const progress = connections.get(socket);
    if (progress) progress.response = response;
  });
  const timer = setInterval(sweep, STALL_CHECK_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}

/** Returns whether the client has sent a complete request, nothing is queued for it, and the response has not ended. */
function isResponsePending({ writableLength }: Socket, response: ServerResponse | undefined): boolean {
  return response?.req.complete === true && writableLength === 0;
}

/** How often idle connections are closed while the server closes. */
const DRAIN_CHECK_MS = 100;

/**
 * Requests still in flight after this time are aborted, because a client that never finishes must not prevent the site
 * from stopping.
 */
const DRAIN_TIMEOUT_MS = 5_000;
/** Requests are not aborted before this many checks, so a process that was suspended can first read received data. */
const MIN_DRAIN_CHECKS = 10;

/**
 * Ends connections gracefully. While the server stops, each response closes its connection, but idle connections stay
 * open, because their clients may be about to send a request. When the server closes, idle connections are closed, too.
 * @returns a function that tells whether responses must close their connections.
 */
export function drainOnClose(
  app: FastifyInstance,
  isStopping: () => boolean,
  timeoutMs = DRAIN_TIMEOUT_MS,
): () => boolean {
  let isClosing = false;
  const endsConnections = () => isClosing || isStopping();
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (endsConnections()) reply.header('Connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', (done) => {
    isClosing = true;
    const deadline = performance.now() + timeoutMs;
    let checks = 0;
    const sweep = setInterval(() => {
      checks += 1;
      if (checks >= MIN_DRAIN_CHECKS && performance.now() >= deadline) app.server.closeAllConnections();
      else app.server.closeIdleConnections();
    }, DRAIN_CHECK_MS);
    app.server.once('close', () => clearInterval(sweep));
    // A server that never listened emits no `close` event.
    if (!app.server.listening) clearInterval(sweep);
    done();
  });
  return endsConnections;
}
