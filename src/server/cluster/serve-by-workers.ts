import type { Worker } from 'node:cluster';
import type { Logger } from 'pino';
import type { Settings } from '../../settings/settings.ts';
import { startBackgroundJobs } from '../jobs/background-jobs.ts';
import { addWorkerMetrics } from '../metrics/collected-metrics.ts';
import { createMetricsIfEnabled, startMetricsServers } from '../metrics/serve-metrics.ts';
import { closeInOrder, openSiteData, type RunningSite } from '../serve.ts';
import { shareConnections } from '../share-connections.ts';
import { type Closeable, closeAll } from '../site.ts';
import { type AggregatedMetrics, createAggregatedMetrics } from './aggregated-metrics.ts';
import type { FromPrimary, FromWorker } from './heartbeat.ts';
import { bindSocket } from './listening-sockets.ts';
import { startWorkers } from './supervise-workers.ts';

/**
 * Starts a site of several processes on this machine. This process owns the port and the database, runs the background
 * jobs and aggregates the metrics; its workers serve requests.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError or StartError, whose message says what to do, or another
 * Error if a worker cannot start.
 */
export async function serveByWorkers(settings: Settings, log: Logger): Promise<RunningSite & { lost: Promise<Error> }> {
  const { connection, brand, productCount } = await openSiteData(settings, log);
  const closeables: Closeable[] = [connection];
  try {
    const own = createMetricsIfEnabled(settings);
    // The first workers serve, and may request metrics, before all of them are up.
    let up: () => Worker[] = () => [];
    const metrics = own && createAggregatedMetrics(own, () => up());
    const workers = await startWorkers({
      processes: settings.processes,
      socket: await bindSocket(settings.host, settings.port),
      brand,
      connections: await shareConnections(connection.database, settings, log),
      log,
      onMessage: (worker, message) => respond(worker, message, metrics, log),
    });
    up = workers.up;
    if (own) addWorkerMetrics(own.registers, { up: () => up().length, replaced: workers.replaced });
    closeables.push({ close: () => workers.stop(0) });
    closeables.push(...(await startMetricsServers(metrics, settings, log)));
    connection.setOwnerNote(workers.address);
    const jobs = startBackgroundJobs(connection, settings, own, log);
    return {
      address: workers.address,
      dataLocation: connection.location,
      productCount,
      lost: workers.lost,
      ...closeInOrder({ jobs, stopServing: workers.stop, closeables }),
      abort: () => connection.close({ cancel: true }),
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

function respond(worker: Worker, message: FromWorker, metrics: AggregatedMetrics | undefined, log: Logger): void {
  if (message.kind === 'values') metrics?.receive(worker, message.request, message.values);
  if (message.kind !== 'metrics requested') return;
  const { request } = message;
  void metrics
    ?.text()
    .catch((error: unknown) => log.warn({ err: error }, 'Cannot aggregate the metrics'))
    .then((text) => {
      const response: FromPrimary = { kind: 'metrics', request, ...(text && { text }) };
      if (worker.isConnected()) worker.send(response);
    });
}
