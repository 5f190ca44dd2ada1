import fastifyStatic from '@fastify/static';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import {
  CONSOLE_API,
  CONSOLE_PATHS,
  CONSOLE_SCREENS,
  OPERATOR_HEADER,
  UNATTENDED_HEADER,
} from '../../contract/console/paths.ts';
import { runAsOperator } from '../../core/audit/audit-log.ts';
import { readSession, touchSession } from '../../core/console/sessions.ts';
import { CoreError } from '../../core/core-error.ts';
import { UnknownOutcomeError } from '../../core/database/database-errors.ts';
import { acceptJsonOnly, handleError, validateByContract } from '../http/error-handler.ts';
import { problem, sendProblem } from '../http/problems.ts';
import { negotiateRepresentation } from '../http/representations.ts';
import { createRequestIds, trustRequestIds } from '../http/request-keys.ts';
import { SERVER_LIMITS } from '../http/server-limits.ts';
import { hideRefusals } from '../routes/static-files.ts';
import type { ConsoleOptions } from './console-options.ts';
import { eventRoutes } from './console-streams.ts';
import { consoleCookies } from './cookies.ts';
import { CONSOLE_HEADERS } from './mount-console.ts';
import { auditRoutes } from './routes/audit.ts';
import { commentRoutes } from './routes/comments.ts';
import { downloadRoutes } from './routes/downloads.ts';
import { importRoutes } from './routes/imports.ts';
import { overviewRoutes } from './routes/overview.ts';
import { pictureRoutes, productRoutes } from './routes/products.ts';
import { signInRoutes } from './routes/sign-in.ts';
import { submissionRoutes } from './routes/submissions.ts';
import { voteRoutes } from './routes/votes.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The name of the operator who is signed in; an empty string on routes without sign-in. */
    operator: string;
  }
  interface FastifyContextConfig {
    /** Whether a route of the console accepts requests without a session. */
    isOpenToAll?: boolean;
  }
}

/** Builds the operator's console as a server that never listens: `mountConsole` passes requests to it. */
export async function buildConsoleApp(options: ConsoleOptions): Promise<FastifyInstance> {
  const { database, runtime, log, trustProxy, siteUrl, consoleDir } = options;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger) => logger,
    genReqId: createRequestIds(),
    bodyLimit: SERVER_LIMITS.bodyLimit,
    routerOptions: SERVER_LIMITS.routerOptions,
    // Responds to uploads that lose their place in the queue of pictures.
    clientErrorHandler: SERVER_LIMITS.clientErrorHandler,
    return503OnClosing: false,
    trustProxy: trustProxy ?? false,
  }).withTypeProvider<TypeBoxTypeProvider>();
  trustRequestIds(app, trustProxy);
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    if (!(error instanceof UnknownOutcomeError)) return handleError(error, request, reply);
    // The browser treats this status, which proxies also send, as an unknown outcome, and not as a failure.
    return sendProblem({ ...problem(error.code, error.message), status: 504 }, request, reply);
  });
  const sendNotFound = (request: FastifyRequest, reply: FastifyReply) =>
    sendProblem(problem('not_found', 'There is nothing at this address.'), request, reply);
  app.setNotFoundHandler(sendNotFound);
  acceptJsonOnly(app);
  validateByContract(app);
  negotiateRepresentation(app);
  app.decorateRequest('operator', '');
  const cookies = consoleCookies(siteUrl);

  async function requireOperator(request: FastifyRequest): Promise<void> {
    const sought = [database, cookies.sessionOf(request), runtime.now()] as const;
    const operator = isUse(request) ? await touchSession(...sought) : (await readSession(...sought))?.operator;
    const { [OPERATOR_HEADER]: shown = operator } = request.headers;
    if (operator === undefined || shown !== operator) throw new CoreError('not_signed_in', 'Please sign in.');
    request.operator = operator;
  }

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(CONSOLE_HEADERS);
    // The content security policy would block the scripts that the development server inlines.
    if (consoleDir === undefined) reply.removeHeader('Content-Security-Policy');
    if (request.url.startsWith(`${CONSOLE_PATHS.api}/`)) {
      requireSameOrigin(request, siteUrl());
      if (!request.routeOptions.config.isOpenToAll) await requireOperator(request);
    }
    // Responds before the body is read, because the parser refuses some bodies with another error.
    if (request.is404) return sendNotFound(request, reply);
  });
  // The body may take minutes to arrive, during which the operator's access may have been revoked.
  app.addHook('preHandler', async (request) => {
    if (request.operator !== '' && !SAFE_METHODS.has(request.method)) await requireOperator(request);
  });
  // This is not an `onRequest` hook, because reading the body afterwards would lose the async context.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.operator === '') done();
    else runAsOperator(request.operator, done);
  });

  await app.register(signInRoutes, { ...options, cookies });
  await app.register(eventRoutes, { streams: options.streams, cookies });
  for (const routes of [
    overviewRoutes,
    auditRoutes,
    commentRoutes,
    productRoutes,
    pictureRoutes,
    submissionRoutes,
    voteRoutes,
  ])
    await app.register(routes, options);
  await app.register(downloadRoutes, { ...options, cookies });
  await app.register(importRoutes, { ...options, requireOperator, cookies });
  for (const screen of ['overview', ...CONSOLE_SCREENS] as const) {
    app.get(CONSOLE_PATHS.screen(screen), async (_request, reply) =>
      reply.type('text/html; charset=utf-8').send(await options.document()),
    );
  }
  if (consoleDir !== undefined) await app.register(consoleAssets, { consoleDir });
  await app.ready();
  return app;
}

