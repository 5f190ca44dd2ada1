import type { FastifyInstance } from 'fastify';
import type { Log } from '../../core/log.ts';
import type { Settings } from '../../settings/settings.ts';
import { addMetricsRoute } from './metrics-route.ts';
import { startMetricsServer } from './metrics-server.ts';
import { createSiteMetrics, type SiteMetrics } from './site-metrics.ts';

/** Metrics are kept only where somebody may look at them: they cost some microseconds a request. */
export function createMetricsIfWanted({ metricsPort, metricsToken }: Settings): SiteMetrics | undefined {
  return metricsPort === undefined && metricsToken === undefined ? undefined : createSiteMetrics();
}

/** To be called before the site's routes are added. On the site's own port, metrics are shown to bearers of the token alone. */
export function prepareMetrics(
  app: FastifyInstance,
  metrics: SiteMetrics,
  { metricsPort, metricsToken }: Pick<Settings, 'metricsPort' | 'metricsToken'>,
): void {
  metrics.watchRequests(app);
  if (metricsPort === undefined && metricsToken !== undefined) addMetricsRoute(app, metrics, metricsToken);
}

/** Serves the metrics on a port of their own, where one is set. @returns what is to be closed. @throws StartError */
export async function startMetricsIfApart(
  metrics: Pick<SiteMetrics, 'contentType' | 'text'> | undefined,
  { host, metricsPort: port, metricsToken: token }: Settings,
  log: Log,
): Promise<FastifyInstance[]> {
  return metrics === undefined || port === undefined
    ? []
    : [await startMetricsServer(metrics, { host, port, token, log })];
}
