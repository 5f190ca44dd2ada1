import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { openConsole, signIn } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

/** Expects an error that nothing covers, in the open dialog, because screen readers ignore what is behind it. */
async function expectReadable(page: Page, message: string): Promise<void> {
  const alert = page.getByRole('dialog').getByRole('alert').filter({ hasText: message });
  await expect(alert).toBeVisible();
  const isOnTop = alert.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) === element;
  });
  expect(await isOnTop).toBe(true);
  await expect(page.locator('.toast')).toHaveCount(0);
}

test('a dialog stays open with its reason until the operation succeeds', async ({ page, site, expectConsoleError }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await signIn(page, site);
  await openConsole(page, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hide' }).click();
  const reason = page.getByLabel('Reason (optional)');
  await reason.fill('A long explanation');
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route('/api/console/comments/moderate', (route) => route.fulfill(refusal), { times: 1 });
  await page.keyboard.press('Enter');
  await expectReadable(page, 'The change failed. The database is down.');
  await expect(reason).toHaveValue('A long explanation');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Hidden: A long explanation')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
});

test('an edit that cannot be saved stays in the editor, which shows the reason', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct({ name: 'Unlucky' });
  await signIn(page, site);
  await openConsole(page, `/console/products?edit=${id}`);
  await page.getByLabel('Maker').fill('Somebody else');
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.product(id), (route) =>
    route.request().method() === 'PATCH' ? route.fulfill(refusal) : route.continue(),
  );
  await page.getByRole('button', { name: 'Save' }).click();
  await expectReadable(page, 'This could not be saved. The database is down.');
  await page.unroute(CONSOLE_API.product(id));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Unlucky')).toBeVisible();
});

test('if the saved version of a conflict cannot be loaded, the editor says so and keeps the edit', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct({ name: 'Gone soon' });
  await signIn(page, site);
  await openConsole(page, `/console/products?edit=${id}`);
  await page.getByLabel('Maker').fill('Somebody else');
  await editProduct(site.database, id, { values: { name: 'Renamed' }, now: new Date() });
  const keep = page.getByRole('button', { name: 'Keep my changes on top' });
  await expect(keep).toBeVisible();
  // Without a response, no live updates load the product.
  await page.route(CONSOLE_API.events, () => {});
  expectConsoleError(/404 \(Not Found\)/);
  await page.route(CONSOLE_API.product(id), (route) =>
    route.fulfill({ status: 404, json: { code: 'product_not_found', detail: 'There is no such product.' } }),
  );
  await keep.click();
  await expectReadable(page, 'The saved version could not be loaded. There is no such product.');
  await expect(page.getByLabel('Maker')).toHaveValue('Somebody else');
});
