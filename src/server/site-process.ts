import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Connection } from '../core/database/connect.ts';
import type { Database } from '../core/database/database.ts';
import { openReplicas, type ReplicatedReads, requireReplicable } from '../core/database/replicas.ts';
import { checkBackups, checkDisk, NO_BACKUPS } from '../core/doctor/check-storage.ts';
import { runDatabaseChecks } from '../core/doctor/run-database-checks.ts';
import { pictureFolder } from '../core/pictures/picture-store.ts';
import type { Log } from '../core/runtime.ts';
import { recordEvents } from '../core/webhooks/outbox.ts';
import type { Brand } from '../settings/brand.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { maxConnectionsNeeded, poolSizePerProcess } from '../settings/process-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { listenOnPort } from './cluster/listening-sockets.ts';
import type { ConsoleOptions } from './console/console-options.ts';
import { consoleDocument, readConsoleBuild } from './console/mount-console.ts';
import { watchBursts } from './limits/detect-bursts.ts';
import { prepareMetrics } from './metrics/serve-metrics.ts';
import type { SiteMetrics } from './metrics/site-metrics.ts';
import { readClientBuild } from './pages/client-build.ts';
import { createPageRenderer, type PageRenderer, type RendererOptions } from './pages/pages.ts';
import { createPictureProcessor } from './pictures/picture-pipeline.ts';
import { buildSite, type Closeable, closeAll } from './site.ts';

/** Creates the page renderer, which uses the built site or the development server. */
export type RendererFactory = (options: Omit<RendererOptions, 'build'>) => Promise<PageRenderer>;

/** Options that only the development server, worker processes and tests set. */
export interface ServeOptions {
  createRenderer?: RendererFactory;
  prepare?: (app: FastifyInstance) => Promise<void>;
  /**
   * Starts to accept connections. Workers replace this step, because the primary process binds the port.
   * @returns the site's URL. @throws StartError
   */
  listen?: (app: FastifyInstance) => Promise<string>;
  cacheEnabled?: boolean;
  /** The console's page and files: from the built site, or through the development server. */
  readConsole?: () => Promise<Pick<ConsoleOptions, 'document' | 'consoleDir'>>;
}

/** The part of a site that serves requests, in this process. */
export interface SiteProcess {
  /** The URL at which the site listens. */
  address: string;
  /**
   * Finishes the requests in flight, then stops serving. With a delay, the site first continues to serve for that long
   * while `/readyz` reports that it is stopping.
   */
  close(delayMs?: number): Promise<void>;
}

/**
 * Starts serving requests with a database that is running and up to date.
 * @throws StartError if the site cannot listen, ConnectError if the replicas cannot be used.
 */
export async function startSiteProcess(
  connection: Connection,
  settings: Settings,
  { log, metrics, brand }: { log: Logger; metrics: SiteMetrics | undefined; brand: Brand },
  {
    createRenderer = builtRenderer,
    prepare = async () => {},
    listen = (app) => listenOnPort(app, settings.host, settings.port),
    cacheEnabled = true,
    readConsole = builtConsole,
  }: ServeOptions = {},
): Promise<SiteProcess> {
  const { database } = connection;
  const closeables: Closeable[] = [];
  try {
    const replicas = await replicasOf(database, settings, log);
    if (replicas) closeables.push(replicas);
    // Not final until the server listens, because the kernel chooses the port if PORT is 0.
    let address = `http://${settings.host}:${settings.port}`;
    const renderer = await createRenderer({
      site: { name: settings.siteName, url: () => settings.siteUrl ?? address, ...settings.page, ...brand.page },
      brand,
      locale: settings.locale,
    });
    const isLimitedPerSender = settings.rateLimits !== undefined;
    const pictures = createPictureProcessor({ log, folder: pictureFolder(settings.dataDir), isLimitedPerSender });
    closeables.push(pictures);
    /**
     * If set, `/readyz` reports that the server is stopping, and each response closes its connection. The server still
     * responds, because load balancers need time to notice the stop.
     */
    let isStopping = false;
    const site = await buildSite({
      database,
      replicas,
      metrics,
      cacheEnabled,
      renderer,
      folders: {
        clientDir: PACKAGE_FOLDERS.client,
        picturesDir: PACKAGE_FOLDERS.pictures,
        imagesDir: pictureFolder(settings.dataDir),
      },
      log,
      settings,
      launches: settings.launches,
      submittedPictures: settings.submissions === 'moderated' ? pictures : undefined,
      recordEvents: settings.webhooks && recordEvents,
      hasModerationLog: settings.moderationLog === 'public',
      startBursts: settings.rateLimits && ((now) => watchBursts(database, log, now)),
      isStopping: () => isStopping,
      console: {
        ...(await readConsole()),
        withoutStatementTimeout: connection.withoutStatementTimeout,
        pictures,
        backupFolder: settings.backups?.folder,
        pictureFolder: pictureFolder(settings.dataDir),
        examine: () => examineSite(connection, settings),
      },
      async prepare(target) {
        if (metrics) prepareMetrics(target, metrics, settings);
        target.addHook('preClose', async () => pictures.stopQueueing());
        await prepare(target);
      },
    });
    closeables.push(site);
    address = await listen(site.app);
    const stop = async (delayMs: number) => {
      isStopping = true;
      if (delayMs > 0) await sleep(delayMs);
      await closeAll(closeables);
    };
    let closing: Promise<void> | undefined;
    return {
      address,
      close(delayMs = 0) {
        closing ??= stop(delayMs);
        return closing;
      },
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

async function replicasOf(
  database: Database,
  { replicaUrls, processes }: Settings,
  log: Log,
): Promise<ReplicatedReads | undefined> {
  if (replicaUrls.length === 0) return undefined;
  await requireReplicable(database);
  return openReplicas(database, replicaUrls, { log, maxConnections: poolSizePerProcess(processes) });
}

async function builtRenderer(options: Omit<RendererOptions, 'build'>): Promise<PageRenderer> {
  return createPageRenderer({ ...options, build: await readClientBuild(PACKAGE_FOLDERS.client) });
}

async function* examineSite(connection: Connection, settings: Settings) {
  const { backups, dataDir, processes } = settings;
  const { migrations } = PACKAGE_FOLDERS;
  // With DATABASE_URL, DATA_DIR exists only if the site has pictures. The folder of an embedded database may be on
  // another disk.
  if (existsSync(dataDir))
    yield await checkDisk('DATA_DIR', dataDir, { measured: connection.embedded ? connection.location : dataDir });
  if (backups) yield await checkDisk('BACKUP_DIR', backups.folder);
  const connections = (limit: number) => maxConnectionsNeeded(processes, limit);
  // This process also serves visitors, so the checks do not read every picture.
  const scope = { now: new Date(), readsPictures: false };
  yield* runDatabaseChecks(connection, { connections, migrations, settings, ...scope });
  yield backups
    ? await connection.withoutStatementTimeout((unlimited) => checkBackups(unlimited, { ...backups, migrations }))
    : NO_BACKUPS;
}

async function builtConsole() {
  const html = consoleDocument(await readConsoleBuild(PACKAGE_FOLDERS.console));
  return { document: async () => html, consoleDir: PACKAGE_FOLDERS.console };
}
