import { pino } from 'pino';
import * as paths from '../../src/contract/paths.ts';
import { UpvoteStateSchema } from '../../src/contract/upvotes/schema.ts';
import type { Core } from '../../src/core/core.ts';
import { buildApp } from '../../src/server/app.ts';
import type { ResponseCache } from '../../src/server/cache/response-cache.ts';
import { sessionOf } from '../../src/server/http/request-keys.ts';
import type { Live } from '../../src/server/live/live.ts';
import type { PageRenderer } from '../../src/server/pages/pages.ts';
import { NO_BRAND } from '../../src/settings/brand.ts';
import { PACKAGE_FOLDERS } from '../../src/settings/package-root.ts';

/** The upper bound for writes: a PUT route on the site's own server that checks the session and writes nothing. */
const app = await buildApp({
  // Only the route below is requested, so stubs suffice.
  core: {} as Core,
  cache: {} as ResponseCache,
  live: { close() {} } as Live,
  renderer: { site: {}, brand: NO_BRAND, scriptHash: '' } as PageRenderer,
  folders: { clientDir: PACKAGE_FOLDERS.client, picturesDir: PACKAGE_FOLDERS.pictures },
  log: pino({ level: 'warn' }),
  async prepare(target) {
    target.put(
      `/no-op${paths.api.upvote.route}`,
      { schema: { response: { 200: UpvoteStateSchema } } },
      async (request, reply) => {
        sessionOf(request);
        reply.header('Cache-Control', 'no-store');
        return { upvoted: true, upvotes: 1 };
      },
    );
  },
});
console.log(`Address ${await app.listen({ port: 0, host: '127.0.0.1' })}`);
process.on('SIGTERM', () => process.exit());
