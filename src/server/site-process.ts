import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { followSite } from '../core/changes/site-changes.ts';
import { createCore } from '../core/core.ts';
import type { Connection } from '../core/database/connect.ts';
import type { Database } from '../core/database/database.ts';
import { expectReplicable, openReplicas, type ReplicatedReads } from '../core/database/replicas.ts';
import type { Log } from '../core/log.ts';
import { pictureFolder } from '../core/pictures/picture-store.ts';
import { PACKAGE_FOLDERS } from '../settings/package-root.ts';
import { connectionsOf } from '../settings/process-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { buildApp } from './app.ts';
import { createFollowedCache } from './cache/followed-cache.ts';
import { type Closeable, closeAll } from './closeable.ts';
import { noteWriters } from './http/wrote-cookie.ts';
import { watchBursts } from './limits/watch-bursts.ts';
import { createLive } from './live/live.ts';
import { prepareMetrics } from './metrics/expose-metrics.ts';
import type { SiteMetrics } from './metrics/site-metrics.ts';
import { readClientBuild } from './pages/client-build.ts';
import { createPageRenderer, type PageRenderer, type RendererOptions } from './pages/renderer.ts';
import { StartError } from './start-error.ts';
import { createStopping } from './stopping.ts';

/** How pages are rendered: from the built site, or through the development server. */
export type RendererFactory = (options: Omit<RendererOptions, 'build'>) => Promise<PageRenderer>;

/** What development does in another way. */
export interface ServeOptions {
  createRenderer?: RendererFactory;
  prepare?: (app: FastifyInstance) => Promise<void>;
  /** Whether answers are kept. */
  caching?: boolean;
}

/** The part of a site that answers requests, in this process. */
export interface SiteProcess {
  /** Where it listens. */
  address: string;
  /** Answers what is in flight, then ends. With a delay, it is served on for so long, to nobody who asks `/readyz`. */
  close(delayMs?: number): Promise<void>;
}

/**
 * Starts what answers requests, on a database that is there and up to date.
 * @throws StartError where it cannot listen, ConnectError where replicas cannot be read.
 */
export async function startSiteProcess(
  { database }: Connection,
  settings: Settings,
  { log, metrics }: { log: Logger; metrics: SiteMetrics | undefined },
  { createRenderer = builtRenderer, prepare = async () => {}, caching = true }: ServeOptions = {},
): Promise<SiteProcess> {
  const closeables: Closeable[] = [];
  try {
    const changes = followSite(database, log);
    closeables.push(changes);
    await changes.ready;
    const reads = await readsOf(database, settings, log);
    if (reads) {
      closeables.push(reads);
      // Before the cache: what a change outdates is made again from a state that has the change.
      changes.follow({ onChange: reads.noteChange, onGap: reads.noteGap });
      metrics?.watchReads(reads);
    }
    const cache = createFollowedCache(changes, log, caching);
    const live = createLive({ database, changes, log });
    const core = createCore(database, {
      observeWrites: metrics?.observeWrites,
      onWrite: (change) => changes.onWrite(change),
      reads,
    });
    metrics?.watch({ core, cache, database, live });
    // Known for certain only when the server listens, since the kernel may pick the port.
    let address = `http://${settings.host}:${settings.port}`;
    const renderer = await createRenderer({
      siteName: settings.siteName,
      siteUrl: () => settings.siteUrl ?? address,
    });
    const bursts = settings.rateLimits && watchBursts(database, log);
    if (bursts) closeables.push(bursts);
    const stopping = createStopping();
    const app = await buildApp({
      core,
      cache,
      live,
      renderer,
      folders: {
        clientDir: PACKAGE_FOLDERS.client,
        picturesDir: PACKAGE_FOLDERS.pictures,
        imagesDir: pictureFolder(settings.dataDir),
      },
      log,
      rateLimits: settings.rateLimits,
      bursts,
      streamLimits: settings.streamLimits,
      trustProxy: settings.trustProxy,
      isStopping: stopping.hasBegun,
      observeRepeat: metrics?.observeRepeat,
      async prepare(target) {
        if (reads) noteWriters(target, reads.noteWriteAt);
        if (metrics) prepareMetrics(target, metrics, settings);
        await prepare(target);
      },
    });
    closeables.push(app);
    address = await listen(app, settings);
    let closing: Promise<void> | undefined;
    return {
      address,
      close(delayMs = 0) {
        closing ??= stopping.begin(delayMs).then(() => closeAll(closeables));
        return closing;
      },
    };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

async function readsOf(
  database: Database,
  { replicaUrls, processes }: Settings,
  log: Log,
): Promise<ReplicatedReads | undefined> {
  if (replicaUrls.length === 0) return undefined;
  await expectReplicable(database);
  return openReplicas(database, replicaUrls, { log, maxConnections: connectionsOf(processes) });
}

async function builtRenderer(options: Omit<RendererOptions, 'build'>): Promise<PageRenderer> {
  return createPageRenderer({ ...options, build: await readClientBuild(PACKAGE_FOLDERS.client) });
}

async function listen(app: FastifyInstance, { host, port }: Settings): Promise<string> {
  try {
    return await app.listen({ host, port, listenTextResolver: (address) => `Listening on ${address}` });
  } catch (error) {
    throw StartError.ofListening(error, host, port);
  }
}
