import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { OLDEST_BROWSERS } from './vite.config.ts';

/**
 * The build of the operators' console. It is separate, so visitors load none of it and the service worker does not
 * cache it.
 */
export default defineConfig({
  plugins: [react()],
  publicDir: false,
  appType: 'custom',
  base: '/console/',
  build: {
    outDir: 'dist/console',
    emptyOutDir: true,
    target: OLDEST_BROWSERS,
    manifest: 'manifest.json',
    modulePreload: false,
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: { input: { console: 'src/console/entry.tsx' } },
  },
});
