import type { Page } from '@playwright/test';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, requestsReported } from '../support/network.ts';
import { closeDialogLate, linesOfLongText, textsOf, toast, upvoteOf } from '../support/screen.ts';

/** Locates the save button of a product. On the product's page, the label of a pressed button is 'Saved'. */
const saveOf = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^Saved? ${name}$`) });
const opener = (page: Page) => page.getByRole('banner').getByRole('button', { name: /^Saved products/ });
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Saved products' });
const rows = (page: Page) => dialog(page).getByRole('list', { name: 'Saved products' }).getByRole('listitem');

test('a product saved on its card or on its page is listed on every page, without writes to the server', async ({
  page,
  site,
}) => {
  const [first, second] = await site.addProducts(2, (index) => ({ name: `Agate ${index + 1}` }));
  await visit(page, '/?q=agate');
  const asked: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && asked.push(request.url()));
  await saveOf(page, 'Agate 1').click();
  await expect(saveOf(page, 'Agate 1')).toHaveAttribute('aria-pressed', 'true');
  await expect(page, 'saving does not open the product').toHaveURL('/?q=agate');
  await visit(page, `/product/${second?.id}`);
  await saveOf(page, 'Agate 2').click();
  await expect(opener(page)).toHaveAccessibleName('Saved products 2');
  await requestsReported(page);
  expect(asked).toEqual([]);
  await page.goto('/product/git');
  await opener(page).click();
  await expect(rows(page)).toContainText(['Agate 2', 'Agate 1']);
  expect(await linesOfLongText(dialog(page).getByRole('link', { name: 'Agate 1' }))).toBe(2);
  await dialog(page).getByRole('link', { name: 'Agate 1' }).click();
  await expect(page).toHaveURL(`/product/${first?.id}`);
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('heading', { level: 1, name: 'Agate 1' })).toBeFocused();
  await expect(saveOf(page, 'Agate 1')).toHaveAttribute('aria-pressed', 'true');
});

for (const lang of ['en', 'de', 'fr', 'ja']) {
  test(`pressing the save button does not change its size (${lang})`, async ({ page }) => {
    await visit(page, `/product/git?lang=${lang}`);
    const button = page.getByRole('main').locator('.save-button');
    const before = await button.boundingBox();
    await button.click();
    await expect(button).toHaveAttribute('aria-pressed', 'true');
    expect(await button.boundingBox()).toEqual(before);
  });
}

test('in the dialog, a removed product can be restored by keyboard, and closing the dialog restores the focus', async ({
  page,
  site,
}) => {
  await site.addProduct({ name: 'Beryl' });
  await visit(page, '/?q=beryl');
  await opener(page).press('Enter');
  await expect(dialog(page).getByText(/^Nothing saved yet/)).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(opener(page)).toBeFocused();
  await saveOf(page, 'Beryl').press('Space');
  await opener(page).press('Enter');
  await expect(rows(page)).toHaveCount(1);
  const toggle = rows(page).getByRole('button', { name: 'Save Beryl' });
  await toggle.press('Space');
  await expect(toggle).toHaveAttribute('aria-pressed', 'false');
  await expect(rows(page)).toHaveCount(1);
  await toggle.press('Space');
  await expect(toggle).toHaveAttribute('aria-pressed', 'true');
  await toggle.press('Space');
  await page.keyboard.press('Escape');
  await expect(saveOf(page, 'Beryl')).toHaveAttribute('aria-pressed', 'false');
  await opener(page).press('Enter');
  await expect(dialog(page).getByText(/^Nothing saved yet/)).toBeVisible();
});

test('one click opens a saved product, because its link does not move when the vote and comment counts arrive', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Fluorite' });
  await visit(page, '/?q=fluorite');
  await saveOf(page, 'Fluorite').click();
  await expect(opener(page)).toHaveAccessibleName('Saved products 1');
  const held = await holdResponses(page, new RegExp(`/api/products/${product.id}$`));
  await visit(page, '/product/git');
  await opener(page).click();
  const link = dialog(page).getByRole('link', { name: 'Fluorite' });
  await expect(dialog(page)).toHaveJSProperty('open', true);
  await dialog(page).evaluate((element) => Promise.all(element.getAnimations().map(({ finished }) => finished)));
  const before = await link.boundingBox();
  held.release();
  await expect(rows(page)).toContainText(['0 upvotes']);
  expect(await link.boundingBox(), 'the link does not move').toEqual(before);
  await link.click();
  await expect(page).toHaveURL(`/product/${product.id}`);
});

test('the dialog can be opened again before the browser has reported that it was closed', async ({ page }) => {
  await visit(page, '/');
  await opener(page).click();
  await expect(dialog(page)).toBeVisible();
  const reportClose = await closeDialogLate(page);
  await opener(page).click();
  await expect(dialog(page)).toBeVisible();
  await reportClose();
  await expect(dialog(page)).toBeVisible();
});

test('Back closes the dialog, so it does not stay open over another page', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Howlite' });
  await visit(page, '/?q=howlite');
  await page.getByRole('link', { name: 'Howlite', exact: true }).click();
  await expect(page).toHaveURL(`/product/${product.id}`);
  await expect(page.getByRole('heading', { level: 1, name: 'Howlite' })).toBeFocused();
  await opener(page).click();
  await expect(dialog(page)).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL('/?q=howlite');
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.locator('main :focus'), 'the page has the focus').toHaveCount(1);
});

test('a product saved in one tab shows as saved in another tab', async ({ page, site }) => {
  await site.addProduct({ name: 'Citrine' });
  await visit(page, '/?q=citrine');
  const second = await page.context().newPage();
  await visit(second, '/?q=citrine');
  await saveOf(page, 'Citrine').click();
  await expect(saveOf(second, 'Citrine')).toHaveAttribute('aria-pressed', 'true');
  await saveOf(second, 'Citrine').click();
  await expect(saveOf(page, 'Citrine')).toHaveAttribute('aria-pressed', 'false');
});

test('a saved product that was removed from the site is listed by name without a link', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404|410/);
  const product = await site.addProduct({ name: 'Diamond' });
  await visit(page, '/?q=diamond');
  await saveOf(page, 'Diamond').click();
  await removeProducts(site.database, [product.id]);
  await page.reload();
  await opener(page).click();
  await expect(rows(page)).toContainText(['No longer on the site']);
  await expect(rows(page)).toContainText(['Diamond']);
  await expect(dialog(page).getByRole('link')).toHaveCount(0);
});

test('a full list refuses more products with a message, and a product can be saved even if browser storage is full', async ({
  page,
  site,
}) => {
  await site.addProduct({ name: 'Emerald' });
  await page.addInitScript(() => {
    if (localStorage.getItem('saved_products') !== null) return;
    const many = Array.from({ length: 100 }, (_, index) => ({ id: `p${index}`, name: `P${index}`, image: '' }));
    localStorage.setItem('saved_products', JSON.stringify(many));
  });
  await visit(page, '/?q=emerald');
  await expect(opener(page)).toHaveAccessibleName('Saved products 100');
  const messages = await textsOf(page.getByRole('region', { name: 'Messages' }));
  await saveOf(page, 'Emerald').click();
  await expect.poll(messages).toContainEqual(expect.stringContaining('100 products are saved'));
  await expect(saveOf(page, 'Emerald')).toHaveAttribute('aria-pressed', 'false');
  await page.evaluate(() => {
    localStorage.setItem('saved_products', '[]');
    Storage.prototype.setItem = () => {
      throw new DOMException('Full', 'QuotaExceededError');
    };
  });
  await saveOf(page, 'Emerald').click();
  await expect(saveOf(page, 'Emerald')).toHaveAttribute('aria-pressed', 'true');
});

test('the dialog shows the visitor’s own vote at once, even if it has read the product before', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Garnet' });
  await visit(page, `/product/${product.id}`);
  await saveOf(page, 'Garnet').click();
  await opener(page).click();
  await expect(rows(page)).toContainText(['0 upvotes']);
  await page.keyboard.press('Escape');
  const held = await holdResponses(page, /\/upvote$/, { method: 'PUT' });
  await upvoteOf(page, 'Garnet').click();
  await opener(page).click();
  await expect(rows(page)).toContainText(['1 upvote']);
  held.release();
  await expect(toast(page)).toContainText('Upvoted!');
  await expect(rows(page)).toContainText(['1 upvote']);
});
