import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { openConsole, signIn } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

/** Holds the requests for a path. @returns a function that lets them continue. */
async function hold(page: Page, path: string): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(path, async (route) => {
    await released;
    await route.fallback();
  });
  return release;
}

test('the form of an edit cannot be changed while the edit is saved, or while the saved version is loaded', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ name: 'Tide' });
  await signIn(page, site);
  await openConsole(page, `/console/products?edit=${id}`);
  const description = page.getByLabel('Description');
  const fields = page.locator('.editor');
  const save = page.getByRole('button', { name: /^Sav/ });
  const keep = page.getByRole('button', { name: 'Keep my changes on top' });
  await description.fill('Mine');
  await editProduct(site.database, id, { values: { maker: 'Moon' }, now: new Date() });
  await expect(keep).toBeVisible();
  const load = await hold(page, CONSOLE_API.product(id));
  await keep.click();
  await expect(save).toBeFocused();
  await expect(fields).toHaveAttribute('inert');
  load();
  await expect(keep).toBeHidden();
  await description.fill('Mine, on top');
  const finish = await hold(page, CONSOLE_API.product(id));
  await save.click();
  await expect(save).toHaveText('Saving …');
  await expect(save).toBeFocused();
  await expect(fields).toHaveAttribute('inert');
  finish();
  await expect(page.getByText('Saved Tide')).toBeVisible();
  const { product } = await (await page.request.get(`/api/products/${id}`)).json();
  expect(product).toMatchObject({ description: 'Mine, on top', maker: 'Moon' });
});

test('the browser asks before it closes a page with an unsaved edit, and the product opens in a new tab', async ({
  newVisitor,
  site,
}) => {
  const page = await newVisitor();
  const { id } = await site.addProduct({ name: 'Tide' });
  await signIn(page, site);
  await openConsole(page, `/console/products?edit=${id}`);
  await page.getByLabel('Description').fill('An hour of careful writing');
  const product = page.waitForEvent('popup');
  await page.getByRole('link', { name: 'View on the site' }).click();
  await expect(await product).toHaveURL(`/product/${id}`);
  const asked = page.waitForEvent('dialog');
  await page.close({ runBeforeUnload: true });
  const question = await asked;
  expect(question.type()).toBe('beforeunload');
  await question.dismiss();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Tide')).toBeVisible();
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
});
