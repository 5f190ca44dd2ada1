import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { holdRequests, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';
import { closeDialogLate } from '../support/screen.ts';

/** Signs in as another operator, as if in another tab, and returns to the page's tab. */
async function returnAs(page: Page, site: E2eSite, name: string): Promise<void> {
  await signIn(page, site, name);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await expect(page.getByText(name)).toBeVisible();
}

test('the form of an edit cannot be changed while the edit is being saved or the saved version is loading', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ name: 'Tide' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const description = page.getByLabel('Description');
  const fields = page.locator('.editor');
  const save = page.getByRole('button', { name: /^Sav/ });
  const keep = page.getByRole('button', { name: 'Keep my changes on top' });
  await description.fill('Mine');
  await editProduct(site.database, id, { values: { maker: 'Moon' } }, { now: new Date() });
  await expect(keep).toBeVisible();
  const load = await holdRequests(page, CONSOLE_API.product(id));
  await keep.click();
  await expect(save).toBeFocused();
  await expect(fields).toHaveAttribute('inert');
  load();
  await expect(keep).toBeHidden();
  await description.fill('Mine, on top');
  const finish = await holdRequests(page, CONSOLE_API.product(id));
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
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
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
  await expect(page.locator('dialog')).toHaveCount(0);
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;
});

test('if a product is opened while an earlier edit of it is being saved, the editor waits, and resumes the edit if the save fails', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id, name, tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  const open = page.getByRole('button', { name, exact: true });
  const dialog = page.locator('dialog');
  const maker = page.getByLabel('Maker');
  const close = async () => {
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  };
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.product(id), (route) =>
    route.request().method() === 'PATCH' ? route.fulfill(refusal) : route.continue(),
  );
  await open.click();
  await maker.fill('Somebody else');
  const refuse = await holdRequests(page, CONSOLE_API.product(id));
  await page.getByRole('button', { name: 'Save' }).click();
  await close();
  await open.click();
  await expect(page.getByRole('status', { name: 'Loading the product' })).toBeVisible();
  expectConsoleError(/503 \(Service Unavailable\)/);
  refuse();
  await expect(maker).toHaveValue('Somebody else');
  await expect(page.getByText('The database is down.')).toBeAttached();
});

test('after another operator has signed in from a second tab, the first tab shows their name and hides the previous operator’s edit', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ maker: 'Somebody' });
  const [ada, bob] = [`ada-${randomUUID().slice(0, 8)}`, `bob-${randomUUID().slice(0, 8)}`];
  const maker = page.getByLabel('Maker');
  await signIn(page, site, ada);
  await openConsole(page, `/console/products?edit=${id}`);
  await maker.fill('The edit of ada');
  await returnAs(page, site, bob);
  await expect(maker).toHaveValue('Somebody');
  await returnAs(page, site, ada);
  await expect(maker).toHaveValue('The edit of ada');
});

test('a typed reason survives the end of the session and leaving the page, but only for the same operator and item, and until the dialog is closed', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'First' }, { content: 'Second' }]);
  const [ada, bob] = [`ada-${randomUUID().slice(0, 8)}`, `bob-${randomUUID().slice(0, 8)}`];
  const reason = page.getByLabel('Reason (optional)');
  const hide = (content: string) =>
    page.getByRole('listitem').filter({ hasText: content }).getByRole('button', { name: 'Hide' }).click();
  await signIn(page, site, ada);
  await openConsole(page, `/console/comments?product=${id}`);
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.goBack();
  await hide('First');
  await reason.fill('A carefully worded reason');
  await returnAs(page, site, bob);
  await hide('First');
  await expect(reason).toHaveValue('');
  await returnAs(page, site, ada);
  await hide('First');
  await expect(reason).toHaveValue('A carefully worded reason');
  await page.goForward();
  await expect(page.getByRole('heading', { name: 'Audit log' })).toBeVisible();
  await page.goBack();
  await hide('Second');
  await expect(reason).toHaveValue('');
  await reason.fill('Another reason');
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
  await hide('Second');
  await expect(reason).toHaveValue('');
});

