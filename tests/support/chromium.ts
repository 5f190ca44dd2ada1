import { join } from 'node:path';
import type { LaunchOptions } from '@playwright/test';
import { requireChromium } from '../../scripts/find-chromium.js';

const isRoot = process.getuid?.() === 0;

/** How the browser of the tests is started. */
export const CHROMIUM: LaunchOptions = {
  executablePath: requireChromium(),
  args: [
    // Chromium's own sandbox refuses to run for root, as in a container.
    ...(isRoot ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
  ],
};

/** The same with letters and colours that are the repository's own, so that a page looks alike on every Linux. */
export const STILL_CHROMIUM: LaunchOptions = {
  ...CHROMIUM,
  env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') },
  args: [...(CHROMIUM.args ?? []), '--disable-lcd-text', '--force-color-profile=srgb'],
};
