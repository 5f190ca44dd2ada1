import type { FastifyInstance } from 'fastify';
import { type SiteChanges, subscribeToChanges } from '../core/changes/site-changes.ts';
import { findOpenSessions } from '../core/console/sessions.ts';
import { type Core, createCore, DEFAULT_LAUNCHES } from '../core/core.ts';
import type { Database } from '../core/database/database.ts';
import type { ReplicatedReads } from '../core/database/replicas.ts';
import { startBoardUpdater } from '../core/leaderboards/board-updater.ts';
import { createVoteNetworks } from '../core/leaderboards/vote-networks.ts';
import type { PicturePipeline } from '../core/pictures/picture-store.ts';
import { cacheNewestProducts } from '../core/products/related-products.ts';
import { systemRuntime } from '../core/runtime.ts';
import { createSubmissions } from '../core/submissions/submissions.ts';
import type { RecordEvents } from '../core/webhooks/outbox.ts';
import type { Settings } from '../settings/settings.ts';
import { type AppOptions, buildApp } from './app.ts';
import { ResponseCache } from './cache/response-cache.ts';
import { buildConsoleApp } from './console/console-app.ts';
import type { ConsoleOptions } from './console/console-options.ts';
import { createConsoleStreams } from './console/console-streams.ts';
import { createEnabledCheck } from './console/mount-console.ts';
import { lastWriteOf } from './http/last-write-cookie.ts';
import type { UpvoteBursts } from './limits/detect-bursts.ts';
import { createLive } from './live/live.ts';
import { addReadMetrics, addSiteMetrics } from './metrics/collected-metrics.ts';
import type { SiteMetrics } from './metrics/site-metrics.ts';

interface SiteOptions
  extends Omit<
    AppOptions,
    'core' | 'cache' | 'live' | 'bursts' | 'observeFastPath' | 'submissions' | 'operatorConsole'
  > {
  database: Database;
  /** Replicas for reads. The caller closes them. */
  replicas?: ReplicatedReads | undefined;
  metrics?: SiteMetrics | undefined;
  launches?: Settings['launches'];
  /** Processes the pictures of submissions. If unset, visitors cannot submit products. */
  submittedPictures?: PicturePipeline | undefined;
  /** If unset, no webhooks are sent. */
  recordEvents?: RecordEvents | undefined;
  /** Starts the detection of upvote bursts with the site's clock. If unset, bursts are not detected. */
  startBursts?: ((now: () => Date) => UpvoteBursts & Closeable) | undefined;
  /** Whether visitors may read the moderation log. */
  hasModerationLog?: boolean;
  /** The options of the operator's console. If unset, the site has no console. */
  console?:
    | Pick<
        ConsoleOptions,
        | 'withoutStatementTimeout'
        | 'pictures'
        | 'document'
        | 'consoleDir'
        | 'backupFolder'
        | 'pictureFolder'
        | 'examine'
      >
    | undefined;
  /** If false, responses are not stored. */
  cacheEnabled?: boolean;
}

/** A complete site that does not listen yet. */
interface BuiltSite extends Closeable {
  app: FastifyInstance;
  core: Core;
  /** Finishes the requests in flight, then publishes the remaining changes. */
  close(): Promise<void>;
}

/**
 * This process learns of a write in another process within this time. Until then, its reads from replicas may miss the
 * write.
 */
const OTHER_PROCESS_LAG_MS = 1_000;

/**
 * Builds the site. This is the composition root: it connects core, cache, live updates and server to a database whose
 * schema is up to date. The served site, its workers, the development server, tests and benchmarks all start here.
 */
