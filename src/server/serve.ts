import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { loadSampleIfNew, skipSample } from '../core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../core/catalogue/sample-catalogue.ts';
import { type Connection, connect, type PoolSize } from '../core/database/connect.ts';
import { systemRuntime } from '../core/runtime.ts';
import { type Brand, readBrand } from '../settings/brand.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { PRIMARY_PROCESS_CONNECTIONS, poolSizePerProcess } from '../settings/process-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { startBackgroundJobs } from './jobs/background-jobs.ts';
import { prepareBackupFolder } from './jobs/schedule-backups.ts';
import { createMetricsIfEnabled, startMetricsServers } from './metrics/serve-metrics.ts';
import { shareConnections } from './share-connections.ts';
import { type Closeable, closeAll } from './site.ts';
import { type ServeOptions, startSiteProcess } from './site-process.ts';
import { StartError } from './start-error.ts';

export interface RunningSite {
  /** The URL at which the site listens. */
  address: string;
  /** The folder of the embedded database, or host, port and database name of the server. */
  dataLocation: string;
  productCount: number;
  /**
   * Tells the background jobs to stop, serves for `delayMs` longer while `/readyz` reports that the site is stopping,
   * and finishes the requests in flight.
   */
  stopServing(delayMs?: number): Promise<void>;
  /** Stops serving, waits for the background jobs, and closes the database. */
  close(): Promise<void>;
  /** Closes only the database, without waiting for requests and jobs. The process must exit afterwards. */
  abort(): Promise<void>;
}

/**
 * Starts the site in this process: database, schema, sample catalogue, server, background jobs.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError or StartError; the message says what to do.
 */
export async function serve(settings: Settings, log: Logger, options?: ServeOptions): Promise<RunningSite> {
  const { connection, brand, productCount } = await openSiteData(settings, log);
  const closeables: Closeable[] = [connection];
  try {
    const metrics = createMetricsIfEnabled(settings);
    const server = await startSiteProcess(connection, settings, { log, metrics, brand }, options);
    closeables.push(server);
    closeables.push(...(await startMetricsServers(metrics, settings, log)));
    connection.setOwnerNote(server.address);
    const jobs = startBackgroundJobs(connection, settings, metrics, log);
    return {
      address: server.address,
      dataLocation: connection.location,
      productCount,
      ...closeInOrder({ jobs, stopServing: server.close, closeables }),
      abort: () => connection.close({ cancel: true }),
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

interface ClosingOrder {
  jobs: Closeable;
  stopServing(delayMs: number): Promise<void>;
  /** Closed after the jobs and the requests, which may use them. */
  closeables: readonly Closeable[];
}

/**
 * Returns functions that stop the site. The jobs stop while the requests finish, so no backup begins during a shutdown,
 * and a job that hangs delays no request.
 */
export function closeInOrder(order: ClosingOrder): Pick<RunningSite, 'stopServing' | 'close'> {
  let served: Promise<unknown> | undefined;
  let jobsClosed: unknown;
  async function stopServing(delayMs = 0): Promise<void> {
    jobsClosed ??= order.jobs.close();
    served ??= order.stopServing(delayMs);
    await served;
  }
  return {
    stopServing,
    close: () => closeAll([...order.closeables, { close: () => jobsClosed }, { close: () => stopServing() }]),
  };
}

interface SiteData {
  /** The site's database, running and up to date. */
  connection: Connection;
  /** Read only once, because all processes must serve the same brand even if its files change. */
  brand: Brand;
  productCount: number;
}

/**
 * Prepares the site's database: starts the embedded one or connects to `DATABASE_URL`, migrates the schema, and loads
 * the sample catalogue into a new embedded one. Before that, reads the brand files, checks the ports, and creates the
 * backup folder.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError, StartError
 */
export async function openSiteData(settings: Settings, log: Logger): Promise<SiteData> {
  const brand = await readBrand(settings);
  await checkBeforeStart(settings);
  const { databaseUrl, dataDir } = settings;
  const maxConnections = poolSizeOfThisProcess(settings, log);
  const connection = await connect({ databaseUrl, dataDir, mode: 'own', log, maxConnections });
  try {
    return { connection, brand, productCount: await prepareData(connection, settings) };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function poolSizeOfThisProcess(settings: Settings, log: Logger): PoolSize {
  if (settings.processes > 1) return PRIMARY_PROCESS_CONNECTIONS;
  // The embedded database has enough connections for one process.
  if (settings.databaseUrl === undefined) return poolSizePerProcess(1);
  return (sql) => shareConnections(sql, settings, log);
}

async function checkBeforeStart(settings: Settings): Promise<void> {
  const { host, port, metricsPort, metricsToken, backups } = settings;
  await probeAddress(host, port);
  if (metricsPort !== undefined) {
    await probeAddress(metricsToken === undefined ? '127.0.0.1' : host, metricsPort, 'METRICS_PORT');
  }
  if (backups) await prepareBackupFolder(backups);
}

async function prepareData(connection: Connection, settings: Settings): Promise<number> {
  await connection.migrate(PACKAGE_FOLDERS.migrations);
  if (connection.embedded && settings.sampleCatalogue) {
    const { timeZone } = settings.launches;
    const now = systemRuntime.now().toISOString();
    const catalogue = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue, { now, timeZone });
    await loadSampleIfNew(connection.database, catalogue, systemRuntime);
  } else await skipSample(connection.database);
  const [row] = await connection.database.query<{ products: number }>(
    'SELECT count(*)::integer AS products FROM products',
  );
  return row?.products ?? 0;
}

/**
 * Checks that a server can listen on this address, before the database is created and started. Listening may still fail
 * later if another program takes the port in the meantime.
 * @throws StartError
 */
async function probeAddress(host: string, port: number, setting?: 'PORT' | 'METRICS_PORT'): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, 'listening');
  } catch (error) {
    throw StartError.ofListening(error, host, port, setting);
  }
  server.close();
  await once(server, 'close');
}
