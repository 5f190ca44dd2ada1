import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The build of the operator's console: apart from the site's, so no visitor loads any of it and none of it is cached offline. */
export default defineConfig({
  plugins: [react()],
  publicDir: false,
  appType: 'custom',
  base: '/console/',
  build: {
    outDir: 'dist/console',
    emptyOutDir: true,
    manifest: 'manifest.json',
    modulePreload: false,
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: { input: { console: 'src/console/entry.tsx' } },
  },
});
