import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { expectUpvote, toast, upvoteOf } from '../support/screen.ts';

const BLOCKED = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

/** Blocks writes to a product in the database, makes one, and runs `meanwhile` while it is pending. */
async function whilePending(
  site: E2eSite,
  productId: string,
  write: () => Promise<void>,
  meanwhile: () => Promise<void>,
): Promise<void> {
  await site.database.transaction(async (sql) => {
    await sql.query('SELECT FROM product_counts WHERE product_id = $1 FOR UPDATE', [productId]);
    await write();
    await expect.poll(() => site.database.query(BLOCKED)).toHaveLength(1);
    await meanwhile();
  });
}

test('a vote that was pending when the page was left is shown although the next page sends another one', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Bonewood One' });
  await site.addProduct({ name: 'Bonewood Two' });
  await visit(page, '/?q=Bonewood');
  const click = () => upvoteOf(page, 'Bonewood One').click();
  await whilePending(site, product.id, click, async () => {
    await page.reload();
    await expectUpvote(page, 'Bonewood One', { upvoted: false, count: 0 });
  });
  await upvoteOf(page, 'Bonewood Two').click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
  await expectUpvote(page, 'Bonewood One', { upvoted: true, count: 1 });
});

test('a vote that is pending when the page is left is shown before the next page has read its state', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Cottonwood' });
  await visit(page, `/product/${product.id}`);
  const click = () => upvoteOf(page, 'Cottonwood').click();
  await whilePending(site, product.id, click, async () => {
    const statuses = await holdResponses(page, /\/api\/upvotes\?/);
    await page.reload();
    await expect.poll(() => statuses.requests.length).toBeGreaterThan(0);
    await expect(upvoteOf(page, 'Cottonwood')).toHaveAttribute('aria-pressed', 'true');
    statuses.release();
  });
});

test('a vote in one window is shown in another one, and they store it only a few times', async ({
  page,
  site,
  context,
}) => {
  const product = await site.addProduct({ name: 'Fernwood' });
  await visit(page, `/product/${product.id}`);
  const other = await context.newPage();
  await visit(other, `/product/${product.id}`);
  for (const each of [page, other]) {
    await expect(each.getByRole('region', { name: 'Network' }), 'the deferred features have loaded').toBeAttached();
    await each.evaluate(() => {
      window.storageEvents = 0;
      window.addEventListener('storage', () => {
        window.storageEvents += 1;
      });
    });
  }
  await upvoteOf(page, 'Fernwood').click();
  for (const each of [page, other]) await expectUpvote(each, 'Fernwood', { upvoted: true, count: 1 });
  await upvoteOf(other, 'Fernwood').click();
  for (const each of [page, other]) await expectUpvote(each, 'Fernwood', { upvoted: false, count: 0 });
  for (const each of [page, other]) expect(await each.evaluate(() => window.storageEvents)).toBeLessThan(10);
});

declare global {
  interface Window {
    /** The number of changes to local storage that other pages made. */
    storageEvents: number;
  }
}
