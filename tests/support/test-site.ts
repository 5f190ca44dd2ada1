import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { followSite } from '../../src/core/changes/site-changes.ts';
import { type Core, createCore } from '../../src/core/core.ts';
import type { StoredProduct } from '../../src/core/products/complete-product.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { type Sources, systemSources } from '../../src/core/sources.ts';
import { buildApp } from '../../src/server/app.ts';
import { createFollowedCache } from '../../src/server/cache/followed-cache.ts';
import type { UpvoteBursts } from '../../src/server/limits/upvote-bursts.ts';
import { createLive } from '../../src/server/live/live.ts';
import { createPageRenderer } from '../../src/server/pages/renderer.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import type { RateLimits } from '../../src/settings/rate-limits.ts';
import type { StreamLimits } from '../../src/settings/stream-limits.ts';
import type { TrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { buildProduct } from './build-product.ts';
import { type Requests, requestsTo } from './requests.ts';
import { silentLog } from './silent-log.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from './test-database.ts';

export interface TestSite {
  app: FastifyInstance;
  /** Asks the server. */
  ask: Requests;
  core: Core;
  database: TestDatabase;
  addProduct(overrides?: Parameters<typeof buildProduct>[0]): Promise<StoredProduct>;
  close(): Promise<void>;
}

/** File names stand in for the browser's build: what they are does not matter to the answers. */
const BUILD = {
  themeScript: '/assets/theme.js',
  appScript: '/assets/app.js',
  styles: ['/assets/app.css'],
  modulePreloads: [],
  routePreloads: {},
  fonts: [],
};

/** The real server on a database of its own, asked through `app.inject`. */
export async function startTestSite({
  sources = systemSources,
  log = silentLog,
  rateLimits,
  bursts,
  streamLimits,
  trustProxy,
  keepsAnswers = false,
  beside,
}: {
  sources?: Sources;
  log?: FastifyBaseLogger;
  /** Unset: nothing is limited, so that a test may ask as often as it likes. */
  rateLimits?: RateLimits;
  /** Unset: nobody watches for bursts of upvotes. */
  bursts?: UpvoteBursts;
  streamLimits?: StreamLimits;
  trustProxy?: TrustedProxies;
  /** Off, so that a test may write to the database behind the server's back. */
  keepsAnswers?: boolean;
  /** Shares the database of that site, as a second process would. */
  beside?: TestSite;
} = {}): Promise<TestSite> {
  const database = beside === undefined ? await createTestDatabase() : joinTestDatabase(beside.database);
  const changes = followSite(database, log);
  await changes.ready;
  const cache = createFollowedCache(changes, log, keepsAnswers);
  const core = createCore(database, { sources, onWrite: (change) => changes.onWrite(change) });
  const renderer = createPageRenderer({
    siteName: 'Groundswell',
    siteUrl: () => 'http://groundswell.test',
    build: BUILD,
  });
  const app = await buildApp({
    core,
    cache,
    live: createLive({ database, changes, log }),
    renderer,
    folders: { clientDir: PACKAGE_FOLDERS.client, picturesDir: PACKAGE_FOLDERS.pictures },
    log,
    sources,
    rateLimits,
    bursts,
    ...(streamLimits && { streamLimits }),
    trustProxy,
  });
  return {
    app,
    ask: requestsTo(app),
    core,
    database,
    async addProduct(overrides) {
      const product = buildProduct(overrides);
      await saveProducts(database, [product]);
      return product;
    },
    async close() {
      await app.close();
      await changes.close();
      await database.drop();
    },
  };
}
