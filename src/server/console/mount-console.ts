import type { FastifyInstance } from 'fastify';
import { CONSOLE_PATHS, CONSOLE_SCREENS } from '../../contract/console/paths.ts';
import { hasOperators } from '../../core/console/operators.ts';
import type { Database } from '../../core/database/database.ts';

/** The console as a separate server, and whether it is open. */
export interface OperatorConsole {
  app: FastifyInstance;
  isOpen(): Promise<boolean>;
}

const PAGES = new Set<string>([CONSOLE_PATHS.home, ...CONSOLE_SCREENS.map(CONSOLE_PATHS.screen)]);

/**
 * Hands requests for the console to its own server, with its own router, hooks and bounds. While it is not open, they
 * are handled like any unknown address, so a closed console cannot be detected. Call it before adding other hooks.
 */
export function mountConsole(app: FastifyInstance, { app: target, isOpen }: OperatorConsole): void {
  app.addHook('onRequest', async (request, reply) => {
    if (!isOfConsole(request.url) || !(await isOpen())) return;
    reply.hijack();
    target.routing(request.raw, reply.raw);
  });
  app.addHook('preClose', () => target.close());
}

function isOfConsole(url: string): boolean {
  if (!url.startsWith('/console') && !url.startsWith(CONSOLE_PATHS.api)) return false;
  const path = url.split('?', 1)[0] ?? '/';
  return PAGES.has(path) || path.startsWith(CONSOLE_PATHS.assets) || path.startsWith(`${CONSOLE_PATHS.api}/`);
}

/** How long after the first invitation the console opens at the latest. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Whether the site has a console: an operator was invited. Queries the database at most once a second, and only for
 * requests to the console's addresses. While the database is unavailable, the last result counts.
 */
export function createOpenCheck(database: Database, monotonicMs: () => number): () => Promise<boolean> {
  let isOpen = false;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let checking: Promise<boolean> | undefined;

  async function check(): Promise<boolean> {
    checkedAt = monotonicMs();
    try {
      isOpen = await hasOperators(database);
    } catch {
      // The database module logs its outage; the first request after the interval tries again.
    } finally {
      checking = undefined;
    }
    return isOpen;
  }

  return async () => {
    if (checking) return checking;
    if (monotonicMs() - checkedAt < CHECK_INTERVAL_MS) return isOpen;
    checking = check();
    return checking;
  };
}