test('an open editor without changes shows the changes that another operator saves', async ({ page, site }) => {
  const { id } = await site.addProduct({ name: 'Tide', maker: 'Moon' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const maker = page.getByLabel('Maker');
  await expect(maker).toHaveValue('Moon');
  await editProduct(site.database, id, { values: { maker: 'Sun' } }, { now: new Date() });
  await expect(maker).toHaveValue('Sun');
  await expect(page.getByText('No changes')).toBeVisible();
  await page.getByLabel('Description').fill('Hot');
  await expect(page.getByText('1 field changed')).toBeVisible();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Tide')).toBeVisible();
});

for (const [device, width] of [
  ['phone', 390],
  ['desktop', 1280],
] as const) {
  test(`on a ${device}, a conflict does not move the fields, and undo restores an edit that the saved version has replaced`, async ({
    page,
    site,
  }) => {
    await page.setViewportSize({ width, height: 844 });
    const { id } = await site.addProduct({ name: 'Tide', description: 'Short', maker: 'Moon' });
    await signInAndOpen(page, site, `/console/products?edit=${id}`);
    const description = page.getByLabel('Description');
    await description.fill('An hour of careful writing');
    const before = await description.boundingBox();
    await editProduct(site.database, id, { values: { maker: 'Sun', category: 'Sea' } }, { now: new Date() });
    const take = page.getByRole('button', { name: 'Take the saved version' });
    await take.scrollIntoViewIfNeeded();
    expect(await description.boundingBox()).toEqual(before);
    await expect(description).toBeInViewport();
    await take.click();
    await expect(description).toHaveValue('Short');
    await page.keyboard.press('Escape');
    await expect(page.locator('dialog')).toHaveCount(0);
    await page.keyboard.press('u');
    await expect(description).toHaveValue('An hour of careful writing');
    await page.getByRole('button', { name: 'Keep my changes on top' }).click();
    await expect(page.getByLabel('Maker')).toHaveValue('Sun');
    await expect(description).toHaveValue('An hour of careful writing');
  });
}

test('an edit is not lost if its save fails before the browser has reported that the editor was closed', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id, name } = await site.addProduct({ name: `Tide ${randomUUID()}` });
  await signIn(page, site);
  await page.route(CONSOLE_API.product(id), (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'The database is down.' } })
      : route.fallback(),
  );
  await openConsole(page, `/console/products?q=${name}`);
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByLabel('Maker').fill('Somebody else');
  const fail = await holdRequests(page, CONSOLE_API.product(id));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'Saving …' })).toBeVisible();
  const reportClose = await closeDialogLate(page);
  expectConsoleError(/503 \(Service Unavailable\)/);
  fail();
  await expect(page.getByText('The database is down.')).toBeVisible();
  await reportClose();
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.getByRole('button', { name, exact: true }).click();
  await expect(page.getByLabel('Maker')).toHaveValue('Somebody else');
});

test('a product that is clicked while the browser is still going back from a closed editor is opened', async ({
  page,
  site,
}) => {
  const tags = [randomUUID()];
  for (const name of ['Closed tide', 'Opened tide']) await site.addProduct({ name, tags });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  for (const name of ['Opened tide', 'Closed tide']) {
    await page.getByRole('button', { name: 'Closed tide', exact: true }).click();
    await page.locator('.row-title', { hasText: name }).evaluate(
      (button: HTMLElement) =>
        new Promise((resolve) => {
          window.addEventListener('popstate', resolve, { once: true });
          const dialog = document.querySelector('dialog');
          dialog?.addEventListener('close', () => button.click());
          dialog?.close();
        }),
    );
    await expect(page.getByRole('dialog', { name: `Edit ${name}` })).toBeVisible();
    await page.goBack();
    await expect(page.locator('dialog')).toHaveCount(0);
  }
});
