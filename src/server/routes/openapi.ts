import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import type { SiteIdentity } from '../feeds/site-identity.ts';
import { REVALIDATE } from '../http/caching.ts';
import type { ApiRoute } from '../openapi/api-routes.ts';
import { openApiDocument } from '../openapi/document.ts';

interface Options {
  site: SiteIdentity;
  version: string;
  /** All of the API's, once every route is registered. */
  apiRoutes: readonly ApiRoute[];
}

/** The API's description for programs; made when somebody asks for it, since only then the site's address is known. */
export const openApiRoutes: FastifyPluginAsync<Options> = async (app, { site, version, apiRoutes }) => {
  let made: { url: string; body: string } | undefined;

  app.get(paths.api.description, async (_request, reply) => {
    const url = site.url();
    if (made?.url !== url) made = { url, body: JSON.stringify(openApiDocument(apiRoutes, site, version)) };
    return reply.type('application/json; charset=utf-8').header('Cache-Control', REVALIDATE).send(made.body);
  });
};
