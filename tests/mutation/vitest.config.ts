import { defineConfig } from 'vitest/config';
import { PARTS } from './parts.ts';

/** The project's configuration for the tests of one part (`MUTATED_PART`), without React. */
export default defineConfig({
  test: {
    include: [...(PARTS[process.env.MUTATED_PART ?? '']?.tests ?? [])],
    environment: 'node',
    globalSetup: ['tests/support/database-server.ts'],
    setupFiles: ['tests/support/fail-on-console-error.ts', 'tests/support/property-seed.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 10_000 } },
  },
});
