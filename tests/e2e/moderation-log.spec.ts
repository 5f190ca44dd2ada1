import { hideComments, restoreComments } from '../../src/core/comments/moderate-comments.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expectAccessible } from '../support/axe.ts';
import { startE2eSite } from '../support/e2e-site.ts';
import { expect, testWith, visit } from '../support/e2e-test.ts';
import { requestsReported } from '../support/network.ts';
import { skipFeatureDelay } from '../support/offline-page.ts';
import { DESKTOP, elementsBeyondScreen, PHONE, selectVariants } from '../support/screen.ts';

const test = testWith(async () => {
  const site = await startE2eSite({ MODERATION_LOG: 'public', SAMPLE_CATALOGUE: 'off' });
  const { id } = await site.addProduct({ id: 'lantern', name: 'Quiet Lantern' });
  const comments = await site.addComments(id, [{ content: 'Cheap watches' }, { content: 'More watches' }]);
  const ids = comments.map((comment) => comment.id);
  await hideComments(site.database, ids.slice(0, 1), 'advertising');
  await restoreComments(site.database, ids.slice(0, 1));
  await hideComments(site.database, ids.slice(1), `advertising ${'for watches '.repeat(20)}`);
  await site.addProduct({ id: 'casino' });
  await removeProducts(site.database, ['casino'], 'spam');
  return site;
});

// Runs the tests in one worker, so the file starts only one site.
test.describe.configure({ mode: 'default' });

const entries = 'main li';

test('the footer of the home page links to the log, and the log links to a product', async ({ page }) => {
  await visit(page, '/');
  await page.getByRole('link', { name: 'Moderation log' }).click();
  await expect(page).toHaveURL('/?log');
  await expect(page.getByRole('heading', { level: 1, name: 'Moderation log' })).toBeVisible();
  await expect(page.locator(entries)).toHaveCount(3);
  await expect(page.locator(entries).last()).toContainText('Undone');
  await page.getByRole('link', { name: 'Quiet Lantern' }).first().click();
  await expect(page.getByRole('heading', { level: 1, name: 'Quiet Lantern' })).toBeVisible();
  await page.goBack();
  await expect(page.locator(entries)).toHaveCount(3);
});

test('the log loads no script', async ({ page }) => {
  const scripts: string[] = [];
  page.on('request', (request) => {
    if (request.resourceType() === 'script' || request.url().endsWith('.js')) scripts.push(request.url());
  });
  await page.goto('/?log');
  await expect(page.locator(entries)).toHaveCount(3);
  await requestsReported(page);
  expect(scripts).toEqual([]);
  await visit(page, '/');
  expect(scripts, 'scripts are noticed').not.toEqual([]);
});

test('the log is not stored in the offline cache, and does not replace the home page there', async ({ newVisitor }) => {
  const page = await newVisitor({ serviceWorkers: 'allow' });
  await skipFeatureDelay(page);
  await page.goto('/');
  const cachedHome = () => page.evaluate(async () => (await (await caches.match('/'))?.text()) ?? '');
  await expect.poll(cachedHome).toContain('Quiet Lantern');
  await page.goto('/?log');
  await expect(page.locator(entries)).toHaveCount(3);
  expect(await cachedHome()).toContain('id="state"');
  expect(await page.evaluate(async () => Boolean(await caches.match('/?log')))).toBe(false);
});

for (const [turn, colorScheme] of (['light', 'dark'] as const).entries()) {
  test(`in the ${colorScheme} theme, the log and a page that links to it are accessible and fit the screen`, async ({
    page,
  }) => {
    await page.emulateMedia({ colorScheme });
    for (const viewport of selectVariants([PHONE, DESKTOP], turn)) {
      await page.setViewportSize(viewport);
      for (const path of ['/?log', '/product/lantern']) {
        await page.goto(path);
        await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
        await expectAccessible(page, `${path} ${colorScheme} ${viewport.width}`);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(viewport.width);
      }
    }
  });
}

test('the German log, whose heading is one long word, fits a screen of 320 px', async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 640 });
  await page.goto('/?log&lang=de');
  await expect(page.locator(entries)).toHaveCount(3);
  expect(await elementsBeyondScreen(page)).toEqual([]);
});

test.describe('plain links', () => {
  test.use({ javaScriptEnabled: false });

  test('the log can be read without JavaScript', async ({ page }) => {
    await page.goto('/');
    await page.getByRole('link', { name: 'Moderation log' }).click();
    await expect(page.locator(entries).first()).toContainText('Product removed: casino');
    await page.getByRole('link', { name: 'Groundswell, home' }).click();
    await expect(page).toHaveURL('/');
  });
});
