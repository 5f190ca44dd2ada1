import type { FastifyInstance } from 'fastify';
import type { AllowedMethods } from '../http/method-not-allowed.ts';
import { PROBLEM_MEDIA_TYPE, problem } from '../http/problems.ts';
import type { PageRenderer } from '../pages/renderer.ts';
import { sendPage } from './pages.ts';

/** Whatever no route takes: 405 for a wrong method, a problem below `/api/`, and the 404 page for everything else. */
export function addNotFound(app: FastifyInstance, renderer: PageRenderer, allowedMethods: AllowedMethods): void {
  app.setNotFoundHandler(async (request, reply) => {
    const path = request.url.split('?', 1)[0] ?? '/';
    const allowed = allowedMethods(path);
    if (allowed.length > 0) {
      const body = problem(
        'method_not_allowed',
        `${request.method} is not possible here; possible: ${allowed.join(', ')}`,
      );
      return reply.code(405).header('Allow', allowed.join(', ')).type(PROBLEM_MEDIA_TYPE).send(JSON.stringify(body));
    }
    request.log.info({ path }, '404: there is nothing at this path');
    if (path.startsWith('/api/')) {
      const body = problem('not_found', 'There is nothing at this address');
      return reply.code(404).type(PROBLEM_MEDIA_TYPE).header('Cache-Control', 'no-store').send(JSON.stringify(body));
    }
    return sendPage(renderer, path, request, reply);
  });
}
