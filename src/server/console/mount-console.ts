import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Manifest } from 'vite';
import { CONSOLE_PATHS, CONSOLE_SCREENS } from '../../contract/console/paths.ts';
import * as paths from '../../contract/paths.ts';
import { hasOperators } from '../../core/console/operators.ts';
import type { Database, Sql } from '../../core/database/database.ts';
import { memoize } from '../../core/memoize.ts';
import { NO_STORE } from '../http/cache-control.ts';
import { pathOf } from '../http/route-table.ts';
import { securityHeaders } from '../http/security-headers.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the console handles the request. */
    isForConsole?: boolean;
  }
}

/** The console as a separate Fastify instance, and whether it is open. */
export interface OperatorConsole {
  app: FastifyInstance;
  isOpen(): Promise<boolean>;
}

const PAGES = new Set<string>([CONSOLE_PATHS.home, ...CONSOLE_SCREENS.map(CONSOLE_PATHS.screen)]);

/**
 * Passes requests for the console to its own Fastify instance, which has its own router, hooks and limits. While the
 * console is closed, such requests are handled like those for unknown URLs, so the console cannot be detected. Call
 * this before adding other `onRequest` hooks, which would also run for the console's requests.
 */
export function mountConsole(app: FastifyInstance, { app: target, isOpen }: OperatorConsole): void {
  app.decorateRequest('isForConsole', false);
  app.addHook('onRequest', async (request, reply) => {
    if (!isConsoleUrl(request.url) || !(await isOpen())) return;
    request.isForConsole = true;
    reply.hijack();
    target.routing(request.raw, reply.raw);
  });
  app.addHook('preClose', () => target.close());
}

function isConsoleUrl(url: string): boolean {
  if (!url.startsWith(CONSOLE_PATHS.home) && !url.startsWith(CONSOLE_PATHS.api)) return false;
  const path = pathOf(url);
  return PAGES.has(path) || path.startsWith(CONSOLE_PATHS.assets) || path.startsWith(`${CONSOLE_PATHS.api}/`);
}

/** Maximum time from the first invitation until the console opens. */
const CHECK_INTERVAL_MS = 1_000;

/**
 * Returns a function that checks whether the console is open. It is open if the site has an operator, even one who is
 * only invited. The function queries the database at most once a second. While the database is unavailable, it returns
 * the last result.
 */
export function createEnabledCheck(database: Database, monotonicMs: () => number): () => Promise<boolean> {
  let isOpen = false;
  const check = memoize(
    async (sql: Sql) => {
      try {
        isOpen = await hasOperators(sql);
      } catch {
        // The database module logs the outage; the first request after the interval tries again.
      }
      return isOpen;
    },
    CHECK_INTERVAL_MS,
    monotonicMs,
  );
  return () => check(database);
}

/** The hashed files that the console's page loads, as URLs. */
interface ConsoleBuild {
  script: string;
  styles: readonly string[];
  fonts: readonly string[];
  modulePreloads: readonly string[];
}

const ENTRY = 'src/console/entry.tsx';

/** The default headers of console responses, which must not be stored, framed or indexed. Assets may be stored. */
export const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  ...securityHeaders(
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      // A product's picture may have any URL.
      "img-src 'self' data: https: http:",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  ),
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'x-robots-tag': 'noindex, nofollow',
  'cache-control': NO_STORE,
};

/** Reads the names of the hashed files from the console's build. @throws Error if the site has not been built. */
export async function readConsoleBuild(consoleDir: string): Promise<ConsoleBuild> {
  const manifest: Manifest = JSON.parse(await readFile(join(consoleDir, 'manifest.json'), 'utf8'));
  const entry = manifest[ENTRY];
  if (entry === undefined) throw new Error(`The console's build has no ${ENTRY}. Run \`npm run build\`.`);
  const address = (file: string) => `${CONSOLE_PATHS.assets}${file.replace(/^assets\//, '')}`;
  return {
    script: address(entry.file),
    styles: (entry.css ?? []).map(address),
    fonts: (entry.assets ?? []).filter((file) => file.endsWith('.woff2')).map(address),
    modulePreloads: (entry.imports ?? []).flatMap((name) => manifest[name]?.file ?? []).map(address),
  };
}

/** Returns the HTML document of all screens. It has no content, because its script renders the screens. */
export function consoleDocument({ script, styles, fonts, modulePreloads }: ConsoleBuild): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#0d2030">
<meta name="robots" content="noindex, nofollow">
<title>Console</title>
<link rel="icon" href="${paths.icons.svg}" type="image/svg+xml">
${styles.map((href) => `<link rel="stylesheet" href="${href}">`).join('\n')}
${fonts.map((href) => `<link rel="preload" href="${href}" as="font" type="font/woff2" crossorigin>`).join('\n')}
${modulePreloads.map((href) => `<link rel="modulepreload" href="${href}">`).join('\n')}
<script type="module" src="${script}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The console needs JavaScript. Without it, use the groundswell command on the server.</p></noscript>
</body>
</html>
`;
}
