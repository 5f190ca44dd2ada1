import type { Logger } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { startBackgroundJobs } from './background-jobs.ts';
import { createMetricsIfEnabled, startMetricsServers } from './metrics/serve-metrics.ts';
import { type Closeable, closeAll } from './site.ts';
import { openSiteData } from './site-data.ts';
import { type ServeOptions, startSiteProcess } from './site-process.ts';

/** A running site. */
export interface Site {
  /** Where it listens. */
  address: string;
  /** Where its data is. */
  dataLocation: string;
  productCount: number;
  /**
   * Finishes the requests in flight, then stops everything that was started. With a delay, it first reports that it is
   * not ready.
   */
  close(delayMs?: number): Promise<void>;
}

/**
 * Starts the site in this process: database, schema, sample catalogue, server.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError, StartError: each says what to do.
 */
export async function serve(settings: Settings, log: Logger, options?: ServeOptions): Promise<Site> {
  const { connection, productCount } = await openSiteData(settings, log);
  const closeables: Closeable[] = [connection];
  try {
    const metrics = createMetricsIfEnabled(settings);
    const server = await startSiteProcess(connection, settings, { log, metrics }, options);
    closeables.push(server);
    closeables.push(...(await startMetricsServers(metrics, settings, log)));
    connection.setOwnerNote(server.address);
    const jobs = startBackgroundJobs(connection, settings, metrics, log);
    return {
      address: server.address,
      dataLocation: connection.location,
      productCount,
      async close(delayMs = 0) {
        // Requests in flight are finished first, and no backup begins.
        await closeAll(jobs);
        await server.close(delayMs);
        await closeAll(closeables);
      },
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}
