import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { IMPORT_TIMEOUT_MS } from '../contract/console/records.ts';
import { FOLDERS } from '../contract/paths/folders.ts';
import * as paths from '../contract/paths.ts';
import type { Core } from '../core/core.ts';
import type { PicturePipeline } from '../core/pictures/picture-store.ts';
import { type Runtime, systemRuntime } from '../core/runtime.ts';
import type { Submissions } from '../core/submissions/submissions.ts';
import { PACKAGE_FOLDERS, PACKAGE_VERSION } from '../settings/package-root.ts';
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from '../settings/rate-limits.ts';
import type { Settings } from '../settings/settings.ts';
import { createApiSender } from './cache/api-response.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { addFastPath, type FastPathObserver } from './cache/send-cached.ts';
import { CARD_WORKER_FILE, createCards } from './cards/cards.ts';
import { ownPictures } from './cards/own-pictures.ts';
import { createCardRenderer } from './cards/renderer/card-renderer.ts';
import { mountConsole, type OperatorConsole } from './console/mount-console.ts';
import { drainOnClose } from './http/connections.ts';
import { allowCrossOriginReads, corsHeadersFor } from './http/cors.ts';
import { acceptJsonOnly, handleError, validateByContract } from './http/error-handler.ts';
import { negotiateRepresentation } from './http/representations.ts';
import { createRequestIds, trustRequestIds } from './http/request-keys.ts';
import { pathOf, recordRoutes } from './http/route-table.ts';
import { addSecurityHeaders, inlineHash, pageSecurityHeaders } from './http/security-headers.ts';
import { enforceServerLimits, SERVER_LIMITS } from './http/server-limits.ts';
import type { UpvoteBursts } from './limits/detect-bursts.ts';
import { chargeWith, createRateLimiter, limitRequests } from './limits/limit-requests.ts';
import { warnOfUntrustedProxy } from './limits/network-keys.ts';
import { limitConnectionsPerNetwork, maxConnectionsPerNetwork } from './limits/open-per-network.ts';
import { createRepeatedTexts } from './limits/repeated-texts.ts';
import type { Live } from './live/live.ts';
import { recordApiRoutes } from './openapi/document.ts';
import { createPages, type PageRenderer } from './pages/pages.ts';
import { badgeRoutes, createTextWidth } from './routes/badge.ts';
import { cardRoutes } from './routes/cards.ts';
import { commentRoutes } from './routes/comments.ts';
import { eventRoutes } from './routes/events.ts';
import { feedRoutes } from './routes/feeds.ts';
import { healthRoutes } from './routes/health.ts';
import { leaderboardRoutes } from './routes/leaderboards.ts';
import { moderationLogRoutes } from './routes/moderation-log.ts';
import { addNotFound, sendNotFound } from './routes/not-found.ts';
import { oembedRoutes } from './routes/oembed.ts';
import { apiDocsRoutes, openApiRoutes } from './routes/openapi.ts';
import { addPageRoutes } from './routes/pages.ts';
import { productRoutes } from './routes/products.ts';
import { robotsRoutes, sitemapRoutes } from './routes/sitemap.ts';
import { type StaticFolders, staticFiles, webAppRoutes } from './routes/static-files.ts';
import { submissionRoutes } from './routes/submissions.ts';
import { upvoteRoutes } from './routes/upvotes.ts';

export interface AppOptions {
  core: Core;
  /** The caller must call `invalidate` on this cache whenever the data changes. */
  cache: ResponseCache;
  renderer: PageRenderer;
  folders: StaticFolders;
  log: FastifyBaseLogger;
  live: Live;
  /** If unset, requests are not rate-limited and `X-Forwarded-For` is ignored. */
  settings?: Partial<Pick<Settings, 'rateLimits' | 'streamLimits' | 'trustProxy'>>;
  /** Detects bursts of upvotes. If unset, bursts are not detected. */
  bursts?: UpvoteBursts | undefined;
  /** Submissions by visitors. If unset, they are disabled. */
  submissions?: { operations: Submissions; pictures: PicturePipeline } | undefined;
  runtime?: Runtime;
  /** The operator's console. If unset, the site has no console. */
  operatorConsole?: OperatorConsole | undefined;
  /**
   * Returns whether the server is stopping. A stopping server still responds, but load balancers must send it no new
   * requests.
   */
  isStopping?: () => boolean;
  /** Called for each response that the cache fast path sends, because such responses bypass the routes' hooks. */
  observeFastPath?: FastPathObserver | undefined;
  /** Adds hooks and middleware, before the rate limits and the routes are added. */
  prepare?: (app: FastifyInstance) => Promise<void>;
}

const UNLIMITED_BY_NETWORK: StreamLimits = { ...DEFAULT_STREAM_LIMITS, perNetwork: undefined };

