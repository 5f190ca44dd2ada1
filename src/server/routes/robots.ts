import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { absoluteUrl, type SiteIdentity } from '../feeds/site-identity.ts';
import { REVALIDATE } from '../http/caching.ts';

/** Everything may be found. Pages that should not be, such as searches, say so themselves, which only a visitor can read. */
export const robotsRoutes: FastifyPluginAsync<{ site: SiteIdentity }> = async (app, { site }) => {
  app.get('/robots.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('Cache-Control', REVALIDATE);
    return `User-agent: *\nAllow: /\n\nSitemap: ${absoluteUrl(site, paths.sitemap)}\n`;
  });
};
