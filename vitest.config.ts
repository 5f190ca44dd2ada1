import react from '@vitejs/plugin-react';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SlowestFirst } from './tests/support/slowest-first.ts';

type TestOptions = NonNullable<ViteUserConfig['test']>;

const SETUP_FILES = ['tests/support/fail-on-console-error.ts', 'tests/support/property-seed.ts'];

/** Options of every project. Projects do not inherit the options of the run. */
const shared: TestOptions = {
  environment: 'node',
  setupFiles: SETUP_FILES,
  // Long enough that no test fails only because the machine is busy.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    globalSetup: ['tests/support/database-server.ts'],
    // The time budget assumes two cores. A third worker keeps them busy while tests of commands wait.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        plugins: [react()],
        test: {
          ...shared,
          name: 'site',
          include: [
            'src/{cli,contract,core,server,settings}/**/*.test.{ts,tsx}',
            'tests/{api,arch,cli,crash,support}/**/*.test.ts',
            'catalogue/*.test.ts',
          ],
          // The test files of a worker share modules, because loading the site again for each file would take longer
          // than most tests.
          isolate: false,
        },
      },
      {
        plugins: [react()],
        test: {
          ...shared,
          name: 'web',
          include: ['src/{web,console}/**/*.test.{ts,tsx}'],
          setupFiles: ['tests/support/fresh-page.ts', ...SETUP_FILES],
          isolate: false,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/{core,server,contract,settings,cli}/**/*.ts'],
      exclude: ['**/*.test.ts'],
      reporter: ['text-summary', 'json-summary', 'json', 'html'],
      reportsDirectory: 'coverage/lines',
      reportOnFailure: true,
    },
  },
});
