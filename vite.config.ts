import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * The browser's build: two entries, no HTML file, since the server writes the document around them
 * and finds their hashed names in the manifest.
 */
export default defineConfig({
  plugins: [react()],
  appType: 'custom',
  build: {
    outDir: 'dist/client',
    emptyOutDir: true,
    manifest: 'manifest.json',
    // Inlined assets would need `data:` in the content security policy's font-src.
    assetsInlineLimit: 0,
    rollupOptions: {
      input: { app: 'src/web/entry-client.tsx', theme: 'src/web/theme.ts' },
    },
  },
});
