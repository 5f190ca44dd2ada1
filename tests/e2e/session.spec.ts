import { SESSION_STORAGE_KEY } from '../../src/contract/api.ts';
import { blockStorage } from '../support/browser-storage.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { expectUpvote, toast, upvoteOf } from '../support/screen.ts';

test.describe('§3: the anonymous visitor', () => {
  const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

  test('has a random id in local storage under user_session, which is the same on every visit', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Jellyfish' });
    await visit(page, `/product/${product.id}`);
    const stored = () => page.evaluate((key) => localStorage.getItem(key), SESSION_STORAGE_KEY);
    const session = await stored();
    expect(SESSION_STORAGE_KEY).toBe('user_session');
    expect(session).toMatch(new RegExp(`^session-${UUID}$`));
    await upvoteOf(page, 'Jellyfish').click();
    await expect(toast(page)).toHaveCount(1);
    await page.reload();
    expect(await stored()).toBe(session);
    const rows = await site.database.query('SELECT user_session FROM upvotes WHERE product_id = $1', [product.id]);
    expect(rows).toEqual([{ user_session: session }]);
  });

  test('can upvote with storage blocked, with the same id until the page closes', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Milkwort' });
    await blockStorage(page);
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Milkwort').click();
    await expectUpvote(page, 'Milkwort', { upvoted: true, count: 1 });
    await expect(toast(page)).toHaveCount(1);
    await upvoteOf(page, 'Milkwort').click();
    await expectUpvote(page, 'Milkwort', { upvoted: false, count: 0 });
    await upvoteOf(page, 'Milkwort').click();
    await expect
      .poll(() => site.database.query('SELECT user_session FROM upvotes WHERE product_id = $1', [product.id]))
      .toEqual([{ user_session: expect.stringMatching(/^fallback-session-\d{13}$/) }]);
  });
});
