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

  for (const [status, words] of [
    [503, 'Failed to update likes'],
    [404, 'Comment not found'],
  ] as const) {
    test(`a failed like (${status}) is rolled back and logged as ‘${words}’, without a message to the visitor`, async ({
      page,
      site,
      expectConsoleError,
    }) => {
      expectConsoleError(new RegExp(String(status)));
      const warnings = recordWarnings(page);
      const product = await site.addProduct({ name: 'Rowan' });
      await site.addComments(product.id, [{ content: 'Red berries', likes: 4 }]);
      await visit(page, `/product/${product.id}`);
      await failResponses(page, LIKE, { method: 'POST', status });
      const like = commentWith(page, 'Red berries').getByRole('button', { name: /^Like/ });
      await like.click();
      await expect.poll(() => warnings).toEqual([words]);
      await expect(like).toHaveAccessibleName('Like 4');
      await expect(toast(page)).toHaveCount(0);
      await expect(failureToast(page)).toHaveCount(0);
    });
  }

  test('a like that gets no response is logged as ‘Failed to fetch comment’', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_FAILED/);
    const warnings = recordWarnings(page);
    const product = await site.addProduct({ name: 'Spruce' });
    await site.addComments(product.id, [{ content: 'Needles', likes: 1 }]);
    await visit(page, `/product/${product.id}`);
    await page.route(LIKE, (route) => route.abort());
    const like = commentWith(page, 'Needles').getByRole('button', { name: /^Like/ });
    await like.click();
    await expect.poll(() => warnings).toEqual(['Failed to fetch comment']);
    await expect(like).toHaveAccessibleName('Like 1');
  });
});
