import { readdirSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const CATALOGUES = 'src/web/language/catalogues';

/** The texts of each language are a file of their own, which only documents in this language name. */
const catalogues = Object.fromEntries(
  readdirSync(CATALOGUES).map((file) => [`language-${basename(file, '.ts')}`, `${CATALOGUES}/${file}`]),
);

/** Constants that remove code for servers, for browsers without these features, and for development tools from React and the app. */
const KNOWN = {
  'typeof window': '"object"',
  'typeof document': '"object"',
  'typeof performance': '"object"',
  ...Object.fromEntries(
    [
      'AbortController',
      'MessageChannel',
      'Promise',
      'WeakSet',
      'clearTimeout',
      'queueMicrotask',
      'reportError',
      'setTimeout',
    ].map((name) => [`typeof ${name}`, '"function"']),
  ),
  'typeof setImmediate': '"undefined"',
  'typeof __REACT_DEVTOOLS_GLOBAL_HOOK__': '"undefined"',
};

/**
 * The browser's build: two entries and the languages, no HTML file, since the server writes the document around them
 * and finds their hashed names in the manifest.
 */
export default defineConfig(({ command }) => ({
  plugins: [react(), importWithoutPreloading(), jsxWithNames()],
  appType: 'custom',
  // Development renders on the server with this configuration, too.
  define: command === 'build' ? KNOWN : {},
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    manifest: 'manifest.json',
    modulePreload: false,
    // There is one style sheet: no chunk waits for it, or says so.
    cssCodeSplit: false,
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { app: 'src/web/entry-client.tsx', head: 'src/web/head-script.ts', ...catalogues },
      // The app imports the texts by the address that the document names.
      preserveEntrySignatures: 'exports-only',
      output: {
        codeSplitting: {
          // One file for the packages and one for what all pages share: fewer requests, and what is compressed together is
          // smaller. Code that hydration does not need (standings, writes, dialogs, toasts, submissions) stays in chunks of its own.
          groups: [
            { name: 'packages', test: /rolldown.runtime|node_modules\/(?:react|react-dom|scheduler|@tanstack)\// },
            { name: (id, context) => (isShared(id, context) ? 'shared' : null), debugName: 'shared' },
            {
              name: 'comments',
              test: /src\/(?:web\/features\/comments\/(?:queries|drafts)|contract\/comments\/defaults)/,
            },
            // Home and boards have the waves, home and the deferred features the visits.
            { name: 'visits', test: /src\/web\/(?:ui\/waves|features\/visits\/visits)/ },
            // A click loads it: one request, not two in a row.
            { name: 'writes', test: /src\/web\/(?:storage\/outbox|features\/upvotes\/set-)/ },
          ],
        },
      },
    },
  },
}));

interface Modules {
  getModuleInfo(id: string): { importedIds: readonly string[] } | null;
}

/** Whether the app needs a module on every page, or both the product page and the home page with its sidebar. */
function isShared(id: string, modules: Modules): boolean {
  const isIn = (entry: string) => importsOf(resolve('src/web', entry), modules).has(id);
  const isOfHome = isIn('routes/home/home.tsx') || isIn('routes/home/landscapes.tsx');
  return isIn('entry-client.tsx') || (isOfHome && isIn('routes/product/product.tsx'));
}

const known = new Map<string, Set<string>>();

/** What a module imports at once, directly or not. */
function importsOf(entry: string, modules: Modules): Set<string> {
  const found = known.get(entry) ?? new Set();
  if (known.has(entry)) return found;
  known.set(entry, found);
  const visit = (id: string): void => {
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) {
      if (found.has(imported)) continue;
      found.add(imported);
      visit(imported);
    }
  };
  visit(entry);
  return found;
}

/**
 * Vite wraps every dynamic import in code that preloads its chunks and styles (0.5 KB of the first load). There is one style sheet,
 * and what a chunk imports is loaded by then, so a plain import does the same.
 */
function importWithoutPreloading(): Plugin {
  const id = '\0vite/preload-helper.js';
  return {
    name: 'import-without-preloading',
    enforce: 'pre',
    load: {
      filter: { id: /preload-helper\.js$/ },
      handler: (module) => (module === id ? 'export const __vitePreload = (load) => load();' : undefined),
    },
  };
}

/**
 * React is CommonJS, whose functions are called as properties of an object. With names of their own, the many calls that JSX
 * becomes are shorter (0.25 KB of the first load).
 */
function jsxWithNames(): Plugin {
  return {
    name: 'jsx-with-names',
    apply: 'build',
    enforce: 'pre',
    resolveId: {
      filter: { id: /^react\/jsx-runtime$/ },
      async handler(source, importer, { ssr }) {
        const file = ssr ? null : await this.resolve(source, importer, { skipSelf: true });
        return file && `${file.id}?names`;
      },
    },
    load: {
      filter: { id: /jsx-runtime\.js\?names$/ },
      handler: (id) =>
        `import runtime from '${id.replace('?names', '')}'; export const { Fragment, jsx, jsxs } = runtime;`,
    },
  };
}