/** Builds the whole server; the caller decides where and when it listens. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { core, cache, live, renderer, folders, log, submissions, prepare } = options;
  const { runtime = systemRuntime, isStopping = () => false } = options;
  const { rateLimits, streamLimits = UNLIMITED_BY_NETWORK, trustProxy } = options.settings ?? {};
  const { site, brand } = renderer;
  const securityHeaders = pageSecurityHeaders(renderer.scriptHash, brand.style && inlineHash(brand.style));
  const pages = createPages({
    renderer,
    api: core,
    cache,
    log,
    runtime,
    isRemoved: (id) => core.isProductRemoved(id),
    today: () => core.currentPeriods().day,
  });
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A child logger per request would cost more than sending a cached response. The few log calls about requests pass
    // the request id explicitly.
    childLoggerFactory: (logger) => logger,
    genReqId: createRequestIds(),
    ...SERVER_LIMITS,
    // Node applies this timeout to every request. `endSlowBodies` ends slow bodies other than imports earlier.
    requestTimeout: IMPORT_TIMEOUT_MS,
    // Requests on open connections are still served during shutdown; `drainOnClose` then closes the connections.
    return503OnClosing: false,
    trustProxy: trustProxy ?? false,
    // A request with an invalid URL reaches no hook or handler, so this function responds to it.
    frameworkErrors: (error, request, reply) => {
      reply.headers({ ...securityHeaders, ...corsHeadersFor(pathOf(request.url), request.method) });
      if (request.url.startsWith(paths.api.prefix)) handleError(error, request, reply);
      else sendNotFound(pages, request, reply).catch((failure: Error) => handleError(failure, request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  // The hook of `drainOnClose` must run before the hook of the console, which may wait for the requests in flight.
  const endsConnections = drainOnClose(app, isStopping);
  if (options.operatorConsole) mountConsole(app, options.operatorConsole);
  const routes = recordRoutes(app);
  const apiRoutes = recordApiRoutes(app);
  trustRequestIds(app, trustProxy);
  app.setErrorHandler(handleError);
  acceptJsonOnly(app);
  validateByContract(app);
  addFastPath(app, {
    cache,
    commonHeaders: (url) => ({ ...securityHeaders, ...corsHeadersFor(pathOf(url)) }),
    routeOf: (url) => routes.patternOf(pathOf(url)),
    endsConnections,
    needsRoute: (url, headers) => renderer.languages.negotiate(url, headers['accept-language']) !== undefined,
    observe: options.observeFastPath,
  });
  addSecurityHeaders(app, securityHeaders);
  allowCrossOriginReads(app, routes);
  negotiateRepresentation(app);
  enforceServerLimits(app, streamLimits.perProcess);
  const limiter = rateLimits && createRateLimiter(rateLimits, runtime.monotonicMs);
  if (limiter) limitConnectionsPerNetwork(app, trustProxy, maxConnectionsPerNetwork(streamLimits));
  warnOfUntrustedProxy(app, trustProxy);
  await prepare?.(app);
  limitRequests(app, limiter, runtime.monotonicMs);
  const charge = chargeWith(limiter);
  const isLimited = limiter !== undefined;

  const send = createApiSender({ cache, runtime, charge });
  await app.register(productRoutes, { core, send });
  await app.register(leaderboardRoutes, { core, send, isLimited });
  await app.register(upvoteRoutes, { core, runtime, bursts: options.bursts });
  await app.register(commentRoutes, {
    core,
    send,
    runtime,
    repeatedTexts: limiter && createRepeatedTexts(runtime.monotonicMs),
    submissions: submissions?.operations,
  });
  if (submissions) {
    const { operations, pictures } = submissions;
    const repeatedTexts = limiter && createRepeatedTexts(runtime.monotonicMs);
    await app.register(submissionRoutes, {
      submissions: operations,
      pictures,
      runtime,
      charge,
      isLimited,
      repeatedTexts,
    });
  }
  if (core.getModerationLog) await app.register(moderationLogRoutes, { core, send });
  await app.register(eventRoutes, { live, limits: streamLimits });
  await app.register(healthRoutes, { core, isStopping });
  await app.register(robotsRoutes, { site });
  await app.register(sitemapRoutes, { core, cache, site, isLimited });
  await app.register(feedRoutes, { core, cache, site });
  await app.register(oembedRoutes, { core, site });
  await app.register(openApiRoutes, { cache, site, version: PACKAGE_VERSION, apiRoutes });
  await app.register(apiDocsRoutes, { cache, siteName: site.name, brand });
  const { cardFonts } = PACKAGE_FOLDERS;
  const cardRenderer = createCardRenderer({ log, fontFolder: cardFonts, workerFile: CARD_WORKER_FILE });
  const readPicture = ownPictures({ [FOLDERS.pictures]: folders.picturesDir, [FOLDERS.images]: folders.imagesDir });
  const { monotonicMs } = runtime;
  const cards = createCards({ renderer: cardRenderer, readPicture, siteName: site.name, brand, monotonicMs });
  await app.register(cardRoutes, { core, cache, cards, charge });
  await app.register(badgeRoutes, {
    core,
    cache,
    site: { name: site.name, brand },
    widthOf: createTextWidth(cardFonts),
  });
  await app.register(staticFiles, { ...folders, logo: brand.logo });
  await app.register(webAppRoutes, { clientDir: folders.clientDir, cache, renderer });
  const hasModerationLog = core.getModerationLog !== undefined;
  addPageRoutes(app, { pages, renderer, charge, hasModerationLog, currentPeriods: () => core.currentPeriods() });
  addNotFound(app, pages, routes, securityHeaders);
  return app;
}
