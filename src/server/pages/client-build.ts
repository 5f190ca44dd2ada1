import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, ManifestChunk } from 'vite';
import type { ClientBuild } from './document.ts';

const APP = 'src/web/entry-client.tsx';
const THEME = 'src/web/theme.ts';
const ROUTES: Record<keyof ClientBuild['routePreloads'], string> = {
  home: 'src/web/routes/home/home.tsx',
  product: 'src/web/routes/product/product.tsx',
  notFound: 'src/web/routes/not-found/not-found.tsx',
};

/** Reads which hashed files the browser's build made. @throws Error where the site was not built. */
export async function readClientBuild(clientDir: string): Promise<ClientBuild> {
  const manifest: Manifest = JSON.parse(await readFile(join(clientDir, 'manifest.json'), 'utf8'));
  const app = chunkOf(manifest, APP);
  const ofApp = filesOf(manifest, APP);
  const ofRoute = (name: string) => [...filesOf(manifest, name)].filter((file) => !ofApp.has(file));
  return {
    themeScript: `/${chunkOf(manifest, THEME).file}`,
    appScript: `/${app.file}`,
    styles: (app.css ?? []).map((file) => `/${file}`),
    modulePreloads: [...ofApp].filter((file) => file !== `/${app.file}`),
    routePreloads: {
      home: ofRoute(ROUTES.home),
      product: ofRoute(ROUTES.product),
      notFound: ofRoute(ROUTES.notFound),
    },
    fonts: Object.values(manifest)
      .filter(({ file }) => file.endsWith('.woff2'))
      .map(({ file }) => `/${file}`),
  };
}

/** A chunk and all that it imports at once, as addresses. */
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
