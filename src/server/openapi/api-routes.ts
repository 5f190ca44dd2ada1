import type { FastifyInstance, FastifySchema } from 'fastify';
import { paths } from '../../contract/paths.ts';

/** A route of the API as it is registered, with the schemas that validate it. */
export interface ApiRoute {
  method: string;
  url: string;
  schema: FastifySchema;
}

/** Remembers the API's routes as they are registered, except the files of the reference page. To be called before the first. */
export function recordApiRoutes(app: FastifyInstance): readonly ApiRoute[] {
  const routes: ApiRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema = {} }) => {
    if (!url.startsWith('/api/') || url.startsWith(`${paths.api.reference}/`)) return;
    // HEAD comes with every GET.
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url, schema });
  });
  return routes;
}
