import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { cardNames, PHONE, searchBox, upvoteOf } from '../support/screen.ts';

const dialog = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' });
const opener = (page: Page) => page.getByRole('button', { name: 'Keyboard shortcuts' });
const toggle = (page: Page) => dialog(page).getByRole('checkbox', { name: 'Single-key shortcuts' });

test('? opens the list of shortcuts, and Escape closes it and restores the focus', async ({ page, site }) => {
  await site.addProduct({ name: 'Ibis' });
  await visit(page, '/?q=ibis');
  await upvoteOf(page, 'Ibis').focus();
  await page.keyboard.press('?');
  await expect(dialog(page)).toBeVisible();
  for (const does of ['Search products', 'This list', 'Clear the search; close a dialog or menu']) {
    await expect(dialog(page).getByText(does, { exact: true })).toBeVisible();
  }
  await page.keyboard.press('/');
  await expect(searchBox(page), 'shortcuts have no effect while a dialog is open').not.toBeFocused();
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(upvoteOf(page, 'Ibis')).toBeFocused();
});

test('Back closes the list of shortcuts', async ({ page }) => {
  await visit(page, '/');
  await page.locator('.product-card-name a').first().click();
  await expect(page).toHaveURL(/\/product\//);
  await opener(page).click();
  await expect(dialog(page)).toBeVisible();
  await page.goBack();
  await expect(page).toHaveURL('/');
  await expect(dialog(page)).toHaveCount(0);
});

test('shortcut keys have no effect in a text field or with Control', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Jackdaw' });
  await visit(page, `/product/${product.id}`);
  const box = page.getByRole('textbox', { name: 'Your comment' });
  await box.pressSequentially('Why? Either/or');
  await expect(box).toHaveValue('Why? Either/or');
  await expect(dialog(page)).toHaveCount(0);
  await box.blur();
  await page.keyboard.press('Control+/');
  await expect(searchBox(page)).not.toBeFocused();
  await page.keyboard.press('/');
  await expect(searchBox(page)).toBeFocused();
  await expect(searchBox(page)).toHaveValue('');
});

test('shortcuts can be turned off for all tabs and across reloads, and turned on again', async ({ page, site }) => {
  const [older, product] = await site.addProducts(2, (index) => ({ name: `Kestrel ${index}` }));
  const path = `/product/${product?.id}`;
  await visit(page, path);
  const other = await page.context().newPage();
  await visit(other, path);
  await expect(searchBox(other)).toHaveAttribute('aria-keyshortcuts', '/');
  await opener(page).press('Enter');
  await toggle(page).press('Space');
  await expect(toggle(page)).not.toBeChecked();
  await page.keyboard.press('Escape');
  await expect(opener(page)).toBeFocused();
  await expect(searchBox(other)).not.toHaveAttribute('aria-keyshortcuts');
  await visit(page, path);
  for (const tab of [page, other]) {
    await expect(searchBox(tab)).not.toHaveAttribute('aria-keyshortcuts');
    for (const key of ['/', '?', 'ArrowRight']) await tab.keyboard.press(key);
    await turnEventLoop(tab);
    expect(new URL(tab.url()).pathname).toBe(path);
    await expect(dialog(tab)).toHaveCount(0);
    await expect(searchBox(tab)).not.toBeFocused();
  }
  await opener(page).press('Enter');
  await toggle(page).press('Space');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await expect(searchBox(page)).toBeFocused();
  expect(await page.evaluate(() => localStorage.getItem('shortcuts'))).toBeNull();
  await searchBox(page).blur();
  await page.keyboard.press('ArrowRight');
  await expect(page).toHaveURL(`/product/${older?.id}`);
});

test('the focus moves to the list title when a filter is added or removed', async ({ page, site }) => {
  await site.addProduct({ name: 'Lapwing', tags: ['lapwings'] });
  const title = page.getByRole('heading', { name: 'Top Products Launching Today' });
  await visit(page, '/?q=lapwing');
  await page.getByRole('link', { name: 'lapwings', exact: true }).press('Enter');
  await expect(page).toHaveURL('/?tag=lapwings');
  await expect(title).toBeFocused();
  await page.getByRole('link', { name: /^Remove Tag:/ }).press('Enter');
  await expect(page).toHaveURL('/');
  await expect(title).toBeFocused();
  await visit(page, '/');
  await searchBox(page).fill('zzz-nothing');
  await page.getByRole('link', { name: 'Show all products' }).press('Enter');
  await expect(cardNames(page).first()).toBeVisible();
  await expect(title).toBeFocused();
});

test('‘Show more products’ moves the focus to the first added product', async ({ page, site }) => {
  await site.addProducts(25, (index) => ({ name: `Merlin ${String(index).padStart(2, '0')}` }));
  // Replaces IntersectionObserver, so the list does not load more products on scrolling.
  await page.addInitScript(() => {
    window.IntersectionObserver = class {
      observe() {}
      disconnect() {}
    } as unknown as typeof IntersectionObserver;
  });
  await visit(page, '/?q=merlin');
  await expect(cardNames(page)).toHaveCount(20);
  await page.getByRole('link', { name: 'Show more products' }).press('Enter');
  await expect(cardNames(page)).toHaveCount(25);
  await expect(page.getByRole('link', { name: 'Merlin 04', exact: true })).toBeFocused();
});

test('the phone menu closes when the focus leaves its button, and when a link opens another page', async ({
  page,
  site,
}) => {
  await site.addProduct({ name: 'Munchkin' });
  await page.setViewportSize(PHONE);
  await visit(page, '/?q=munchkin');
  const item = page.getByRole('button', { name: 'Sign in (Demo)' });
  await page.getByLabel('Menu').press('Enter');
  await expect(item).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(item).toBeHidden();
  await page.getByLabel('Menu').click();
  await expect(item).toBeVisible();
  // Unlike a real click, this one does not move the focus first.
  await page.getByRole('link', { name: 'Munchkin', exact: true }).dispatchEvent('click');
  await expect(page.getByRole('heading', { level: 1, name: 'Munchkin' })).toBeFocused();
  await expect(item).toBeHidden();
});
