import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import { readAccent } from '../../src/settings/accent.ts';
import { PACKAGE_ROOT } from '../../src/settings/package-root.ts';
import { expectAccessible } from '../support/axe.ts';
import { startDocumentProxy } from '../support/document-proxy.ts';
import { startE2eSite } from '../support/e2e-site.ts';
import { expect, testWith, visit } from '../support/e2e-test.ts';
import { goOffline } from '../support/network.ts';
import { skipFeatureDelay } from '../support/offline-page.ts';
import { upvoteOf } from '../support/screen.ts';

/** The lightest grey that the site accepts as an accent colour, which has the lowest contrast. */
const ACCENT = '#767676';
const TAGLINE = 'New tools for teachers, every morning';

const test = testWith(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-brand-'));
  const logo = join(folder, 'logo');
  const mark = '<rect width="32" height="32" rx="8" fill="#0b6e4f"/><circle cx="16" cy="16" r="7" fill="#fff"/>';
  await writeFile(logo, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${mark}</svg>`);
  const site = await startE2eSite({
    SAMPLE_CATALOGUE: 'off',
    SITE_NAME: 'Launchpad',
    SITE_TAGLINE: TAGLINE,
    SITE_LOGO: logo,
    SITE_ACCENT: ACCENT,
    SITE_ARTICLES: join(PACKAGE_ROOT, 'examples/articles.json'),
  });
  await site.addProduct({ id: 'lantern', name: 'Quiet Lantern', tags: ['light'] });
  const stop = async () => {
    await site.stop();
    await rm(folder, { recursive: true });
  };
  return { ...site, stop };
});

// Runs the tests in one worker, so the file starts only one site.
test.describe.configure({ mode: 'default' });

const logoOf = (page: Page) => page.getByRole('banner').locator('img');
const isLoaded = (image: HTMLImageElement) => image.complete && image.naturalWidth > 0;
const rgb = (colour: string) =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16)).join(', ')})`;

for (const theme of ['light', 'dark'] as const) {
  test(`in the ${theme} theme, three pages show the brand and have no accessibility violations`, async ({ page }) => {
    const { sun, onSun } = readAccent(ACCENT)[theme];
    await page.emulateMedia({ colorScheme: theme });
    for (const path of ['/', '/product/lantern', '/?q=lantern']) {
      await visit(page, path);
      await expect.poll(() => logoOf(page).evaluate(isLoaded)).toBe(true);
      await expect(page.getByText(TAGLINE)).toBeVisible();
      await expectAccessible(page, `${path}, ${theme}`);
    }
    await visit(page, '/');
    await expect(page.getByRole('complementary').getByRole('heading', { level: 3 })).toHaveText([
      'What a pilot in one classroom taught us',
      'Choosing tools that respect pupils',
      'Feedback that makers can use',
    ]);
    await upvoteOf(page, 'Quiet Lantern').click();
    await expect(upvoteOf(page, 'Quiet Lantern')).toHaveCSS('background-color', rgb(sun));
    await expect(upvoteOf(page, 'Quiet Lantern')).toHaveCSS('color', rgb(onSun));
    await expectAccessible(page, `voted, ${theme}`);
    await upvoteOf(page, 'Quiet Lantern').click();
    await expect(upvoteOf(page, 'Quiet Lantern')).toHaveAttribute('aria-pressed', 'false');
  });
}

test('‘Back to products’ leads from a product to a list with the operator’s tagline and articles', async ({ page }) => {
  await visit(page, '/product/lantern');
  await page.getByRole('link', { name: 'Back to products' }).click();
  await expect(page.getByRole('heading', { name: 'Choosing tools that respect pupils' })).toBeVisible();
  await expect(page.locator('meta[name="description"]')).toHaveAttribute('content', TAGLINE);
});

test('the logo is shown offline', async ({ newVisitor, expectConsoleError }) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  const page = await newVisitor({ serviceWorkers: 'allow' });
  await skipFeatureDelay(page);
  await visit(page, '/');
  const address = (await logoOf(page).getAttribute('src')) ?? '';
  await expect
    .poll(() =>
      page.evaluate(async (logo) => Boolean((await caches.match(logo)) && (await caches.match('/'))), address),
    )
    .toBe(true);
  await goOffline(page);
  const refused = page.waitForEvent('console', (message) => message.type() === 'error');
  await page.reload();
  await expect(page.getByText('You are offline')).toBeVisible();
  await expect.poll(() => logoOf(page).evaluate(isLoaded)).toBe(true);
  await refused;
});

test('after the brand has changed, pages that are not cached have the new brand offline', async ({
  newVisitor,
  site,
  sharedSite,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  const former = await sharedSite(startE2eSite);
  const proxy = await startDocumentProxy(former.address);
  const page = await newVisitor({ serviceWorkers: 'allow' });
  await skipFeatureDelay(page);
  const shell = () => page.evaluate(async () => (await caches.match('/offline-shell'))?.text());
  await page.goto(proxy.address);
  await expect.poll(shell).toContain('"name":"Groundswell"');

  // As during a rolling restart, a process with the former brand responds to the new service worker's request.
  proxy.setTarget(site.address, former.address);
  await page.goto(proxy.address);
  await expect.poll(proxy.shellsRefused).toBeGreaterThan(0);
  expect(await shell()).toContain('"name":"Groundswell"');

  proxy.setTarget(site.address);
  await page.goto(proxy.address);
  await expect.poll(shell).toContain('"name":"Launchpad"');
  const address = (await logoOf(page).getAttribute('src')) ?? '';
  await expect.poll(() => page.evaluate(async (logo) => Boolean(await caches.match(logo)), address)).toBe(true);
  await goOffline(page);
  const refused = page.waitForEvent('console', (message) => message.type() === 'error');
  await page.goto(`${proxy.address}/product/lantern`);
  await expect(page.getByRole('banner').getByText('Launchpad')).toBeVisible();
  await expect.poll(() => logoOf(page).evaluate(isLoaded)).toBe(true);
  await refused;
  await page.close();
  await proxy.stop();
});
