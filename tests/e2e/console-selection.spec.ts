import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { editSubmission } from '../../src/core/submissions/change-submission.ts';
import { addSubmissions, openConsole, signIn, signInAndOpen, writeComment } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Products' }).getByRole('listitem');
const barOf = (page: Page) => page.getByRole('region', { name: 'Selected items' });

test('a range of rows can be selected by keyboard and by mouse, and screen readers get the number of selected rows', async ({
  page,
  site,
}) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(5, (index) => ({ name: `Ranged ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  await expect(rowsOf(page)).toHaveCount(5);
  const status = page.getByRole('main').getByRole('status');
  // Screen readers do not announce a text that is inserted together with its region.
  await expect(status).toBeEmpty();
  await page.keyboard.press('x');
  await expect(status).toHaveText('1 selected');
  for (let moves = 0; moves < 2; moves += 1) await page.keyboard.press('j');
  await page.keyboard.press('Shift+X');
  const bar = barOf(page);
  await expect(bar).toContainText('3 selected');
  await page.keyboard.press('Escape');
  await expect(bar).toBeHidden();
  await expect(status).toHaveText('0 selected');
  const boxes = page.getByRole('checkbox', { name: /^Select Ranged/ });
  await boxes.nth(4).click();
  await boxes.nth(1).click({ modifiers: ['Shift'] });
  await expect(bar).toContainText('4 selected');
  await expect(boxes.nth(0)).not.toBeChecked();
});

test('items stay selected until they are changed or removed', async ({ page, site, expectConsoleError }) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  const products = await site.addProducts(4, (index) => ({ name: `Chosen ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  const bar = barOf(page);
  const remove = page.getByRole('dialog').getByRole('button', { name: 'Remove' });
  for (const index of [0, 1, 2, 3]) await page.getByLabel(`Select Chosen ${index}`).check();
  await page.keyboard.press('d');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  // Moves the mouse off the rows, because the list ignores clicks for a moment if a row under the mouse is removed.
  await page.mouse.move(0, 0);
  await expect(bar).toContainText('4 selected');

  // Another operator removes one product, and this operator removes one with the button in its row.
  await removeProducts(site.database, [products[0]?.id ?? '']);
  await expect(bar).toContainText('3 selected');
  await page.getByRole('button', { name: 'Remove Chosen 1' }).click();
  await remove.click();
  await expect(bar).toContainText('2 selected');
  // A dialog that opens before the closed one is removed would be closed with it.
  await expect(page.locator('dialog')).toHaveCount(0);

  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.removeProducts, (route) => route.fulfill(refusal), { times: 1 });
  await bar.getByRole('button', { name: 'Remove' }).click();
  await remove.click();
  await expect(page.getByRole('dialog').getByRole('alert')).toBeVisible();
  await expect(bar).toContainText('2 selected');
  await remove.click();
  await expect(page.getByText('Removed 2 products')).toBeVisible();
  // Until a closed dialog is removed, its field may receive keys.
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(page.getByRole('checkbox')).toHaveCount(2);
  await expect(bar).toBeHidden();
});

test('a product that another operator has removed does not block the removal of the other selected ones', async ({
  page,
  site,
}) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  // On a list with further pages, a removed product stays selected.
  const products = await site.addProducts(60, (index) => ({ name: `Listed ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  for (const index of [58, 59]) await page.getByLabel(`Select Listed ${index}`).check();
  await removeProducts(site.database, [products[59]?.id ?? '']);
  await expect(page.getByLabel('Select Listed 59')).toBeHidden();
  await expect(barOf(page)).toContainText('2 selected');
  await barOf(page).getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('Removed Listed 58')).toBeVisible();
  await expect(page.getByText('Listed 59 had already been removed.')).toBeVisible();
  await expect(barOf(page)).toBeHidden();
});

test('a change deselects only the items that it applied to', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Spam' }, { content: 'Praise' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  const row = (content: string) => page.getByRole('listitem').filter({ hasText: content });
  await row('Spam').getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  for (const content of ['Spam', 'Praise']) await row(content).getByRole('checkbox').check();
  await barOf(page).getByRole('button', { name: 'Release' }).click();
  await expect(page.getByText('Released 1 comment')).toBeVisible();
  await expect(barOf(page)).toContainText('1 selected');
  await expect(row('Praise').getByRole('checkbox')).toBeChecked();
});

test('a submission stays selected if the decision on it fails', async ({ page, site, expectConsoleError }) => {
  const [fine, failing] = [`Fine ${randomUUID()}`, `Failing ${randomUUID()}`];
  const [, written] = await addSubmissions(site, [fine, failing]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  for (const name of [fine, failing]) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.decideSubmission(written?.row.id ?? ''), (route) => route.fulfill(refusal));
  await barOf(page).getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText('Failed for 1 submission.')).toBeVisible();
  await expect(barOf(page)).toContainText('1 selected');
  await expect(page.getByRole('checkbox', { name: `Select ${failing}` })).toBeChecked();
});

test('a second Enter after an approval does not approve the next submission', async ({ page, site }) => {
  const [read, unread] = [`Read ${randomUUID()}`, `Unread ${randomUUID()}`];
  await addSubmissions(site, [read, unread]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await page.getByRole('button', { name: `Approve ${read}` }).press('Enter');
  const next = page.getByRole('listitem').filter({ has: page.getByRole('article', { name: unread }) });
  await expect(next).toBeFocused();
  expect(await next.evaluate((row) => row.matches(':focus-visible'))).toBe(true);
  await page.keyboard.press('Enter');
  await expect(page.getByText(`Approved ${read}`)).toBeVisible();
  await page.reload();
  await expect(page.getByRole('article', { name: unread })).toBeVisible();
  await expect(page.getByRole('article', { name: read })).toBeHidden();
});

test('a key first shows an active row that is off screen, and only the next key acts on it', async ({ page, site }) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(30, (index) => ({ name: `Unseen ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  await expect(page.getByText('Unseen').first()).toBeVisible();
  const active = page.locator('.list-row[data-active]');
  const dialog = page.getByRole('dialog');
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  await expect(active).not.toBeInViewport();
  await page.keyboard.press('d');
  await expect(active).toBeInViewport();
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press('d');
  await expect(dialog.getByRole('heading')).toContainText('Unseen');
});

test('an item stays selected while its row is on a page that is not loaded', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(
    product.id,
    Array.from({ length: 55 }, (_, index) => ({
      content: `Comment number ${index}`,
      createdAt: new Date(Date.now() - (index + 1) * 60_000).toISOString(),
    })),
  );
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  // This is the last row of the first page, so a new comment moves it to the second page.
  const row = page.getByRole('listitem').filter({ hasText: 'Comment number 49' });
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await expect(row).toBeAttached({ timeout: 500 });
  }).toPass();
  await row.getByRole('checkbox').check();
  await page.evaluate(() => window.scrollTo(0, 0));
  await expect(page.getByText('Comment number 0')).toBeVisible();
  await writeComment(page, product.id, 'Newest');
  await expect(barOf(page)).toContainText('1 selected');
  await barOf(page).getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await expect(barOf(page)).toBeHidden();
});

