import type { Logger } from 'pino';
import type { Settings } from '../settings/settings.ts';
import { startChores } from './chores.ts';
import { type Closeable, closeAll } from './closeable.ts';
import { createMetricsIfWanted, startMetricsIfApart } from './metrics/expose-metrics.ts';
import { openSiteData } from './site-data.ts';
import { type ServeOptions, startSiteProcess } from './site-process.ts';

/** A site that is up. */
export interface Site {
  /** Where it listens. */
  address: string;
  /** Where its data lies. */
  dataLocation: string;
  productCount: number;
  /** Answers what is in flight, then ends everything that was started. With a delay, it first is not ready for so long. */
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
    const metrics = createMetricsIfWanted(settings);
    const server = await startSiteProcess(connection, settings, { log, metrics }, options);
    closeables.push(server);
    closeables.push(...(await startMetricsIfApart(metrics, settings, log)));
    connection.setOwnerNote(server.address);
    const chores = startChores(connection, settings, metrics, log);
    return {
      address: server.address,
      dataLocation: connection.location,
      productCount,
      async close(delayMs = 0) {
        // What is in flight is answered first, and no backup begins meanwhile.
        await closeAll(chores);
        await server.close(delayMs);
        await closeAll(closeables);
      },
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}
