import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { toast, upvoteOf } from '../support/screen.ts';

const UPVOTE = /\/api\/products\/[^/]+\/upvote$/;

const toastOf = (page: Page, title: string) =>
  toast(page).filter({ has: page.locator('.toast-title').getByText(title, { exact: true }) });
const undoOf = (page: Page, title: string) => toastOf(page, title).getByRole('button', { name: 'Undo', exact: true });

test('Undo in a toast removes the upvote, and the removal can be undone as well', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Toadflax' });
  await visit(page, `/product/${product.id}`);
  await upvoteOf(page, 'Toadflax').click();
  await expect(toastOf(page, 'Upvoted!').locator('.toast-description')).toHaveText('Thanks for your support!');
  await undoOf(page, 'Upvoted!').press('Enter');
  await expect(upvoteOf(page, 'Toadflax')).toHaveAttribute('aria-pressed', 'false');
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(0);
  await expect(toastOf(page, 'Upvote removed').locator('.toast-description')).toHaveText('Upvote removed successfully');
  await undoOf(page, 'Upvote removed').press('Enter');
  await expect(upvoteOf(page, 'Toadflax')).toHaveAccessibleName('Upvote Toadflax, 1');
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(1);
  const rows = await site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
  expect(rows).toHaveLength(1);
});

test('Undo works after navigating to another page', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Brittlestar' });
  await visit(page, '/?q=brittlestar');
  await page.getByRole('link', { name: 'Brittlestar', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Brittlestar' })).toBeFocused();
  await upvoteOf(page, 'Brittlestar').click();
  await undoOf(page, 'Upvoted!').focus();
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: /^Welcome/ })).toBeVisible();
  // The heading takes the focus. Later, if the deferred features have loaded, the link to the product does.
  await expect(undoOf(page, 'Upvoted!')).not.toBeFocused();
  await undoOf(page, 'Upvoted!').press('Enter');
  await expect(toastOf(page, 'Upvote removed')).toHaveCount(1);
  const rows = await site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
  expect(rows).toEqual([]);
});

test('Undo does nothing after the visitor has already removed the upvote', async ({ page, site, pauseClock }) => {
  const product = await site.addProduct({ name: 'Cuttlefish' });
  await page.clock.install();
  await visit(page, `/product/${product.id}`);
  await pauseClock();
  await upvoteOf(page, 'Cuttlefish').click();
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(1);
  const held = await holdResponses(page, UPVOTE, { method: 'DELETE' });
  await upvoteOf(page, 'Cuttlefish').click();
  await expect.poll(() => held.requests.length).toBe(1);
  const added = recordRequests(page, UPVOTE, 'PUT');
  await undoOf(page, 'Upvoted!').click();
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(0);
  held.release();
  await expect(toastOf(page, 'Upvote removed')).toHaveCount(1);
  await requestsReported(page);
  expect(added).toEqual([]);
  expect(held.requests).toHaveLength(1);
});

test('Undo by keyboard restores the focus, and a toast with a button is shown for 10 s', async ({
  page,
  site,
  pauseClock,
}) => {
  const product = await site.addProduct({ name: 'Dugong' });
  await page.clock.install();
  await visit(page, `/product/${product.id}`);
  await pauseClock();
  await upvoteOf(page, 'Dugong').press('Enter');
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(1);
  await page.clock.fastForward(8_000);
  await undoOf(page, 'Upvoted!').focus();
  await page.clock.fastForward(60_000);
  await expect(undoOf(page, 'Upvoted!'), 'a focused toast does not time out').toBeFocused();
  await page.keyboard.press('Enter');
  await expect(toastOf(page, 'Upvote removed')).toHaveCount(1);
  await expect(upvoteOf(page, 'Dugong')).toBeFocused();
  // Resumes the clock, because the toast may set its timer only after the jump.
  await page.clock.resume();
  await page.clock.fastForward(11_000);
  await expect(toast(page)).toHaveCount(0);
});

test('quick clicks show one toast per product, with the latest result', async ({ page, site, pauseClock }) => {
  await site.addProducts(2, (index) => ({ name: `Elver ${index + 1}` }));
  await page.clock.install();
  await visit(page, '/?q=elver');
  await pauseClock();
  await upvoteOf(page, 'Elver 1').click();
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(1);
  await upvoteOf(page, 'Elver 1').click();
  await expect(toastOf(page, 'Upvote removed')).toHaveCount(1);
  await expect(toast(page)).toHaveCount(1);
  await upvoteOf(page, 'Elver 2').click();
  await expect(toastOf(page, 'Upvoted!')).toHaveCount(1);
  await expect(toast(page)).toHaveCount(2);
});
