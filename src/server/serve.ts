import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { loadSampleIfNew } from '../core/catalogue/load-sample.ts';
import { readSampleCatalogue } from '../core/catalogue/sample-catalogue.ts';
import { followSite } from '../core/changes/site-changes.ts';
import { type Core, createCore } from '../core/core.ts';
import { type Connection, connect } from '../core/database/connect.ts';
import { pictureFolder } from '../core/pictures/picture-store.ts';
import { systemSources } from '../core/sources.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import type { Settings } from '../settings/settings.ts';
import { buildApp } from './app.ts';
import { prepareBackupFolder, scheduleBackups } from './backups/schedule-backups.ts';
import { createFollowedCache } from './cache/followed-cache.ts';
import { watchBursts } from './limits/watch-bursts.ts';
import { createLive } from './live/live.ts';
import { createMetricsIfWanted, prepareMetrics } from './metrics/expose-metrics.ts';
import { startMetricsServer } from './metrics/metrics-server.ts';
import { watchDrift } from './metrics/watch-drift.ts';
import { readClientBuild } from './pages/client-build.ts';
import { createPageRenderer, type PageRenderer, type RendererOptions } from './pages/renderer.ts';
import { probeAddress } from './probe-address.ts';
import { StartError } from './start-error.ts';

/** A site that is up. */
export interface Site {
  /** Where it listens. */
  address: string;
  /** Where its data lies. */
  dataLocation: string;
  productCount: number;
  /** Answers what is in flight, then ends everything that was started. */
  close(): Promise<void>;
}

const HOUSEKEEPING_INTERVAL_MS = 60 * 60 * 1000;

interface Closeable {
  close(): unknown;
}

/** How pages are rendered: from the built site, or through the development server. */
export type RendererFactory = (options: Omit<RendererOptions, 'build'>) => Promise<PageRenderer>;

/** What development does in another way. */
export interface ServeOptions {
  createRenderer?: RendererFactory;
  prepare?: (app: FastifyInstance) => Promise<void>;
  /** Whether answers are kept. */
  caching?: boolean;
}

/**
 * Starts the site: database, schema, sample catalogue, server.
 * @throws SettingsError, ConnectError, EmbeddedDatabaseError, StartError: each says what to do.
 */
export async function serve(
  settings: Settings,
  log: Logger,
  { createRenderer = builtRenderer, prepare = async () => {}, caching = true }: ServeOptions = {},
): Promise<Site> {
  const { databaseUrl, dataDir } = settings;
  await lookAhead(settings);
  const connection = await connect({ databaseUrl, dataDir, mode: 'own', log });
  const closeables: Closeable[] = [connection];
  try {
    const productCount = await prepareData(connection, settings);
    const metrics = createMetricsIfWanted(settings);
    const changes = followSite(connection.database, log);
    closeables.push(changes);
    await changes.ready;
    const cache = createFollowedCache(changes, log, caching);
    const live = createLive({ database: connection.database, changes, log });
    const core = createCore(connection.database, {
      observeWrites: metrics?.observeWrites,
      onWrite: (change) => changes.onWrite(change),
    });
    const drift = watchDrift(connection.database, log);
    closeables.push(drift);
    metrics?.watch({ core, database: connection.database, drift, live });
    // Known for certain only when the server listens, since the kernel may pick the port.
    let address = `http://${settings.host}:${settings.port}`;
    const renderer = await createRenderer({
      siteName: settings.siteName,
      siteUrl: () => settings.siteUrl ?? address,
    });
    const bursts = settings.rateLimits && watchBursts(connection.database, log);
    if (bursts) closeables.push(bursts);
    const app = await buildApp({
      core,
      cache,
      live,
      renderer,
      folders: {
        clientDir: PACKAGE_FOLDERS.client,
        picturesDir: PACKAGE_FOLDERS.pictures,
        imagesDir: pictureFolder(dataDir),
      },
      log,
      rateLimits: settings.rateLimits,
      bursts,
      streamLimits: settings.streamLimits,
      trustProxy: settings.trustProxy,
      async prepare(target) {
        if (metrics) prepareMetrics(target, metrics, settings);
        await prepare(target);
      },
    });
    closeables.push(app);
    address = await listen(app, settings);
    if (metrics && settings.metricsPort !== undefined) {
      const { host, metricsPort: port, metricsToken: token } = settings;
      closeables.push(await startMetricsServer(metrics, { host, port, token, log }));
    }
    connection.setOwnerNote(address);
    if (settings.backups) {
      const backups = scheduleBackups(connection, { ...settings.backups, pictureFolder: pictureFolder(dataDir) }, log);
      closeables.push(backups);
      metrics?.watchBackups(backups);
    }
    closeables.push(keepHouse(core, log));
    return { address, dataLocation: connection.location, productCount, close: () => closeAll(closeables) };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

/** What would keep the site from coming up is said before a database is made for it. */
async function lookAhead({ host, port, metricsPort, metricsToken, backups }: Settings): Promise<void> {
  await probeAddress(host, port);
  if (metricsPort !== undefined) {
    await probeAddress(metricsToken === undefined ? '127.0.0.1' : host, metricsPort, 'METRICS_PORT');
  }
  if (backups) await prepareBackupFolder(backups);
}

async function builtRenderer(options: Omit<RendererOptions, 'build'>): Promise<PageRenderer> {
  return createPageRenderer({ ...options, build: await readClientBuild(PACKAGE_FOLDERS.client) });
}

async function prepareData(connection: Connection, settings: Settings): Promise<number> {
  await connection.migrate(PACKAGE_FOLDERS.migrations);
  if (connection.embedded && settings.sampleCatalogue) {
    const catalogue = await readSampleCatalogue(PACKAGE_FOLDERS.catalogue);
    await loadSampleIfNew(connection.database, catalogue, systemSources);
  }
  const [row] = await connection.database.query<{ products: number }>(
    'SELECT count(*)::integer AS products FROM products',
  );
  return row?.products ?? 0;
}

async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => `Listening on ${address}` });
  } catch (error) {
    throw StartError.ofListening(error, host, port);
  }
}

function keepHouse(core: Core, log: Logger): Closeable {
  const tidy = () => core.forgetOldKeys().catch((error: unknown) => log.warn({ err: error }, 'Housekeeping failed'));
  const timer = setInterval(tidy, HOUSEKEEPING_INTERVAL_MS).unref();
  return { close: () => clearInterval(timer) };
}

/** The last that was started ends first, since it may rest on those before it. */
async function closeAll(closeables: readonly Closeable[]): Promise<void> {
  for (const closeable of closeables.toReversed()) await closeable.close();
}
