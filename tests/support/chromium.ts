import { join } from 'node:path';
import type { LaunchOptions } from '@playwright/test';
import { requireChromium } from '../../scripts/find-chromium.js';

const isRoot = process.getuid?.() === 0;

/** Launch options for the browser tests. */
export const CHROMIUM: LaunchOptions = {
  executablePath: requireChromium(),
  args: [
    // Chromium's sandbox does not run as root, as in a container.
    ...(isRoot ? ['--no-sandbox'] : []),
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
    // Fractional text widths, as on a phone or a high-resolution screen; only the headless shell rounds them by
    // default.
    '--font-render-hinting=none',
    // One renderer process for every page, because starting one takes longer than most tests.
    '--disable-site-isolation-trials',
    '--renderer-process-limit=1',
    // A page that replaces another keeps its frame, instead of one more layout of the page that is left and a new
    // surface: a third of a page load. The other two are those that Playwright enables, which this list replaces.
    '--enable-features=CDPScreenshotNewSurface,SkipListAccountsWithoutGaiaCookies,RenderDocument:level/crashed-frame',
  ],
};

/** The same with fonts and colours from the repository, so a page looks alike on every Linux. */
export const STILL_CHROMIUM: LaunchOptions = {
  ...CHROMIUM,
  env: { ...process.env, FONTCONFIG_FILE: join(import.meta.dirname, 'fonts.conf') },
  args: [...(CHROMIUM.args ?? []), '--disable-lcd-text', '--force-color-profile=srgb'],
};
