import react from '@vitejs/plugin-react';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SlowestFirst } from './tests/support/slowest-first.ts';

type TestOptions = NonNullable<ViteUserConfig['test']>;

/** A project inherits nothing from the options of the run, so each one states these. */
const shared: TestOptions = {
  environment: 'node',
  setupFiles: ['tests/support/fail-on-console-error.ts'],
  // Generous: a test that waits in vain still fails, and a busy machine fails none.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
};

export default defineConfig({
  test: {
    globalSetup: ['tests/support/database-server.ts'],
    // One more than the cores for which the budget is meant: tests of commands often wait.
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
          // The files of a worker share their modules: to load the site again for each file would take longer than most tests.
          isolate: false,
        },
      },
      {
        plugins: [react()],
        test: {
          ...shared,
          name: 'web',
          include: ['src/{web,console}/**/*.test.{ts,tsx}'],
          setupFiles: ['tests/support/fresh-page.ts', 'tests/support/fail-on-console-error.ts'],
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
