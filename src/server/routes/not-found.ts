import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as paths from '../../contract/paths.ts';
import { problem, sendProblem } from '../http/problems.ts';
import { requestIdsOf } from '../http/request-keys.ts';
import { pathOf, type RouteTable } from '../http/route-table.ts';
import type { Pages } from '../pages/pages.ts';

/**
 * Handles every request without a route, before its body is read. Responds with 405 if the URL has a route for other
 * methods; otherwise with 404, as problem details below `/api/` and as the 404 page elsewhere.
 */
export function addNotFound(
  app: FastifyInstance,
  pages: Pages,
  routes: RouteTable,
  pageHeaders: Readonly<Record<string, string>>,
): void {
  const respond = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // The content security policy of pictures must not apply to the 404 page of a missing picture.
    reply.headers(pageHeaders);
    const allowed = routes.methodsOf(pathOf(request.url));
    // If a route accepts the method, its handler found nothing, which is a 404 as well.
    if (allowed.length === 0 || allowed.includes(request.method)) return sendNotFound(pages, request, reply);
    const body = problem(
      'method_not_allowed',
      `${request.method} is not allowed here. Allowed: ${allowed.join(', ')}.`,
    );
    return sendProblem(body, request, reply.header('Allow', allowed.join(', ')));
  };
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) respond(request, reply).catch(done);
    else done();
  });
  // Handles `reply.callNotFound()` of routes that find nothing.
  app.setNotFoundHandler(respond);
}

/** The maximum number of logged characters of a path, because anyone can request unknown paths. */
const MAX_LOGGED = 200;

/** Responds to an unknown URL: with problem details below `/api/`, otherwise with the 404 page. */
export async function sendNotFound(pages: Pages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = pathOf(request.url);
  request.log.info({ path: path.slice(0, MAX_LOGGED), ...requestIdsOf(request) }, '404: there is nothing at this path');
  if (path.startsWith(paths.api.prefix)) {
    return sendProblem(problem('not_found', 'There is nothing at this address.'), request, reply);
  }
  await pages.sendNotFound(request, reply);
  return reply;
}
