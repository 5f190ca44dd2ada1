import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses } from '../support/network.ts';
import { commentWith, failureToast, toast } from '../support/screen.ts';
import { recordWarnings } from '../support/warnings.ts';

test.describe('§4 and §8: likes', () => {
  const LIKE = /\/api\/comments\/[^/]+\/like$/;

  test('each click immediately adds one like', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Quince' });
    await site.addComments(product.id, [{ content: 'Sour', likes: 4 }]);
    await visit(page, `/product/${product.id}`);
    const like = commentWith(page, 'Sour').getByRole('button', { name: /^Like/ });
    await expect(like).toHaveAttribute('title', 'Like');
    const held = await holdResponses(page, LIKE, { method: 'POST' });
    await like.click();
    await expect.poll(() => held.requests.length).toBe(1);
    await expect(like).toHaveAccessibleName('Like 5');
    await like.click();
    await like.click();
    await expect(like).toHaveAccessibleName('Like 7');
    held.release();
    await expect.poll(() => held.requests.length).toBe(3);
    await expect
      .poll(() => site.database.query('SELECT likes FROM comments WHERE product_id = $1', [product.id]))
      .toEqual([{ likes: 7 }]);
    await expect(like).toHaveAccessibleName('Like 7');
    await page.reload();
    await expect(like).toHaveAccessibleName('Like 7');
    await expect(toast(page)).toHaveCount(0);
  });

  test('a failed like is rolled back and logged, without a message to the visitor', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    const warnings = recordWarnings(page);
    const product = await site.addProduct({ name: 'Rowan' });
    await site.addComments(product.id, [{ content: 'Red berries', likes: 4 }]);
    await visit(page, `/product/${product.id}`);
    await failResponses(page, LIKE, { method: 'POST' });
    const like = commentWith(page, 'Red berries').getByRole('button', { name: /^Like/ });
    await like.click();
    await expect.poll(() => warnings).toEqual(['Failed to update likes']);
    await expect(like).toHaveAccessibleName('Like 4');
    await expect(toast(page)).toHaveCount(0);
    await expect(failureToast(page)).toHaveCount(0);
  });
});
