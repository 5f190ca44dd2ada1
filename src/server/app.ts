import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Core } from '../core/core.ts';
import { type Sources, systemSources } from '../core/sources.ts';
import { PACKAGE_FOLDERS, PACKAGE_VERSION } from '../settings/package-root.ts';
import type { RateLimits } from '../settings/rate-limits.ts';
import { DEFAULT_STREAM_LIMITS, type StreamLimits } from '../settings/stream-limits.ts';
import type { TrustedProxies } from '../settings/trusted-proxies.ts';
import { createTextWidth } from './badges/text-width.ts';
import type { AnswerCache } from './cache/answer-cache.ts';
import { type RepeatObserver, repeatAnswers } from './cache/repeat-answers.ts';
import { createCards } from './cards/cards.ts';
import { ownPictures } from './cards/own-pictures.ts';
import { createPainter, type Painter } from './cards/painter.ts';
import { coreApi } from './core-api.ts';
import { boundRequests, SERVER_BOUNDS } from './http/bounds.ts';
import { drainOnClose } from './http/drain.ts';
import { handleError } from './http/error-handler.ts';
import { acceptJsonOnly } from './http/json-body.ts';
import { recordAllowedMethods } from './http/method-not-allowed.ts';
import { negotiateRepresentation } from './http/negotiate-representation.ts';
import { allowPublicReading } from './http/public-reading.ts';
import { createRequestIds, trustRequestIds } from './http/request-id.ts';
import { addSecurityHeaders, setSecurityHeaders } from './http/security-headers.ts';
import { validateByContract } from './http/validation.ts';
import { chargeWith, limitRequests } from './limits/limit-requests.ts';
import { createRateLimiter } from './limits/rate-limiter.ts';
import { createRepeatedTexts } from './limits/repeated-texts.ts';
import { warnOfUntrustedProxy } from './limits/untrusted-proxy.ts';
import type { UpvoteBursts } from './limits/upvote-bursts.ts';
import type { Live } from './live/live.ts';
import { recordApiRoutes } from './openapi/api-routes.ts';
import { createPages } from './pages/pages.ts';
import type { PageRenderer } from './pages/renderer.ts';
import { apiDocsRoutes } from './routes/api-docs.ts';
import { badgeRoutes } from './routes/badge.ts';
import { commentRoutes } from './routes/comments.ts';
import { eventRoutes } from './routes/events.ts';
import { feedRoutes } from './routes/feeds.ts';
import { healthRoutes } from './routes/health.ts';
import { addNotFound, sendNotFound } from './routes/not-found.ts';
import { oembedRoutes } from './routes/oembed.ts';
import { cardRoutes } from './routes/og.ts';
import { openApiRoutes } from './routes/openapi.ts';
import { addPageRoutes } from './routes/pages.ts';
import { productRoutes } from './routes/products.ts';
import { robotsRoutes } from './routes/robots.ts';
import { sitemapRoutes } from './routes/sitemap.ts';
import { type StaticFolders, staticFiles } from './routes/static-files.ts';
import { upvoteRoutes } from './routes/upvotes.ts';
import { webAppRoutes } from './routes/web-app.ts';

export interface AppOptions {
  core: Core;
  /** Told by its maker what changes. */
  cache: AnswerCache;
  renderer: PageRenderer;
  folders: StaticFolders;
  log: FastifyBaseLogger;
  /** Unset: nothing is limited. */
  rateLimits?: RateLimits | undefined;
  /** Tells open pages what changes. */
  live: Live;
  streamLimits?: StreamLimits;
  /** Watches for bursts of upvotes; unset: nobody does. */
  bursts?: UpvoteBursts | undefined;
  /** Whose `X-Forwarded-For` counts; unset: nobody's. */
  trustProxy?: TrustedProxies | undefined;
  sources?: Sources;
  /** Draws share images; unset: in a process of its own. */
  painter?: Painter;
  /** Whether the server was told to stop, and is not to be asked any more; it still answers. */
  isStopping?: () => boolean;
  /** Told of what the hooks of routes do not see. */
  observeRepeat?: RepeatObserver | undefined;
  /** Runs before the routes are added; development hangs its asset server in here. */
  prepare?: (app: FastifyInstance) => Promise<void>;
}

