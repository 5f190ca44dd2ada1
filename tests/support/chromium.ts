import { join } from 'node:path';
import type { LaunchOptions } from '@playwright/test';
import { requireChromium } from '../../scripts/find-chromium.js';

const isRoot = process.getuid?.() === 0;

/** Launch options for the browser tests. */
export const CHROMIUM: LaunchOptions = {
  executablePath: requireChromium(),
  args: [
    // Chromium's sandbox does not run as root, for example in a container.
    ...(isRoot ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    // Preserves fractional text widths, as on a phone or a high-resolution screen. By default, the headless shell
    // rounds them.
    '--font-render-hinting=none',
    // Uses one renderer process for all pages, because starting one is slow compared with most tests.
    '--disable-site-isolation-trials',
    '--renderer-process-limit=1',
    // Optimizing code takes longer than it saves in pages that are open for a second.
    '--js-flags=--no-opt --no-maglev',
    // Limits `RenderDocument` to crashed frames, so a page reuses the frame of the previous page, which saves a third
    // of the load time. The other two features are Playwright's own, which this option would otherwise override.
    '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame',
  ],
};

/**
 * Launch options for screenshots. With the repository's fonts and the sRGB colour profile, pages look the same on every
 * Linux machine.
 */
export const SCREENSHOT_CHROMIUM: LaunchOptions = {
  ...CHROMIUM,
  env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') },
  args: [...(CHROMIUM.args ?? []), '--disable-lcd-text', '--force-color-profile=srgb'],
};
