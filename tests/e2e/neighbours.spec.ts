import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses } from '../support/network.ts';
import { cardNames } from '../support/screen.ts';

test('Previous and Next follow the order of the list that the visitor came from', async ({ page, site }) => {
  const [first, second] = await site.addProducts(3, (index) => ({ name: `Turnstone ${index}` }));
  await site.addUpvotes(first?.id ?? '', 2);
  await site.addUpvotes(second?.id ?? '', 1);
  await visit(page, '/?q=turnstone&sort=top');
  await page.getByRole('link', { name: 'Turnstone 0', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 0' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Previous', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 2' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Next', exact: true })).toBeDisabled();
});

test('Next leads to the end of a list in which a product moved to a later page', async ({ page, site }) => {
  const [last, , moved] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Redshank ${index}` }));
  await page.route(/\/api\/products\?.*cursor=/, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    await route.fulfill({ response, json: { ...json, items: [moved, ...json.items] } });
  });
  await visit(page, '/?q=redshank');
  await page.getByRole('link', { name: 'Redshank 1', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Redshank 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page).toHaveURL(`/product/${last?.id}`);
  await expect(page.getByRole('button', { name: 'Next', exact: true })).toBeDisabled();
});

test.describe('Previous and Next', () => {
  const previous = (page: Page) => page.getByRole('button', { name: 'Previous', exact: true });
  const next = (page: Page) => page.getByRole('button', { name: 'Next', exact: true });
  /** Opens the first product with this name without scrolling, which could load the next page of the list. */
  async function open(page: Page, name: string): Promise<void> {
    await page.getByRole('link', { name, exact: true }).first().dispatchEvent('click');
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  }

  const listed = async (page: Page, query: string) =>
    (await page.request.get(`/api/products?limit=${LIMITS.listedProducts}${query}`)).json();

  for (const [list, name, query] of [
    ['the default list', 'Smew', ''],
    ['a search', 'Scoter', '&q=scoter'],
  ] as const) {
    test(`Previous is enabled on the first product of a later page of ${list}`, async ({ page, site }) => {
      await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `${name} ${index}` }));
      await expect.poll(async () => (await listed(page, `&q=${name}`)).items.at(-1)?.name).toBe(`${name} 1`);
      const { items, nextCursor } = await listed(page, query);
      await visit(page, `/?cursor=${encodeURIComponent(nextCursor)}${query}`);
      await open(page, await cardNames(page).first().innerText());
      await previous(page).click();
      await expect(page).toHaveURL(`/product/${items.at(-1).id}`);
    });
  }

  test('Previous is disabled on the first product of a later page of a sorted list', async ({ page, site }) => {
    await site.addProducts(LIMITS.listedProducts + 2, (index) => ({ name: `Goosander ${index}` }));
    const query = '&q=goosander&sort=top';
    await expect.poll(async () => (await listed(page, query)).nextCursor).not.toBeNull();
    const { nextCursor } = await listed(page, query);
    await visit(page, `/?cursor=${encodeURIComponent(nextCursor)}${query}`);
    const name = await cardNames(page).first().innerText();
    await open(page, name);
    await next(page).click();
    await previous(page).click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await expect(previous(page)).toBeDisabled();
  });

  test('Previous leads to a newer product from a list whose URL has only unknown parameters', async ({
    page,
    site,
  }) => {
    await visit(page, '/?utm_source=mail');
    const name = await cardNames(page).first().innerText();
    const newer = await site.addProduct({ name: 'Gadwall', createdAt: new Date().toISOString() });
    const { id } = (await listed(page, '')).items.find((product: Product) => product.name === name);
    const detail = async () => (await page.request.get(`/api/products/${id}`)).json();
    await expect.poll(async () => (await detail()).previousId).toBe(newer.id);
    await open(page, name);
    await previous(page).click();
    await expect(page).toHaveURL(`/product/${newer.id}`);
  });

  test('Previous and Next follow the list, and the button stays, while no product can be loaded', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/503|Failed to fetch products/);
    await visit(page, '/');
    const [first = '', second = ''] = await cardNames(page).allInnerTexts();
    await failResponses(page, /\/api\/products\/[^/?]+$/);
    await open(page, first);
    const pressed = await next(page).elementHandle();
    await next(page).click();
    await expect(page.getByRole('heading', { level: 1, name: second, exact: true })).toBeVisible();
    expect(await pressed?.evaluate((button) => button.isConnected)).toBe(true);
    await previous(page).click();
    await expect(page.getByRole('heading', { level: 1, name: first, exact: true })).toBeVisible();
  });

  test('Next loads further pages of a search until one has a product', async ({ page, site }) => {
    const [last] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Garganey ${index}` }));
    let body: unknown;
    await page.route(/\/api\/products\?.*cursor=/, async (route) => {
      if (route.request().url().includes('cursor=later')) return route.fulfill({ json: body });
      body = await (await route.fetch()).json();
      return route.fulfill({ json: { items: [], nextCursor: 'later' } });
    });
    await visit(page, '/?q=garganey');
    await open(page, 'Garganey 1');
    await next(page).click();
    await expect(page).toHaveURL(`/product/${last?.id}`);
  });

  test('Next leads to an older product if the next page of a search cannot be loaded', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/Failed to fetch products/);
    const [last] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Pintail ${index}` }));
    await failResponses(page, /\/api\/products\?.*cursor=/);
    await visit(page, '/?q=pintail');
    await open(page, 'Pintail 1');
    await next(page).click();
    await expect(page).toHaveURL(`/product/${last?.id}`);
  });
});
