import { defineConfig } from 'vite';
import { OLDEST_BROWSERS } from './vite.config.ts';

/** The service worker's build: one file with a fixed name, because browsers look for updates at the same URL. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: 'dist/client',
    emptyOutDir: false,
    target: OLDEST_BROWSERS,
    rollupOptions: {
      input: { 'service-worker': 'src/web/service-worker/service-worker.ts' },
      output: { format: 'iife', entryFileNames: '[name].js' },
    },
  },
});
