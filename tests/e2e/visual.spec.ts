import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { SCREENSHOT_CHROMIUM } from '../support/chromium.ts';
import { startE2eSite } from '../support/e2e-site.ts';
import { expect, testWith, visit } from '../support/e2e-test.ts';
import { waitForAssets } from '../support/page-assets.ts';
import { searchBox, toast, upvoteOf } from '../support/screen.ts';
import { addScreenshotProducts, SCREENSHOT_DAY } from '../support/screenshot-products.ts';

/** The test function for a site with fixed content, whose pages look the same in every run and on every machine. */
const test = testWith(async () => {
  const site = await startE2eSite({ SAMPLE_CATALOGUE: 'off', SITE_URL: 'https://groundswell.example' });
  await addScreenshotProducts(site);
  return site;
});

test.use({ launchOptions: SCREENSHOT_CHROMIUM });
// Other systems render text differently.
test.skip(process.platform !== 'linux', 'the screenshots were taken on Linux');

// Runs the tests in one worker, so all twelve screens share one site and one browser.
test.describe.configure({ mode: 'default' });

const PHONE = { width: 390, height: 780 };
const DESKTOP = { width: 1280, height: 720 };

interface Screen {
  name: string;
  size: { width: number; height: number };
  media?: Parameters<Page['emulateMedia']>[0];
  open(page: Page): Promise<unknown>;
}

const home = (page: Page) => visit(page, '/');
const product = (page: Page) => visit(page, '/product/still-7');

const board = (page: Page) => visit(page, paths.board(SCREENSHOT_DAY));

const SCREENS: Screen[] = [
  { name: 'home', size: DESKTOP, open: home },
  { name: 'home-dark', size: DESKTOP, media: { colorScheme: 'dark' }, open: home },
  { name: 'home-phone', size: PHONE, open: home },
  { name: 'home-forced-colours', size: DESKTOP, media: { forcedColors: 'active' }, open: home },
  {
    name: 'nothing-found-phone-dark',
    size: PHONE,
    media: { colorScheme: 'dark' },
    async open(page) {
      await home(page);
      await searchBox(page).fill('sea monster');
      await expect(page.getByText(/^Nothing on the horizon/)).toBeVisible();
    },
  },
  { name: 'board', size: DESKTOP, open: board },
  { name: 'board-phone-dark', size: PHONE, media: { colorScheme: 'dark' }, open: board },
  { name: 'product', size: DESKTOP, open: product },
  { name: 'product-phone-dark', size: PHONE, media: { colorScheme: 'dark' }, open: product },
  {
    name: 'discussion',
    size: DESKTOP,
    async open(page) {
      await product(page);
      await page.getByRole('heading', { name: 'Discussion (2)' }).evaluate((heading) => heading.scrollIntoView());
    },
  },
  {
    name: 'share-phone',
    size: PHONE,
    async open(page) {
      await product(page);
      await page.getByRole('button', { name: 'Share', exact: true }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  // Must be the last screen, because its upvote remains on the site.
  {
    name: 'upvoted-tablet',
    size: { width: 768, height: 720 },
    async open(page) {
      await visit(page, '/?q=octopus');
      await upvoteOf(page, 'Octopus').click();
      // A toast under the pointer does not time out.
      await toast(page).hover();
    },
  },
];

test.describe('twelve screens match their screenshots', () => {
  for (const { name, size, media, open } of SCREENS) {
    test(name, async ({ page }) => {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce', ...media });
      await open(page);
      await waitForAssets(page);
      // Replaces the ages, because the age of a fixed day increases over time.
      await page.evaluate(() => {
        for (const age of document.querySelectorAll('.product-card .time-ago')) age.textContent = '2 days ago';
      });
      await expect(page).toHaveScreenshot(`${name}.png`);
    });
  }
});
