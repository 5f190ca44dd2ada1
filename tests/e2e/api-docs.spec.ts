import { expectAccessible } from '../support/axe.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { requestsReported } from '../support/network.ts';
import { visitFully } from '../support/offline-page.ts';
import { selectVariants } from '../support/screen.ts';

/** Widths of a phone and a desktop screen, in pixels. */
const WIDTHS = [390, 1280];

/** The background colours in tokens.css. */
const BACKGROUNDS = { light: 'rgb(247, 249, 248)', dark: 'rgb(7, 21, 33)' };

test('the API reference shows every operation, fits a phone and a desktop and loads nothing from other sites', async ({
  page,
  site,
}) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('/api/docs');
  await expect(page.getByRole('heading', { name: /Groundswell API/ })).toBeVisible();
  const document = await (await page.request.get('/api/openapi.json')).json();
  const operations = Object.values(document.paths).flatMap((methods) => Object.keys(methods as object));
  await expect(page.locator('.opblock')).toHaveCount(operations.length);

  await page
    .getByRole('button', { name: /List and search products/ })
    .first()
    .click();
  await expect(page.getByRole('button', { name: 'Try it out' })).toBeVisible();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    const { scrollWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth }));
    expect(scrollWidth).toBeLessThanOrEqual(width);
  }
  await requestsReported(page);
  const isOwn = (url: string) => url.startsWith(`${site.address}/`);
  expect(asked.filter(isOwn).length).toBeGreaterThan(3);
  expect(asked.filter((url) => !isOwn(url) && !url.startsWith('data:'))).toEqual([]);
});

for (const [turn, width] of WIDTHS.entries()) {
  for (const colorScheme of selectVariants(['light', 'dark'] as const, turn)) {
    test(`before and after a request, the API reference has no accessibility violations at ${width} px in the ${colorScheme} theme`, async ({
      page,
    }) => {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 900 });
      await page.goto('/api/docs');
      await expect(page.getByRole('heading', { name: /Groundswell API/ })).toBeVisible();
      await expect(page.locator('body')).toHaveCSS('background-color', BACKGROUNDS[colorScheme]);
      await expectAccessible(page, 'closed');
      await page
        .getByRole('button', { name: /List and search products/ })
        .first()
        .click();
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByRole('button', { name: 'Execute' }).click();
      await expect(page.locator('.live-responses-table')).toContainText('"items": []');
      await expectAccessible(page, 'with a response');
    });
  }
}

test('a product page links to the API reference, which uses the chosen theme and links back to the site', async ({
  page,
}) => {
  await page.emulateMedia({ colorScheme: 'light' });
  // On the home page, scrolling to the footer loads more products, which may move the link before the click.
  await visit(page, '/product/git');
  await page.getByRole('button', { name: 'Dark theme' }).click();
  await page.getByRole('navigation', { name: 'More of this site' }).getByRole('link', { name: 'API' }).click();
  await expect(page).toHaveURL('/api/docs');
  await expect(page.locator('body')).toHaveCSS('background-color', BACKGROUNDS.dark);
  await page.getByRole('banner').getByRole('link', { name: 'Groundswell' }).click();
  await expect(page.getByRole('heading', { level: 1, name: /^Welcome/ })).toBeVisible();
});

test('the API reference can send a request under the same content security policy as the home page', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ name: 'Tried from the reference' });
  const response = await page.goto('/api/docs');
  const home = await page.request.get('/');
  expect(response?.headers()['content-security-policy']).toBe(home.headers()['content-security-policy']);

  await page
    .getByRole('button', { name: /Get a product/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByPlaceholder('id', { exact: true }).fill(id);
  await page.getByRole('button', { name: 'Execute' }).click();
  await expect(page.locator('.live-responses-table')).toContainText('Tried from the reference');
});

test('the home page loads no files of the API reference', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await visitFully(page, '/');
  await requestsReported(page);
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.filter((path) => path.startsWith('/api/docs') || path.includes('swagger'))).toEqual([]);
});
