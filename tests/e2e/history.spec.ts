import { expect, test, visit } from '../support/e2e-test.ts';
import { cardOf, commentTexts, discussion, toast, upvoteOf } from '../support/screen.ts';

test.describe('back and forward between documents', () => {
  test('show what the visitor did since they were read', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Wanderer' });
    await visit(page, '/?q=wanderer');
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 0');
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Wanderer').click();
    await expect(toast(page)).toHaveCount(1);
    await page.getByRole('textbox', { name: 'Your comment' }).fill('Written before going back');
    await page.getByRole('button', { name: 'Post Comment' }).click();
    await expect(commentTexts(page)).toHaveText(['Written before going back']);
    await expect(toast(page)).toHaveCount(2);

    await page.goBack();
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 1');
    await expect(upvoteOf(page, 'Wanderer')).toHaveAttribute('aria-pressed', 'true');
    await expect(cardOf(page, 'Wanderer').getByTitle('View Comments')).toHaveAccessibleName(/^View Comments, 1/);

    await page.goForward();
    await expect(commentTexts(page)).toHaveText(['Written before going back']);
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 1');
  });

  test('show a page that was frozen alive as it is now', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Sleeper' });
    await visit(page, `/product/${product.id}`);
    await site.addUpvotes(product.id, 2);
    await site.addComments(product.id, [{ content: 'Written meanwhile' }]);
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await expect(upvoteOf(page, 'Sleeper')).toHaveAccessibleName('Upvote Sleeper, 2');
    await expect(commentTexts(page)).toHaveText(['Written meanwhile']);
    await expect(discussion(page).getByRole('heading', { level: 2 })).toHaveText('Discussion (1)');
    await expect(page.getByRole('link', { name: '1 comment', exact: true })).toBeVisible();
  });
});
