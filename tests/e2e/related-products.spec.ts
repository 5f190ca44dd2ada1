import { expect, test, visit, waitForHydration } from '../support/e2e-test.ts';

test('related products are on the page, and after client-side navigation, they load without a layout shift', async ({
  page,
  site,
}) => {
  await site.addProduct({ id: 'gannet', name: 'Gannet', tags: ['Plunge diving'] });
  const products = await site.addProducts(6, (index) => ({
    // Products with equal relevance are sorted by id.
    id: `diver-${index}`,
    name: `Diver ${index}`,
    tags: ['plunge diving'],
  }));
  let release = () => {};
  const isOpen = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/api/products/*/related', async (route) => {
    await isOpen;
    await route.continue();
  });
  // The server renders the page without the new products until it has read their changes.
  const count = async () => (await (await page.request.get('/api/products/gannet/related')).json()).items?.length;
  await expect.poll(count).toBe(products.length);
  await visit(page, '/product/gannet');
  const related = page.getByRole('region', { name: 'Related products' });
  await expect(related.getByRole('link')).toHaveText(products.map(({ name }) => name).sort());
  await expect(related.getByRole('listitem').first()).toContainText('plunge diving');

  const link = related.getByRole('link', { name: 'Diver 3' });
  // This part of the page hydrates when its code has loaded, which is later than the rest. Before that, a click on the
  // link requests a new document.
  await waitForHydration(link);
  await link.click();
  await expect(page.getByRole('heading', { level: 1, name: 'Diver 3' })).toBeVisible();
  await expect(related).toHaveCount(0);
  const height = async () => (await page.locator('.related').boundingBox())?.height ?? 0;
  const reserved = await height();
  release();
  await expect(related.getByRole('link', { name: 'Gannet' })).toBeVisible();
  expect(Math.abs((await height()) - reserved)).toBeLessThan(4);
});