/** Serves the content-hashed files. They are `private`, because shared caches need not store the console. */
async function consoleAssets(app: FastifyInstance, { consoleDir }: { consoleDir: string }): Promise<void> {
  hideRefusals(app);
  // The option `setHeaders` of the plug-in cannot set these headers, because the default headers of the reply would
  // override them.
  app.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode >= 400) return;
    reply.header('Cache-Control', 'private, max-age=31536000, immutable').header('Vary', 'Accept-Encoding');
  });
  await app.register(fastifyStatic, {
    root: `${consoleDir}/assets`,
    prefix: CONSOLE_PATHS.assets,
    preCompressed: true,
    cacheControl: false,
    acceptRanges: false,
    index: false,
    redirect: false,
  });
}

/**
 * Returns whether a request extends its session. Event streams do not, nor do requests that no input of the operator
 * caused.
 */
function isUse({ routeOptions, headers }: FastifyRequest): boolean {
  return routeOptions.url !== CONSOLE_API.events && headers[UNATTENDED_HEADER] === undefined;
}

const SAFE_METHODS = new Set(['GET', 'HEAD']);

/**
 * Refuses requests from other origins, in addition to `SameSite=Strict`. Checks `Sec-Fetch-Site`, which no page can
 * forge, or else `Origin`, because some browsers do not send `Sec-Fetch-Site`. A write that has neither header is
 * refused.
 * @throws CoreError `cross_origin`.
 */
function requireSameOrigin({ method, headers }: FastifyRequest, siteUrl: string): void {
  const site = headers['sec-fetch-site'];
  if (SAFE_METHODS.has(method) && (site === undefined || site === 'none')) return;
  const from = hostOf(headers.origin);
  // A forged `Host` does not help attackers: a browser sends the host of the URL, and only the cookies of that host.
  const isSiteOrigin = from !== undefined && (from === headers.host || from === hostOf(siteUrl));
  if (site === undefined ? !isSiteOrigin : site !== 'same-origin')
    throw new CoreError('cross_origin', 'The console accepts requests from its own pages only.');
}

/**
 * Returns the host of an origin, or undefined if the origin is invalid. Long texts count as invalid, because `URL`
 * takes quadratic time to encode a host.
 */
function hostOf(origin = ''): string | undefined {
  return origin.length <= 300 && URL.canParse(origin) ? new URL(origin).host : undefined;
}
