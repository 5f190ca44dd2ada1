import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

/**
 * React Router is one module of many components that it does not mark as free of side effects, so the bundler keeps those that
 * nothing uses (forms, scroll restoration); and its exports name its development build alone, which warns developers. Where this
 * finds nothing to change, it changes nothing but the size.
 */
const pureRouter: Plugin = {
  name: 'pure-router',
  apply: 'build',
  enforce: 'pre',
  transform: {
    filter: { id: /node_modules\/react-router\/dist\// },
    handler: (code) => ({
      code: code
        .replaceAll(/^\w+\.displayName = "[^"]*";$/gm, '')
        .replaceAll(/= (?=React\d*\.forwardRef\()/g, '= /* @__PURE__ */ ')
        .replace('var ENABLE_DEV_WARNINGS = true;', 'var ENABLE_DEV_WARNINGS = false;'),
      map: null,
    }),
  },
};

/**
 * The browser's build: two entries, no HTML file, since the server writes the document around them
 * and finds their hashed names in the manifest.
 */
export default defineConfig({
  plugins: [react(), pureRouter],
  appType: 'custom',
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    manifest: 'manifest.json',
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { app: 'src/web/entry-client.tsx', theme: 'src/web/theme.ts' },
      output: {
        codeSplitting: {
          // What two screens share comes in one file instead of a small one for each set of sharers: fewer requests, and 1.5 KB
          // less, since what is compressed together is smaller. Comments are shared with late parts, and not needed at first.
          groups: [
            {
              name: 'shared',
              test: /src\/web\/(?:ui|lib|features\/(?!comments))|node_modules\/@tanstack\//,
              minShareCount: 2,
            },
          ],
        },
      },
    },
  },
});
