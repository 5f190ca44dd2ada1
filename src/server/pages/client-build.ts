import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, ManifestChunk } from 'vite';
import type { ClientBuild } from './document.ts';

const APP = 'src/web/entry-client.tsx';
const THEME = 'src/web/theme.ts';

/** Reads which hashed files the browser's build made. @throws Error where the site was not built. */
export async function readClientBuild(clientDir: string): Promise<ClientBuild> {
  const manifest: Manifest = JSON.parse(await readFile(join(clientDir, 'manifest.json'), 'utf8'));
  const app = chunkOf(manifest, APP);
  return {
    themeScript: `/${chunkOf(manifest, THEME).file}`,
    appScript: `/${app.file}`,
    styles: (app.css ?? []).map((file) => `/${file}`),
    modulePreloads: (app.imports ?? []).map((name) => `/${chunkOf(manifest, name).file}`),
    fonts: Object.values(manifest)
      .filter(({ file }) => file.endsWith('.woff2'))
      .map(({ file }) => `/${file}`),
  };
}

function chunkOf(manifest: Manifest, name: string): ManifestChunk {
  const chunk = manifest[name];
  if (chunk === undefined) throw new Error(`The browser's build has no ${name}: run npm run build`);
  return chunk;
}
