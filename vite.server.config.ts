import { defineConfig } from 'vite';

/** The server's build: the operator's command, which serves the site as well, and the program that draws its cards. Packages stay in node_modules. */
export default defineConfig({
  publicDir: false,
  build: {
    ssr: true,
    outDir: 'dist/server',
    emptyOutDir: true,
    target: 'node20',
    sourcemap: true,
    rollupOptions: { input: { cli: 'src/cli/main.ts', painter: 'src/server/cards/painter-process.ts' } },
  },
});
