import type { FastifyInstance } from 'fastify';
import { createServer, type ViteDevServer } from 'vite';
import { CONSOLE_PATHS } from '../contract/console/paths.ts';
import { NO_BRAND } from '../settings/brand.ts';
import { createLog } from '../settings/logging.ts';
import { PACKAGE_ROOT } from '../settings/package-root.ts';
import { readSettings } from '../settings/settings.ts';
import { consoleDocument } from './console/mount-console.ts';
import { renderDocument } from './pages/document.ts';
import { siteLanguages } from './pages/languages.ts';
import type { PageRenderer } from './pages/pages.ts';
import { serve } from './serve.ts';
import type { RendererFactory } from './site-process.ts';

/** The URLs of the browser's files, which the development server serves unbundled. */
const SOURCES = {
  appScript: '/src/web/entry-client.tsx',
  styles: ['/src/web/styles.css'],
  modulePreloads: [],
  routePreloads: {},
  fonts: [],
  messages: {},
};

const CONSOLE_SOURCES = { script: '/src/console/entry.tsx', styles: [], modulePreloads: [], fonts: [] };

type EntryServer = typeof import('../web/entry-server.tsx');

// Starts a site that renders pages and serves browser code from the source files. Changed files are reloaded.
const settings = readSettings(process.env);
const log = createLog(settings.logLevel, process.stdout);
const vite = await createServer({ root: PACKAGE_ROOT, server: { middlewareMode: true } });
const site = await serve(settings, log, {
  createRenderer: (options) => devRenderer(vite, options),
  prepare: (app) => serveSources(vite, app),
  cacheEnabled: false,
  readConsole: async () => ({
    document: () => vite.transformIndexHtml(CONSOLE_PATHS.home, consoleDocument(CONSOLE_SOURCES)),
    consoleDir: undefined,
  }),
});
log.info(`The development site is running at ${site.address}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await vite.close();
    await site.close();
    process.exit(0);
  });
}

async function devRenderer(
  vite: ViteDevServer,
  { site, locale, brand = NO_BRAND }: Parameters<RendererFactory>[0],
): Promise<PageRenderer> {
  const entry = (await vite.ssrLoadModule('/src/web/entry-server.tsx')) as EntryServer;
  const scriptOf = (code: string) => `/src/web/language/catalogues/${code}.ts`;
  const languages = siteLanguages(entry.CATALOGUES, scriptOf, locale);
  return {
    site,
    brand,
    languages,
    // The development server sends no content security policy that needs the hash.
    scriptHash: '',
    // Only the built site can be read offline.
    shell: () => '',
    async render(path, api, { today = '', renderedAt } = {}) {
      const { render } = (await vite.ssrLoadModule('/src/web/entry-server.tsx')) as EntryServer;
      const page = await render({ url: path, api, site: { ...site, url: site.url(), today }, renderedAt, languages });
      const headScript = (await vite.transformRequest('/src/web/head-script.ts'))?.code ?? '';
      const html = await vite.transformIndexHtml(path, renderDocument(page, { ...SOURCES, headScript }, brand));
      return { status: page.status, html, problems: page.problems ?? [] };
    },
  };
}

async function serveSources(vite: ViteDevServer, app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request, reply) => {
    // The content security policy would block Vite's client, which uses an inline script and a WebSocket.
    reply.removeHeader('Content-Security-Policy');
    const isHandled = await new Promise<boolean>((resolve) => {
      reply.raw.once('finish', () => resolve(true));
      vite.middlewares(request.raw, reply.raw, () => resolve(false));
    });
    if (isHandled) reply.hijack();
  });
}
