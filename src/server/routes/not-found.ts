import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AllowedMethods } from '../http/method-not-allowed.ts';
import { problem } from '../http/problems.ts';
import { requestIdOf } from '../http/request-id.ts';
import { sendProblem } from '../http/send-problem.ts';
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
    return sendProblem(body, request, reply.header('Allow', allowed.join(', ')));
  });
}

/** Says that there is nothing at this address: as a problem below `/api/`, else by the 404 page. */
export async function sendNotFound(pages: Pages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = pathOf(request);
  request.log.info({ path, requestId: requestIdOf(request) }, '404: there is nothing at this path');
  if (path.startsWith('/api/')) {
    return sendProblem(problem('not_found', 'There is nothing at this address'), request, reply);
  }
  await pages.sendNotFound(request, reply);
  return reply;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}
