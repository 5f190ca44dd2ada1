import type { FastifyInstance } from 'fastify';

/** How often connections that have become idle are ended while the server closes. */
const SWEEP_INTERVAL_MS = 50;

/** What is still in flight after this is ended: a client that never finishes must not keep the site from stopping. */
const PATIENCE_MS = 5_000;

/**
 * Lets a closing server end soon, and in order: what is in flight is answered and told that its connection ends, and a
 * connection that becomes idle by that is ended. By itself a server waits for each client to hang up. A server that will stop
 * soon keeps no connection either, but ends none: its client may be about to send.
 *
 * @returns whether answers are to end their connections now.
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
    const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_INTERVAL_MS);
    const last = setTimeout(() => app.server.closeAllConnections(), PATIENCE_MS);
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
