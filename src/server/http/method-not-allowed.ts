import type { FastifyInstance, RouteOptions } from 'fastify';

/** Tells which methods an address has; none where there is no such address. */
export type AllowedMethods = (path: string) => string[];

/**
 * Remembers the routes as they are registered, since the router answers a wrong method like an unknown address. To be
 * called before the first route.
 */
export function recordAllowedMethods(app: FastifyInstance): AllowedMethods {
  const routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }: RouteOptions) => {
    // Static files are no resource of the API, and a wildcard would shadow every address below it.
    if (url.includes('*')) return;
    const route = routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const name of [method].flat()) route.methods.add(name);
    routes.set(url, route);
  });
  return (path) => {
    const methods = [...routes.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap((route) => [...route.methods]);
    return [...new Set(methods)].sort();
  };
}

function patternOf(url: string): RegExp {
  const source = url
    .split('/')
    .map((segment) => (segment.startsWith(':') ? '[^/]*' : segment.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  return new RegExp(`^${source}$`);
}
