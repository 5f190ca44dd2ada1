import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, ManifestChunk } from 'vite';
import type { RouteName } from '../../contract/routes.ts';

/** The resources of a document: URLs of the browser's files, and one inline script. */
export interface ClientBuild {
  /** The code of the script that is inlined into the head. */
  headScript: string;
  appScript: string;
  styles: readonly string[];
  /** Chunks that the app script imports statically. */
  modulePreloads: readonly string[];
  /** Further chunks of a route, which the app script would request only after it has started. */
  routePreloads: Partial<Record<RouteName, readonly string[]>>;
  fonts: readonly string[];
  /** The scripts with the messages of each language except English, by language code. */
  messages: Readonly<Record<string, string>>;
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

/** Reads the manifest of the client build. @throws Error if the site has not been built. */
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

/** Returns the URLs of a chunk and of all its static imports. */
function filesOf(manifest: Manifest, name: string, found = new Set<string>()): Set<string> {
  const { file, imports = [] } = chunkOf(manifest, name);
  if (found.has(`/${file}`)) return found;
  found.add(`/${file}`);
  for (const imported of imports) filesOf(manifest, imported, found);
  return found;
}

function chunkOf(manifest: Manifest, name: string): ManifestChunk {
  const chunk = manifest[name];
  if (chunk === undefined) throw new Error(`The client build has no ${name}. Run \`npm run build\`.`);
  return chunk;
}
