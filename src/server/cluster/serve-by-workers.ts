import type { Worker } from 'node:cluster';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Connection } from '../../core/database/connect.ts';
import { readConnectionLimit } from '../../core/database/connection-limit.ts';
import { connectionsNeeded, connectionsOf } from '../../settings/process-settings.ts';
import type { Settings } from '../../settings/settings.ts';
import { startChores } from '../chores.ts';
import { type Closeable, closeAll } from '../closeable.ts';
import { createMetricsIfWanted, startMetricsIfApart } from '../metrics/expose-metrics.ts';
import type { Site } from '../serve.ts';
import { openSiteData } from '../site-data.ts';
import { StartError } from '../start-error.ts';
import { createGatheredMetrics, type GatheredMetrics } from './gathered-metrics.ts';
import type { FromPrimary, FromWorker } from './messages.ts';
import { startWorkers } from './worker-set.ts';

/**
 * Starts a site of several processes on this machine. This one has the database, the schema, the backups and the metrics; the
 * others serve, on one port.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError, StartError: each says what to do.
 */
export async function serveByWorkers(settings: Settings, log: Logger): Promise<Site & { lost: Promise<Error> }> {
  const { connection, productCount } = await openSiteData(settings, log);
  const closeables: Closeable[] = [connection];
  try {
    const own = createMetricsIfWanted(settings);
    const metrics: GatheredMetrics | undefined = own && createGatheredMetrics(own, () => workers.up());
    const workers = await startWorkers({
      processes: settings.processes,
      connections: await shareConnections(connection, settings, log),
      log,
      onMessage: (worker, message) => answer(worker, message, metrics),
    });
    own?.watchProcesses({ up: () => workers.up().length, replaced: workers.replaced });
    closeables.push({ close: () => workers.stop(0) });
    closeables.push(...(await startMetricsIfApart(metrics, settings, log)));
    connection.setOwnerNote(workers.address);
    const chores = startChores(connection, settings, own, log);
    return {
      address: workers.address,
      dataLocation: connection.location,
      productCount,
      lost: workers.lost,
      async close(delayMs = 0) {
        await closeAll(chores);
        await workers.stop(delayMs);
        await closeAll(closeables);
      },
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

/**
 * Connections for each process: as many as the database has room for. @throws StartError where the embedded one has too little room
 * for all; another one may lie behind a pooler, which takes more than it.
 */
async function shareConnections(
  connection: Connection,
  { processes, dataDir }: Settings,
  log: Logger,
): Promise<number> {
  const limit = await readConnectionLimit(connection.database);
  const each = connectionsOf(processes, limit.connections);
  const needed = connectionsNeeded(processes, each);
  if (needed <= limit.connections) return each;
  const message = `WEB_CONCURRENCY: ${processes} processes open up to ${needed} connections, and the database takes ${limit.connections} (${limit.setBy})`;
  if (connection.embedded) {
    const file = join(dataDir, 'postgres', 'postgresql.conf');
    throw new StartError(`${message}. Set fewer processes, or in ${file} a larger max_connections (${needed + 20}).`);
  }
  log.warn(message);
  return each;
}

function answer(worker: Worker, message: FromWorker, metrics: GatheredMetrics | undefined): void {
  if (message.kind === 'values') metrics?.take(worker, message.request, message.values);
  if (message.kind !== 'metrics wanted') return;
  const { request } = message;
  void metrics?.text().then((text) => {
    const given: FromPrimary = { kind: 'metrics', request, text };
    if (worker.isConnected()) worker.send(given);
  });
}
