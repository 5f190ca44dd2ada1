import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/** The oldest browsers that pages support. The README names them. */
export const OLDEST_BROWSERS = ['chrome111', 'edge111', 'firefox114', 'ios16.4', 'safari16.4'];

const WEB = join(import.meta.dirname, 'src/web');
const CATALOGUES = join(WEB, 'language/catalogues');

/** Each language has its own entry, so a page loads only the texts of its language. */
const catalogues = Object.fromEntries(
  readdirSync(CATALOGUES).map((file) => [`language-${basename(file, '.ts')}`, join(CATALOGUES, file)]),
);

/**
 * Constants that let the bundler remove code for servers, for browsers without these features, and for development
 * tools.
 */
const COMPILE_TIME_CONSTANTS = {
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
 * The client build: two entries, and one per language. There is no HTML file, because the server generates the
 * document and finds the hashed file names in the manifest.
 */
export default defineConfig(({ command }) => ({
  plugins: [react(), importWithoutPreloading(), namedJsxImports()],
  appType: 'custom',
  // In development, the server also renders with this configuration, and there `typeof window` must be 'undefined'.
  define: command === 'build' ? COMPILE_TIME_CONSTANTS : {},
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    target: OLDEST_BROWSERS,
    manifest: 'manifest.json',
    modulePreload: false,
    // All pages share one style sheet, so no chunk needs code to load its own.
    cssCodeSplit: false,
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { app: 'src/web/entry-client.tsx', head: 'src/web/head-script.ts', ...catalogues },
      // The app imports the texts by the URL in the document, so their entries must keep their exports.
      preserveEntrySignatures: 'exports-only',
      output: {
        codeSplitting: {
          // The packages are in one file, and so is the code that all pages share: this needs fewer requests and
          // compresses better. Code that hydration does not need (standings, writes, dialogs, toasts, submissions)
          // stays in separate chunks.
          groups: [
            { name: 'packages', test: /rolldown.runtime|node_modules\/(?:react|react-dom|scheduler|@tanstack)\// },
            { name: (id, context) => (isShared(id, context) ? 'shared' : null), debugName: 'shared' },
            {
              name: 'comments',
              test: /src\/(?:web\/features\/comments\/(?:queries|drafts)|contract\/comments\/defaults)/,
            },
            // The home page uses these modules. Leaderboards and the deferred features use some of them.
            { name: 'visits', test: /src\/web\/(?:ui\/waves|features\/(?:visits\/visits|leaderboards\/use-today))/ },
            // A click loads these modules, in one request instead of two consecutive ones.
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

/** Returns whether all pages need a module, or both the product page and the home page with its articles do. */
function isShared(id: string, modules: Modules): boolean {
  const isIn = (entry: string) => importsOf(join(WEB, entry), modules).has(id);
  const isOfHome = isIn('routes/home/home.tsx') || isIn('routes/home/landscapes.tsx');
  return isIn('entry-client.tsx') || (isOfHome && isIn('routes/product/product.tsx'));
}

const importsByEntry = new Map<string, Set<string>>();

/** Returns all modules that a module imports statically, directly or indirectly. */
function importsOf(entry: string, modules: Modules): Set<string> {
  const found = importsByEntry.get(entry) ?? new Set();
  if (importsByEntry.has(entry)) return found;
  importsByEntry.set(entry, found);
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
 * Removes the code with which Vite wraps every dynamic import to preload its chunks and styles (0.5 KB of the first
 * load). This code is not needed, because there is one style sheet, and the static imports of a chunk have already been
 * loaded.
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
 * Imports the functions of React's JSX runtime by name. React is a CommonJS module, so the functions would otherwise be
 * called as properties of an object, and the code of the many calls would be longer (0.25 KB of the first load).
 */
function namedJsxImports(): Plugin {
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
