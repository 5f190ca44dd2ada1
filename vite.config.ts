import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const CATALOGUES = 'src/web/language/catalogues';

/** The texts of each language are a file of their own, which only documents in this language name. */
const catalogues = Object.fromEntries(
  readdirSync(CATALOGUES).map((file) => [`language-${basename(file, '.ts')}`, `${CATALOGUES}/${file}`]),
);

/**
 * The browser's build: two entries and the languages, no HTML file, since the server writes the document around them
 * and finds their hashed names in the manifest.
 */
export default defineConfig(({ command }) => ({
  plugins: [react(), importWithoutPreloading()],
  appType: 'custom',
  // What only the server renders is left out. Development renders on the server with this configuration, too.
  define: command === 'build' ? { 'typeof window': '"object"' } : {},
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
          // One file for the packages and one for what the screens share: fewer requests, and what is compressed together is
          // smaller. Code that hydration does not need (comments, standings, writes, dialogs, toasts, submissions) stays in chunks
          // of its own.
          groups: [
            { name: 'packages', test: /rolldown.runtime|node_modules\/(?:react|react-dom|scheduler|@tanstack)\// },
            {
              name: 'shared',
              test: /src\/web\/(?:ui\/(?!modal|toast-list)|api|cache|language\/(?!catalogues|words)|routing|storage\/(?!maker-keys|outbox)|routes\/home\/head|features\/(?!comments|leaderboards|visits|sharing\/copy-field|upvotes\/set-))/,
              minShareCount: 2,
            },
            // A click loads it: one request, not two in a row.
            { name: 'writes', test: /src\/web\/(?:storage\/outbox|features\/upvotes\/set-)/ },
          ],
        },
      },
    },
  },
}));

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
