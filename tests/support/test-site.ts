import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { StoredProduct } from '../../src/contract/products/schema.ts';
import type { Core } from '../../src/core/core.ts';
import { adaptToCitus } from '../../src/core/database/citus.ts';
import type { Database } from '../../src/core/database/database.ts';
import type { ReplicatedReads } from '../../src/core/database/replicas.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import type { PicturePipeline } from '../../src/core/pictures/picture-store.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { type Runtime, systemRuntime } from '../../src/core/runtime.ts';
import type { UpvoteBursts } from '../../src/server/limits/detect-bursts.ts';
import type { SiteLocale } from '../../src/server/pages/languages.ts';
import { createPageRenderer } from '../../src/server/pages/pages.ts';
import { buildSite } from '../../src/server/site.ts';
import type { Brand } from '../../src/settings/brand.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import type { RateLimits, StreamLimits } from '../../src/settings/rate-limits.ts';
import type { TrustedProxies } from '../../src/settings/trusted-proxies.ts';
import { buildProduct } from './build-product.ts';
import { instantPictures } from './instant-pictures.ts';
import { type Requests, requestsTo } from './requests.ts';
import { silentLog } from './silent-log.ts';
import { withClock } from './test-clock.ts';
import { createTestDatabase, joinTestDatabase, type TestDatabase } from './test-database.ts';
import { withServer } from './with-server.ts';

export interface TestSite {
  app: FastifyInstance;
  /** Sends requests to the server. */
  ask: Requests;
  core: Core;
  database: TestDatabase;
  addProduct(overrides?: Parameters<typeof buildProduct>[0]): Promise<StoredProduct>;
  close(): Promise<void>;
}

/** Placeholder file names instead of those of the client build, which these tests do not need. */
const BUILD = {
  headScript: '',
  appScript: '/assets/app.js',
  styles: ['/assets/app.css'],
  modulePreloads: [],
  routePreloads: {},
  fonts: [],
  messages: { ar: '/assets/ar.js', de: '/assets/de.js', ja: '/assets/ja.js' },
};

/** Starts the real server on its own database. Requests are sent with `app.inject`. */
export async function startTestSite({
  databaseClock,
  runtime = databaseClock ? undefined : systemRuntime,
  log = silentLog,
  rateLimits,
  bursts,
  streamLimits,
  trustProxy,
  hasModerationLog = false,
  cacheEnabled = false,
  submittedPictures,
  imagesDir,
  clientDir = PACKAGE_FOLDERS.client,
  consoleDir = PACKAGE_FOLDERS.console,
  brand,
  locale,
  databaseOf,
  launched = [],
  replicas,
  ownConnections = false,
}: {
  /** How far the database's clock is ahead of this machine's. If set, the site follows the database's clock. */
  databaseClock?: { offsetMs: number };
  /** If unset, the site uses this machine's clock, so new products have launched. */
  runtime?: Runtime | undefined;
  log?: FastifyBaseLogger;
  /** If unset, requests are not limited. */
  rateLimits?: RateLimits | undefined;
  /** If unset, bursts of upvotes are not detected. */
  bursts?: (now: () => Date) => UpvoteBursts;
  streamLimits?: StreamLimits;
  trustProxy?: TrustedProxies;
  hasModerationLog?: boolean;
  /** The value of SITE_LOCALE. Default: English. */
  locale?: SiteLocale;
  /** Off by default, so tests may write to the database directly. */
  cacheEnabled?: boolean;
  /** If unset, submissions are disabled. */
  submittedPictures?: PicturePipeline | undefined;
  /** The folder of uploaded pictures, if any. */
  imagesDir?: string;
  /** The builds whose files are served, by default those of the checkout. */
  clientDir?: string;
  consoleDir?: string;
  /** If unset, pages have the appearance that the specification describes. */
  brand?: Brand;
  /** Another site whose database the new site uses, like a second process. */
  databaseOf?: Pick<TestSite, 'database'>;
  /** Products that are on their leaderboards before the site starts, so they do not invalidate cached responses. */
  launched?: StoredProduct[];
  /** If unset, all reads use the database of writes. */
  replicas?: (database: Database) => ReplicatedReads;
  /**
   * Whether imports and downloads of the console use their own connections, which an abort closes, as on a served site.
   * By default, they use `database`, so tests can intercept their statements.
   */
  ownConnections?: boolean;
} = {}): Promise<TestSite> {
  const database = databaseOf === undefined ? await createTestDatabase() : joinTestDatabase(databaseOf.database);
  if (launched.length > 0) {
    await saveProducts(database, launched);
    await placeLaunches(database, { now: new Date(), timeZone: 'UTC', reviewHours: 24 });
  }
  const renderer = createPageRenderer({
    site: { name: 'Groundswell', url: () => 'http://groundswell.test', ...brand?.page },
    build: BUILD,
    brand,
    locale,
  });
  const { app, core, close } = await buildSite({
    database: databaseClock ? withClock(database, databaseClock) : database,
    replicas: replicas?.(database),
    cacheEnabled,
    renderer,
    folders: { clientDir, picturesDir: PACKAGE_FOLDERS.pictures, imagesDir },
    log,
    ...(runtime && { runtime }),
    settings: { rateLimits, ...(streamLimits && { streamLimits }), ...(trustProxy && { trustProxy }) },
    startBursts: bursts && ((now) => ({ ...bursts(now), close() {} })),
    hasModerationLog,
    submittedPictures,
    console: {
      withoutStatementTimeout: (work, signal) =>
        ownConnections ? withServer(database.url, (own) => work(adaptToCitus(own)), signal) : work(database),
      pictures: submittedPictures ?? instantPictures(),
      pictureFolder: imagesDir,
      document: async () => '<!doctype html>\n<title>Console</title>\n',
      consoleDir,
      examine: async function* () {
        yield { check: 'database', status: 'ok', message: 'it responds' };
      },
    },
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
      await close();
      await database.drop();
    },
  };
}