export async function buildSite(options: SiteOptions): Promise<BuiltSite> {
  const {
    database,
    replicas,
    metrics,
    cacheEnabled = true,
    log,
    prepare,
    launches = DEFAULT_LAUNCHES,
    submittedPictures,
    recordEvents,
    startBursts,
    hasModerationLog,
    console: consoleOptions,
    ...appOptions
  } = options;
  const closeables: Closeable[] = [];
  try {
    const changes = subscribeToChanges(database, log);
    closeables.push(changes);
    await changes.ready;
    const runtime = options.runtime ?? { ...systemRuntime, now: changes.now };
    const bursts = startBursts?.(runtime.now);
    if (bursts) closeables.push(bursts);
    const newestProducts = cacheNewestProducts(database, runtime);
    // These subscribe before the cache, because the reads that revalidate a cached response must include the change.
    changes.subscribe(newestProducts);
    if (replicas) changes.subscribe({ onChange: replicas.noteChange, onGap: replicas.noteGap });
    const cache = new ResponseCache({
      log,
      runtime,
      ...(cacheEnabled ? {} : { maxBytes: 0 }),
      otherProcessLagMs: replicas ? OTHER_PROCESS_LAG_MS : 0,
    });
    invalidateOn(changes, cache);
    const live = createLive({ database, changes, log, now: runtime.now });
    const networks = createVoteNetworks(database, { runtime, timeZone: launches.timeZone });
    const boards = startBoardUpdater(database, {
      runtime,
      ...launches,
      log,
      publish: (change) => changes.onWrite(change),
      recordEvents,
    });
    closeables.push(boards);
    changes.subscribe(networks);
    changes.subscribe(boards);
    const core = createCore(database, {
      runtime,
      launches: { ...launches, networks },
      newestProducts,
      observeWrites: metrics?.observeWrites,
      onWrite(change) {
        boards.onWrite(change);
        changes.onWrite(change);
      },
      onUnchecked: boards.onUnchecked,
      reads: replicas,
      recordEvents,
      hasModerationLog,
    });
    if (metrics) addSiteMetrics(metrics.registers, { core, cache, database, live });
    if (metrics && replicas) addReadMetrics(metrics.registers, replicas);
    const { renderer, settings } = appOptions;
    const streams = createConsoleStreams((tokens) => findOpenSessions(database, tokens, runtime.now()));
    changes.subscribe(streams);
    const operatorConsole = consoleOptions && {
      isOpen: createEnabledCheck(database, runtime.monotonicMs),
      app: await buildConsoleApp({
        ...consoleOptions,
        ...{ database, runtime, log, streams, launches, recordEvents },
        trustProxy: settings?.trustProxy,
        siteName: renderer.site.name,
        siteLogo: renderer.site.logo,
        siteUrl: renderer.site.url,
      }),
    };
    const app = await buildApp({
      ...appOptions,
      runtime,
      log,
      core,
      cache,
      live,
      bursts,
      submissions: submittedPictures && {
        operations: createSubmissions(database, {
          runtime,
          timeZone: launches.timeZone,
          getStandings: core.getStandings,
          recordEvents,
        }),
        pictures: submittedPictures,
      },
      operatorConsole,
      observeFastPath: metrics?.observeFastPath,
      async prepare(target) {
        if (replicas) {
          // A visitor who has just written reads data that includes the write.
          target.addHook('onRequest', (request, _reply, done) => {
            const time = lastWriteOf(request, runtime);
            if (time === undefined) done();
            else replicas.runAsOf(time, done);
          });
        }
        await prepare?.(target);
      },
    });
    closeables.push(app);
    return { app, core, close: () => closeAll(closeables) };
  } catch (error) {
    await closeAll(closeables);
    throw error;
  }
}

function invalidateOn(changes: SiteChanges, cache: ResponseCache): void {
  changes.subscribe({
    onChange: (change) => cache.invalidate(change),
    onGap: () => cache.invalidateAll(),
    onDisconnect: (since) => cache.setConnected(since === undefined),
  });
}

export interface Closeable {
  close(): unknown;
}

/**
 * Closes resources in reverse order of their start, because later ones may depend on earlier ones.
 * @throws the first error, after all resources have been closed.
 */
export async function closeAll(closeables: readonly Closeable[]): Promise<void> {
  const errors: unknown[] = [];
  for (const closeable of closeables.toReversed()) {
    try {
      await closeable.close();
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}
