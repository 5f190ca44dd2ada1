import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { problem, sendProblem } from '../http/problems.ts';
import { requestIdsOf } from '../http/request-keys.ts';
import type { Pages } from '../pages/pages.ts';

/**
 * Handles every request without a route: with 405 for a wrong method, a problem below `/api/`, and the 404 page for
 * everything else.
 */
export function addNotFound(
  app: FastifyInstance,
  pages: Pages,
  routes: RouteTable,
  pageHeaders: Readonly<Record<string, string>>,
): void {
  app.setNotFoundHandler(async (request, reply) => {
    // The policy of pictures must not apply to the 404 page of a missing picture.
    reply.headers(pageHeaders);
    const allowed = routes.methodsOf(pathOf(request));
    // If a route accepts the method, its file is missing, which is a 404 as well.
    if (allowed.length === 0 || allowed.includes(request.method)) return sendNotFound(pages, request, reply);
    const body = problem('method_not_allowed', `${request.method} is not allowed here; allowed: ${allowed.join(', ')}`);
    return sendProblem(body, request, reply.header('Allow', allowed.join(', ')));
  });
}

/** Responds to an unknown URL: with a problem below `/api/`, else with the 404 page. */
export async function sendNotFound(pages: Pages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = pathOf(request);
  request.log.info({ path, ...requestIdsOf(request) }, '404: there is nothing at this path');
  if (path.startsWith(paths.api.prefix)) {
    return sendProblem(problem('not_found', 'There is nothing at this address'), request, reply);
  }
  await pages.sendNotFound(request, reply);
  return reply;
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '/';
}

/** Finds the routes of a URL. */
export interface RouteTable {
  /** Returns the methods of a path; empty for an unknown path. */
  methodsOf(path: string): string[];
  /** Returns the pattern of the route, for metrics. */
  patternOf(path: string): string | undefined;
}

/**
 * Records the routes as they are registered, since the router treats a wrong method like an unknown URL. Call
 * before the first route.
 */
export function recordRoutes(app: FastifyInstance): RouteTable {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    // Static files are not a resource of the API, and a wildcard would shadow every URL below it.
    if (url.includes('*')) return;
    const route = routes.get(url) ?? { pattern: expressionOf(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  return {
    methodsOf(path) {
      const found = [...routes.values()].filter(({ pattern }) => pattern.test(path));
      return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
    },
    patternOf: (path) => [...routes].find(([, { pattern }]) => pattern.test(path))?.[0],
  };
}

function expressionOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]*' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  return new RegExp(`^${source}$`);
}
