import { defineConfig } from '@playwright/test';
import { CHROMIUM } from './tests/support/chromium.ts';

export default defineConfig({
  testDir: 'tests/e2e',
  outputDir: 'test-results',
  fullyParallel: true,
  forbidOnly: true,
  retries: 0,
  workers: 2,
  timeout: 60_000,
  expect: {
    timeout: 10_000,
    // docs/testing.md tells what the two numbers were measured to let through.
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
    screenshot: 'only-on-failure',
    launchOptions: CHROMIUM,
  },
});
