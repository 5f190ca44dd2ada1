import type { FastifyPluginAsync } from 'fastify';
import * as paths from '../../contract/paths.ts';
import type { Core } from '../../core/core.ts';
import { NO_STORE } from '../http/cache-control.ts';

interface Options {
  core: Core;
  isStopping: () => boolean;
}

/**
 * Health checks for load balancers and monitors. `healthz` succeeds while the process serves; `readyz` also requires
 * that the database responds and accepts writes, and that the process is not stopping.
 */
export const healthRoutes: FastifyPluginAsync<Options> = async (app, { core, isStopping }) => {
  app.get(paths.healthz, async (_request, reply) => {
    reply.header('Cache-Control', NO_STORE);
    return { status: 'ok' };
  });

  app.get(paths.readyz, async (_request, reply) => {
    const status = isStopping() ? 'stopping' : (await core.isReady()) ? 'ok' : 'unavailable';
    reply.code(status === 'ok' ? 200 : 503).header('Cache-Control', NO_STORE);
    return { status };
  });
};