test('single-key shortcuts can be turned off, and are then neither active nor listed', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/products');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  const search = page.getByLabel('Search products');
  await expect(search).toHaveAttribute('aria-keyshortcuts', '/');
  await page.keyboard.press('?');
  await expect(dialog).toContainText('Edit a product');
  await expect(dialog).toContainText('↓');
  await dialog.getByRole('checkbox').uncheck();
  await expect(search).not.toHaveAttribute('aria-keyshortcuts');
  await expect(dialog).not.toContainText('Edit a product');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.keyboard.press('?');
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('option', { name: 'Queue', exact: true })).toBeVisible();
  await page.getByRole('combobox', { name: 'Jump to' }).fill('shortcuts');
  await expect(page.locator('dialog')).toHaveCount(1);
  await page.keyboard.press('Enter');
  await dialog.getByRole('checkbox').check();
  await expect(dialog).toContainText('Edit a product');
});

test('on a phone, messages do not cover the bar of selected items', async ({ page, site }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const [first, second] = [`First ${randomUUID()}`, `Second ${randomUUID()}`];
  const [written] = await addSubmissions(site, [first, second]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  for (const name of [first, second]) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const access = { id: written?.row.id ?? '', makerKey: written?.makerKey };
  await editSubmission(site.database, access, { maker: 'Moon' }, { now: new Date(), timeZone: 'UTC' });
  // A message under the mouse does not disappear.
  await page.getByText('Deselected 1').hover();
  const toast = await page.locator('.toast').boundingBox();
  const bar = await barOf(page).boundingBox();
  expect((toast?.y ?? 0) + (toast?.height ?? 0)).toBeLessThanOrEqual(bar?.y ?? 0);
});

test('on a phone, the bar of selected items has at most two rows of buttons', async ({ page, site }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const name = `Barred ${randomUUID()}`;
  await addSubmissions(site, [name]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const tops = await barOf(page)
    .getByRole('button')
    .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
  expect(new Set(tops).size).toBeLessThanOrEqual(2);
});

test('undoing a change to many comments shows the progress', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }, { content: 'Third' }]);
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, `/console/comments?product=${product.id}`);
  for (const index of [0, 1, 2]) await page.getByRole('checkbox').nth(index).check();
  await barOf(page).getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 3 comments')).toBeVisible();
  // Stops the clock, so no toast disappears before the test sees it.
  await page.clock.pauseAt(Date.now() + 60_000);
  // Each request waits until the test continues it.
  const waiting: (() => Promise<void>)[] = [];
  await page.route(CONSOLE_API.undo('*'), (route) => void waiting.push(() => route.continue()));
  await page.keyboard.press('u');
  for (const index of [0, 1, 2]) {
    await expect.poll(() => waiting.length).toBe(index + 1);
    if (index > 0) await expect(page.getByText(`Undoing ${index + 1} of 3 …`)).toBeVisible();
    await page.clock.fastForward(1_000);
    await waiting[index]?.();
  }
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect(page.getByText('Undoing')).toHaveCount(0);
});
