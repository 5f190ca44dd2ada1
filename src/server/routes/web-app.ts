import type { FastifyPluginAsync } from 'fastify';
import { paths } from '../../contract/paths.ts';
import { REVALIDATE } from '../http/caching.ts';
import type { PageRenderer } from '../pages/renderer.ts';
import { webAppManifest } from '../pages/web-app-manifest.ts';

/** What makes the site one that can be installed, and read without a network. */
export const webAppRoutes: FastifyPluginAsync<{ renderer: PageRenderer }> = async (app, { renderer }) => {
  app.get(paths.manifest, async (_request, reply) => {
    reply.type('application/manifest+json; charset=utf-8').header('Cache-Control', REVALIDATE);
    return JSON.stringify(webAppManifest(renderer.siteName));
  });

  app.get(paths.offlineShell, async (_request, reply) => {
    reply.type('text/html; charset=utf-8').header('Cache-Control', REVALIDATE);
    return renderer.shell();
  });
};
