import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, ManifestChunk } from 'vite';
import type { ReadApi } from '../../contract/api.ts';
import { type Brand, NO_BRAND } from '../../settings/brand.ts';
import { CATALOGUES, emptyPage, render } from '../../web/entry-server.tsx';
import { inlineHash } from '../http/security-headers.ts';
import type { SiteIdentity } from '../http/site-identity.ts';
import { type ClientBuild, renderDocument } from './document.ts';
import { type SiteLanguages, type SiteLocale, siteLanguages } from './languages.ts';

/** Turns a URL into a complete document, which is the same for every visitor. */
export interface PageRenderer {
  readonly site: SiteIdentity;
  readonly brand: Brand;
  readonly languages: SiteLanguages;
  /** The digest of the inline script, for the content security policy. */
  readonly scriptHash: string;
  /**
   * Renders the page of a path, reading through `api`, so the caller can record dependencies. `today` and `renderedAt`
   * come from the site's clock.
   */
  render(
    path: string,
    api: ReadApi,
    now?: { today?: string; renderedAt?: number },
  ): Promise<{ status: number; html: string; problems: readonly Error[] }>;
  /** The app shell: a document without a page, with which browsers start offline. */
  shell(): string;
}

export interface RendererOptions {
  site: SiteIdentity;
  build: ClientBuild;
  /** The value of SITE_LOCALE. Default: English. */
  locale?: SiteLocale | undefined;
  /** If unset, the site has the brand of the specification. */
  brand?: Brand | undefined;
}

/** The renderer of a built site. */
export function createPageRenderer({ site, build, locale, brand = NO_BRAND }: RendererOptions): PageRenderer {
  const languages = siteLanguages(CATALOGUES, (code) => build.messages[code], locale);
  return {
    site,
    brand,
    languages,
    scriptHash: inlineHash(build.headScript),
    async render(path, api, { today = '', renderedAt } = {}) {
      const page = await render({ url: path, api, site: { ...site, url: site.url(), today }, renderedAt, languages });
      return { status: page.status, html: renderDocument(page, build, brand), problems: page.problems ?? [] };
    },
    shell() {
      return renderDocument(emptyPage({ site: { ...site, url: site.url(), today: '' }, languages }), build, brand);
    },
  };
}

const APP = 'src/web/entry-client.tsx';
const STYLE = 'style.css';
/** Matches the source file of a language's messages. */
const MESSAGES = /^src\/web\/language\/catalogues\/(.+)\.ts$/;
const HEAD_SCRIPT = 'src/web/head-script.ts';
const ROUTES: Record<keyof ClientBuild['routePreloads'], string> = {
  home: 'src/web/routes/home/home.tsx',
  board: 'src/web/routes/board/board.tsx',
  product: 'src/web/routes/product/product.tsx',
  notFound: 'src/web/routes/not-found/not-found.tsx',
};

/** Reads the manifest of the browser's build. @throws Error if the site has not been built. */
export async function readClientBuild(clientDir: string): Promise<ClientBuild> {
  const manifest: Manifest = JSON.parse(await readFile(join(clientDir, 'manifest.json'), 'utf8'));
  const app = chunkOf(manifest, APP);
  const ofApp = filesOf(manifest, APP);
  const ofRoute = (name: string) => [...filesOf(manifest, name)].filter((file) => !ofApp.has(file));
  return {
    headScript: (await readFile(join(clientDir, chunkOf(manifest, HEAD_SCRIPT).file), 'utf8')).trim(),
    appScript: `/${app.file}`,
    styles: [`/${chunkOf(manifest, STYLE).file}`],
    modulePreloads: [...ofApp].filter((file) => file !== `/${app.file}`),
    routePreloads: {
      home: ofRoute(ROUTES.home),
      board: ofRoute(ROUTES.board),
      product: ofRoute(ROUTES.product),
      notFound: ofRoute(ROUTES.notFound),
    },
    messages: Object.fromEntries(
      Object.entries(manifest).flatMap(([name, { file }]) => {
        const code = MESSAGES.exec(name)?.[1];
        return code === undefined ? [] : [[code, `/${file}`]];
      }),
    ),
    fonts: Object.values(manifest)
      .filter(({ file }) => file.endsWith('.woff2'))
      .map(({ file }) => `/${file}`),
  };
}

/** A chunk and all its static imports, as URLs. */
function filesOf(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  const { file, imports = [] } = chunkOf(manifest, name);
  if (found.has(`/${file}`)) return found;
  found.add(`/${file}`);
  for (const imported of imports) filesOf(manifest, imported, found);
  return found;
}

function chunkOf(manifest: Manifest, name: string): ManifestChunk {
  const chunk = manifest[name];
  if (chunk === undefined) throw new Error(`The browser's build has no ${name}: run npm run build`);
  return chunk;
}
