import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [react()],
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'tests/{api,arch,cli,crash}/**/*.test.ts', 'catalogue/*.test.ts'],
    environment: 'node',
    globalSetup: ['tests/support/database-server.ts'],
    setupFiles: ['tests/support/fail-on-console-error.ts'],
    maxWorkers: 2,
    // Generous: a test that waits for something that never comes fails all the same, and a busy machine fails none.
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Of itself, it would wait for one second.
    expect: { poll: { timeout: 30_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/{core,server,contract,settings,cli}/**/*.ts'],
      exclude: ['**/*.{test,fixture}.ts'],
      reporter: ['text-summary', 'json-summary', 'json', 'html'],
      reportsDirectory: 'coverage/lines',
      // What ran has been seen, whatever it found.
      reportOnFailure: true,
    },
  },
});
