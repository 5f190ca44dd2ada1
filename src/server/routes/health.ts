import type { FastifyPluginAsync } from 'fastify';
import type { Core } from '../../core/core.ts';
import { NO_STORE } from '../http/caching.ts';

/** For balancers and monitors: `healthz` says that the process serves, `readyz` that the database answers as well. */
export const healthRoutes: FastifyPluginAsync<{ core: Core }> = async (app, { core }) => {
  app.get('/healthz', async (_request, reply) => {
    reply.header('Cache-Control', NO_STORE);
    return { status: 'ok' };
  });

  app.get('/readyz', async (_request, reply) => {
    const ready = await core.isReady();
    reply.code(ready ? 200 : 503).header('Cache-Control', NO_STORE);
    return { status: ready ? 'ok' : 'unavailable' };
  });
};
