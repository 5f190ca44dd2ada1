import { expect, test, visit } from '../support/e2e-test.ts';

/** Widths of a phone and a desktop screen, in pixels. */
const WIDTHS = [390, 1280];

for (const width of WIDTHS) {
  test(`the API reference shows every operation, fits ${width} px and loads nothing from other sites`, async ({
    page,
    site,
  }) => {
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${site.address}/`) && !request.url().startsWith('data:'))
        elsewhere.push(request.url());
    });
    await page.setViewportSize({ width, height: 900 });
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
    const { scrollWidth } = await page.evaluate(() => ({ scrollWidth: document.documentElement.scrollWidth }));
    expect(scrollWidth).toBeLessThanOrEqual(width);
    expect(elsewhere).toEqual([]);
  });
}

test('the API reference can send a request, under the same content policy as every other page', async ({
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

test('the home page loads no file of the API reference', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await visit(page, '/');
  expect(asked.length).toBeGreaterThan(3);
  expect(asked.filter((path) => path.startsWith('/api/docs') || path.includes('swagger'))).toEqual([]);
});
