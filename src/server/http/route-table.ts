import type { FastifyInstance, RouteOptions } from 'fastify';

/** Finds the routes of a URL. */
export interface RouteTable {
  /** Returns the methods of a path; empty for an unknown path. */
  methodsOf(path: string): string[];
  /** Returns the pattern of the route, for metrics. */
  patternOf(path: string): string | undefined;
}

/**
 * Records the routes as they are registered, because the router does not distinguish an unsupported method from an
 * unknown URL. Call this before the first route.
 */
export function recordRoutes(app: FastifyInstance): RouteTable {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    // The wildcard routes of static files would match every URL below their prefixes, including unknown ones.
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

/** Returns the path of a request's URL, without the query. */
export function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? '/';
}
