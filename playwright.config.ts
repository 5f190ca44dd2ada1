import { defineConfig } from '@playwright/test';
import { CHROMIUM } from './tests/support/chromium.ts';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  // The time budget assumes two cores. A third worker keeps them busy while tests of live updates wait.
  workers: 3,
  // Long enough that no test fails only because the machine is busy.
  timeout: 180_000,
  expect: {
    timeout: 60_000,
    // Strict: at most 0.03 % of the pixels may differ (docs/testing.md).
    toHaveScreenshot: {
      pathTemplate: '{testDir}/snapshots/{arg}{ext}',
      threshold: 0.01,
      maxDiffPixelRatio: 0.0003,
    },
  },
  reporter: process.env.CI ? [['line']] : [['list']],
  use: {
    locale: 'en-GB',
    timezoneId: 'UTC',
    // Animations would increase the CPU time by a tenth.
    contextOptions: { reducedMotion: 'reduce' },
    screenshot: 'only-on-failure',
    launchOptions: CHROMIUM,
  },
});
