import { createHash, timingSafeEqual } from 'node:crypto';
import Fastify, { type FastifyInstance } from 'fastify';
import type { Log } from '../../core/runtime.ts';
import type { Settings } from '../../settings/settings.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import { SERVER_LIMITS } from '../http/server-limits.ts';
import { StartError } from '../start-error.ts';
import { createSiteMetrics, type SiteMetrics } from './site-metrics.ts';

/** Enough for a few scrapers; other clients must not exhaust the file descriptors of the site. */
const MAX_CONNECTIONS = 50;

type MetricsText = Pick<SiteMetrics, 'contentType' | 'text'>;

/**
 * Creates the metrics. Returns undefined if neither METRICS_PORT nor METRICS_TOKEN is set, because metrics cost several
 * microseconds per request even if they cannot be read.
 */
export function createMetricsIfEnabled({ metricsPort, metricsToken }: Settings): SiteMetrics | undefined {
  return metricsPort === undefined && metricsToken === undefined ? undefined : createSiteMetrics();
}

/**
 * Measures the requests to `app`. Without METRICS_PORT, `app` also serves the metrics to clients that send
 * METRICS_TOKEN. Call this before the site's routes are added.
 */
export function prepareMetrics(
  app: FastifyInstance,
  metrics: SiteMetrics,
  { metricsPort, metricsToken }: Pick<Settings, 'metricsPort' | 'metricsToken'>,
): void {
  metrics.watchRequests(app);
  if (metricsPort === undefined && metricsToken !== undefined) addMetricsRoute(app, metrics, metricsToken);
}

/** Serves the metrics on METRICS_PORT, if it is set. @returns the servers to close. @throws StartError */
export async function startMetricsServers(
  metrics: MetricsText | undefined,
  { host, metricsPort: port, metricsToken: token }: Settings,
  log: Log,
): Promise<FastifyInstance[]> {
  return metrics === undefined || port === undefined
    ? []
    : [await startMetricsServer(metrics, { host, port, token, log })];
}

/**
 * Serves the metrics on a separate port. Without a token, only this machine can read them.
 * @throws StartError if the server cannot listen on the port.
 */
export async function startMetricsServer(
  metrics: MetricsText,
  { host, port, token, log }: { host: string; port: number; token: string | undefined; log: Log },
): Promise<FastifyInstance> {
  // Node does not count a connection without a request as idle, so such a connection would delay the stop.
  const server = Fastify({ ...SERVER_LIMITS, forceCloseConnections: true });
  server.server.maxConnections = MAX_CONNECTIONS;
  addMetricsRoute(server, metrics, token);
  const address = token === undefined ? '127.0.0.1' : host;
  try {
    log.info(`Metrics are served at ${await server.listen({ host: address, port })}/metrics`);
    return server;
  } catch (error) {
    throw StartError.ofListening(error, address, port, 'METRICS_PORT');
  }
}

function addMetricsRoute(app: FastifyInstance, metrics: MetricsText, token: string | undefined): void {
  app.get('/metrics', async (request, reply) => {
    reply.header('Cache-Control', NO_STORE);
    if (token !== undefined && !hasToken(request.headers.authorization, token)) {
      reply.code(401).header('WWW-Authenticate', 'Bearer').type(PROBLEM_MEDIA_TYPE);
      return JSON.stringify(
        problem('token_required', 'Send the value of METRICS_TOKEN as a bearer token to read the metrics.'),
      );
    }
    reply.type(metrics.contentType);
    return metrics.text();
  });
}

/** Compares digests, so timing reveals nothing about the token. */
function hasToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const given = /^Bearer +(.*)$/i.exec(authorization ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(given), digest(token));
}
