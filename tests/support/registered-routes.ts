import type { Core } from '../../src/core/core.ts';
import type { PicturePipeline } from '../../src/core/pictures/picture-store.ts';
import type { Submissions } from '../../src/core/submissions/submissions.ts';
import { buildApp } from '../../src/server/app.ts';
import type { ResponseCache } from '../../src/server/cache/response-cache.ts';
import type { Live } from '../../src/server/live/live.ts';
import type { Operation } from '../../src/server/openapi/parts.ts';
import type { PageRenderer } from '../../src/server/pages/pages.ts';
import { NO_BRAND } from '../../src/settings/brand.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';
import { silentLog } from './silent-log.ts';

/**
 * Returns the routes that exist if all features are enabled, such as `PUT /api/products/:id/upvote`, each with its
 * description if it is an API route.
 */
export async function registeredRoutes(): Promise<Map<string, Operation | undefined>> {
  const routes = new Map<string, Operation | undefined>();
  // Routes are only registered here, never called.
  const app = await buildApp({
    core: { getModerationLog: async () => ({ items: [], nextCursor: null }) } as Partial<Core> as Core,
    cache: {} as ResponseCache,
    live: { close() {} } as Live,
    submissions: { operations: {} as Submissions, pictures: {} as PicturePipeline },
    renderer: { site: {}, brand: NO_BRAND } as PageRenderer,
    folders: { clientDir: PACKAGE_FOLDERS.client, picturesDir: PACKAGE_FOLDERS.pictures },
    log: silentLog,
    prepare: async (target) => {
      target.addHook('onRoute', ({ method, url, config }) => {
        // Fastify adds a HEAD route for each GET route.
        for (const name of [method].flat()) if (name !== 'HEAD') routes.set(`${name} ${url}`, config?.operation);
      });
    },
  });
  await app.ready();
  await app.close();
  return routes;
}

/** Returns the operations of the API by method and URL. */
export async function apiOperations(): Promise<Record<string, Operation>> {
  const described = [...(await registeredRoutes())].filter(([, operation]) => operation !== undefined);
  return Object.fromEntries(described) as Record<string, Operation>;
}
