import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const SWEEP_INTERVAL_MS = 15_000;
/** Nothing sent and nothing taken for so long, such as an answer that nobody reads: the connection is ended. */
const STALLED_MS = 120_000;

interface Progress {
  bytes: number;
  since: number;
}

/**
 * Ends connections that stand still. Node's own time-out for that (`server.timeout`) makes and clears timers with every request,
 * which costs a quarter of what it takes to send an answer that is kept; looking at all connections now and then costs nothing.
 * Those that are idle between requests, or never finish one, are ended sooner by the server's other bounds.
 */
export function endStalledConnections(app: FastifyInstance, now = () => performance.now()): { sweep(): void } {
  const connections = new Map<Socket, Progress>();

  function sweep(): void {
    for (const [socket, progress] of connections) {
      // What still waits to be sent counts as not sent: an answer is a few writes, and each that is taken shows.
      const bytes = socket.bytesRead + socket.bytesWritten - socket.writableLength;
      if (bytes !== progress.bytes) connections.set(socket, { bytes, since: now() });
      else if (now() - progress.since >= STALLED_MS) socket.destroy();
    }
  }

  app.server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, since: now() });
    socket.once('close', () => connections.delete(socket));
  });
  const timer = setInterval(sweep, SWEEP_INTERVAL_MS).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
  return { sweep };
}
