import type { FastifyPluginAsync } from 'fastify';
import { REVALIDATE } from '../http/caching.ts';

/** Everything may be found. */
const RULES = 'User-agent: *\nAllow: /\n';

export const robotsRoutes: FastifyPluginAsync = async (app) => {
  app.get('/robots.txt', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8').header('Cache-Control', REVALIDATE);
    return RULES;
  });
};