const UNLIMITED_BY_NETWORK: StreamLimits = { ...DEFAULT_STREAM_LIMITS, perNetwork: undefined };

/** Builds the whole server, which then listens where and when its caller says. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { core, cache, live, renderer, folders, log, rateLimits, trustProxy, prepare } = options;
  const { sources = systemSources, streamLimits = UNLIMITED_BY_NETWORK, isStopping = () => false } = options;
  const site = { name: renderer.siteName, url: renderer.siteUrl };
  const pages = createPages(renderer, coreApi(core), cache, (id) => core.isProductRemoved(id));
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // A logger of its own for each request would cost more than to send an answer that is kept; the few lines about one name it.
    childLoggerFactory: (logger) => logger,
    genReqId: createRequestIds(),
    ...SERVER_BOUNDS,
    // What comes on a connection that is still there is answered like the rest; `drainOnClose` ends the connection.
    return503OnClosing: false,
    trustProxy: trustProxy ?? false,
    // A path that is no valid URL reaches no hook or handler: it is answered here.
    frameworkErrors: (error, request, reply) => {
      setSecurityHeaders(reply);
      if (request.url.startsWith('/api/')) handleError(error, request, reply);
      else sendNotFound(pages, request, reply).catch((fault: Error) => handleError(fault, request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  const allowedMethods = recordAllowedMethods(app);
  const apiRoutes = recordApiRoutes(app);
  trustRequestIds(app, trustProxy);
  app.setErrorHandler(handleError);
  acceptJsonOnly(app);
  validateByContract(app);
  repeatAnswers(app, { cache, endsConnections: drainOnClose(app, isStopping), observe: options.observeRepeat });
  addSecurityHeaders(app);
  allowPublicReading(app, allowedMethods);
  negotiateRepresentation(app);
  boundRequests(app, streamLimits.perProcess);
  const now = () => sources.now().getTime();
  const limiter = rateLimits && createRateLimiter(rateLimits, now);
  if (limiter) warnOfUntrustedProxy(app, trustProxy);
  limitRequests(app, limiter);
  const charge = chargeWith(limiter);

  await prepare?.(app);

  await app.register(productRoutes, { core, cache, charge });
  await app.register(upvoteRoutes, { core, bursts: options.bursts });
  await app.register(commentRoutes, { core, cache, repeatedTexts: limiter && createRepeatedTexts(now) });
  await app.register(eventRoutes, { live, limits: streamLimits });
  await app.register(healthRoutes, { core, isStopping });
  await app.register(robotsRoutes, { site });
  await app.register(sitemapRoutes, { core, cache, site });
  await app.register(feedRoutes, { core, cache, site });
  await app.register(oembedRoutes, { core, site });
  await app.register(openApiRoutes, { site, version: PACKAGE_VERSION, apiRoutes });
  await app.register(apiDocsRoutes, { cache, siteName: site.name });
  const { cardFonts } = PACKAGE_FOLDERS;
  const { painter = createPainter({ log, fontFolder: cardFonts }) } = options;
  const readPicture = ownPictures({ '/pictures/': folders.picturesDir, '/images/': folders.imagesDir });
  const cards = createCards({ painter, readPicture, siteName: renderer.siteName });
  await app.register(cardRoutes, { core, cache, cards });
  await app.register(badgeRoutes, { core, cache, siteName: renderer.siteName, widthOf: createTextWidth(cardFonts) });
  await app.register(staticFiles, folders);
  await app.register(webAppRoutes, { renderer });
  addPageRoutes(app, pages, charge);
  addNotFound(app, pages, allowedMethods);
  return app;
}
