import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { NO_STORE } from '../http/caching.ts';
import type { AllowedMethods } from '../http/method-not-allowed.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import type { Pages } from '../pages/pages.ts';

/** Whatever no route takes: 405 for a wrong method, a problem below `/api/`, and the 404 page for everything else. */
export function addNotFound(app: FastifyInstance, pages: Pages, allowedMethods: AllowedMethods): void {
  app.setNotFoundHandler(async (request, reply) => {
    const allowed = allowedMethods(pathOf(request));
    // A route that took the request and then found nothing, such as a missing file, is a plain 404.
    if (allowed.length === 0 || allowed.includes(request.method)) return sendNotFound(pages, request, reply);
    const body = problem(
      'method_not_allowed',
      `${request.method} is not possible here; possible: ${allowed.join(', ')}`,
    );
    reply.header('Allow', allowed.join(', ')).header('Cache-Control', NO_STORE);
    return reply.code(405).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(body));
  });
}

/** Says that there is nothing at this address: as a problem below `/api/`, else by the 404 page. */
export async function sendNotFound(pages: Pages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = pathOf(request);
  request.log.info({ path }, '404: there is nothing at this path');
  if (path.startsWith('/api/')) {
    const body = problem('not_found', 'There is nothing at this address');
    return reply.code(404).type(PROBLEM_MEDIA_TYPE).header('Cache-Control', NO_STORE).send(JSON.stringify(body));
  }
  await pages.sendNotFound(request, reply);
  return reply;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}
