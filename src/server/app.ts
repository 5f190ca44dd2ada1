import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import { LIMITS } from '../contract/limits.ts';
import type { Core } from '../core/core.ts';
import { handleError } from './http/error-handler.ts';
import { acceptJsonOnly } from './http/json-body.ts';
import { recordAllowedMethods } from './http/method-not-allowed.ts';
import { negotiateRepresentation } from './http/representation.ts';
import { addSecurityHeaders, setSecurityHeaders } from './http/security-headers.ts';
import { validateByContract } from './http/validation.ts';
import type { PageRenderer } from './pages/renderer.ts';
import { commentRoutes } from './routes/comments.ts';
import { healthRoutes } from './routes/health.ts';
import { addNotFound, sendNotFound } from './routes/not-found.ts';
import { addPageRoutes } from './routes/pages.ts';
import { productRoutes } from './routes/products.ts';
import { type StaticFolders, staticFiles } from './routes/static-files.ts';
import { upvoteRoutes } from './routes/upvotes.ts';

export interface AppOptions {
  core: Core;
  renderer: PageRenderer;
  folders: StaticFolders;
  log: FastifyBaseLogger;
  /** Runs before the routes are added; development hangs its asset server in here. */
  prepare?: (app: FastifyInstance) => Promise<void>;
}

/** A client that sends its headers or body slower than this is let go. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Node refuses a longer head of a request. */
const MAX_PATH_LENGTH = 16 * 1024;

/** Builds the whole server, which then listens where and when its caller says. */
export async function buildApp({ core, renderer, folders, log, prepare }: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LIMITS.bodyBytes,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // As long as a path can be at all: that an id is too long to exist is for its route to say.
    routerOptions: { maxParamLength: MAX_PATH_LENGTH },
    // A path that is no valid URL reaches no hook or handler: it is answered here.
    frameworkErrors: (error, request, reply) => {
      setSecurityHeaders(reply);
      if (request.url.startsWith('/api/')) handleError(error, request, reply);
      else sendNotFound(renderer, request, reply).catch((fault: Error) => handleError(fault, request, reply));
    },
  }).withTypeProvider<TypeBoxTypeProvider>();

  const allowedMethods = recordAllowedMethods(app);
  app.setErrorHandler(handleError);
  acceptJsonOnly(app);
  validateByContract(app);
  addSecurityHeaders(app);
  negotiateRepresentation(app);

  await prepare?.(app);

  await app.register(productRoutes, { core });
  await app.register(upvoteRoutes, { core });
  await app.register(commentRoutes, { core });
  await app.register(healthRoutes, { core });
  await app.register(staticFiles, folders);
  addPageRoutes(app, renderer);
  addNotFound(app, renderer, allowedMethods);
  return app;
}
