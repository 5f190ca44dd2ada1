import Fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '../../core/log.ts';
import { StartError } from '../start-error.ts';
import { addMetricsRoute } from './metrics-route.ts';
import type { SiteMetrics } from './site-metrics.ts';

/**
 * Serves the metrics on a port of their own. Without a token they are for this machine alone.
 * @throws StartError when it cannot listen there.
 */
export async function startMetricsServer(
  metrics: Pick<SiteMetrics, 'contentType' | 'text'>,
  { host, port, token, log }: { host: string; port: number; token: string | undefined; log: Log },
): Promise<FastifyInstance> {
  const server = Fastify();
  addMetricsRoute(server, metrics, token);
  const where = token === undefined ? '127.0.0.1' : host;
  try {
    log.info(`Metrics at ${await server.listen({ host: where, port })}/metrics`);
    return server;
  } catch (error) {
    throw StartError.ofListening(error, where, port, 'METRICS_PORT');
  }
}
