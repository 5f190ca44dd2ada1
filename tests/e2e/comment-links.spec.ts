import { randomUUID } from 'node:crypto';
import { LIMITS } from '../../src/contract/limits.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, requestsReported } from '../support/network.ts';
import { waitUntilHandled } from '../support/page-clock.ts';
import { commentArticles, commentTexts, commentWith, discussion, sortBy, toast } from '../support/screen.ts';

test.describe('the URL of a comment', () => {
  test('opens the product with the comment focused and highlighted, even on a later page of comments', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Knot' });
    const peeps = Array.from({ length: 70 }, (_, index) => ({ content: `Peep ${index}`, likes: 100 - index }));
    const last = (await site.addComments(product.id, peeps)).at(-1);
    await visit(page, `/product/${product.id}#comment-${last?.id}`);
    const found = page.locator(`#comment-${last?.id}`);
    await expect(found).toBeFocused();
    await expect(found).toBeInViewport();
    await expect(found).toHaveAttribute('data-highlighted', 'true');
    // The colour fades even if the visitor prefers reduced motion, as in these tests.
    await expect(found).toHaveCSS('animation-duration', '2.4s');
  });

  test('is linked from the age of the comment, and clicking that link copies the URL', async ({
    page,
    site,
    context,
  }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const product = await site.addProduct({ name: 'Whinchat' });
    const [comment] = await site.addComments(product.id, [{ content: 'Run `npm ci`:\n```sh\nnpm ci\n```' }]);
    await visit(page, `/product/${product.id}`);
    await expect(commentWith(page, 'Run').locator('code')).toHaveText(['npm ci', 'npm ci']);
    const link = commentWith(page, 'Run').locator('.comment-link');
    // The code that copies the URL loads a few seconds after the page.
    await expect(async () => {
      await link.click();
      await expect(toast(page)).toContainText('Link copied', { timeout: 1_000 });
    }).toPass();
    await expect(page).toHaveURL(`/product/${product.id}#comment-${comment?.id}`);
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
  });

  test('leads to a comment that the list on screen has not loaded yet, even if the list is not in the default order', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Wheatear' });
    const calls = Array.from({ length: 40 }, (_, index) => ({
      content: `Call ${index}`,
      likes: 40 - index,
      createdAt: new Date(Date.now() - (index + 1) * 60_000).toISOString(),
    }));
    const [newest] = await site.addComments(product.id, calls);
    await visit(page, `/product/${product.id}`);
    await sortBy(page).selectOption('oldest');
    await expect(commentTexts(page).first()).toHaveText('Call 39');
    await expect(commentArticles(page)).toHaveCount(LIMITS.pageSize.default);
    await sortBy(page).blur();
    await page.evaluate((id) => {
      window.location.hash = `#comment-${id}`;
    }, newest?.id);
    await expect(page.locator(`#comment-${newest?.id}`)).toBeFocused();
    await expect(toast(page)).toHaveCount(0);
  });

  test('does nothing on another product that the visitor opened while the code for it loaded', async ({
    page,
    site,
  }) => {
    const [older, newer] = await site.addProducts(2, (index) => ({ name: `Dunnock ${index}` }));
    const code = await holdResponses(page, /\/assets\/(?:show-comment|deferred-features)-/);
    await visit(page, `/product/${newer?.id}#comment-${randomUUID()}`);
    await expect.poll(() => code.received).toBeGreaterThan(0);
    await page.getByRole('button', { name: /^Next/ }).click();
    const title = page.getByRole('heading', { level: 1, name: String(older?.name) });
    await expect(title).toBeFocused();
    code.release();
    for (const request of code.requests) await waitUntilHandled(page, request);
    await requestsReported(page);
    await expect(toast(page)).toHaveCount(0);
    await expect(title).toBeFocused();
  });

  test('keeps the focus on the comment if its link on a later page of the list leads to the first page', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Curlew' });
    const calls = Array.from({ length: 40 }, (_, index) => ({ content: `Call ${index}`, likes: 40 - index }));
    await site.addComments(product.id, calls);
    await visit(page, `/product/${product.id}`);
    const more = await page.getByRole('link', { name: 'Show more comments' }).getAttribute('href');
    await visit(page, String(more));
    const read = await holdResponses(page, /\/comments\?/);
    await commentWith(page, 'Call 35').locator('.comment-link').click();
    await expect.poll(() => read.received).toBe(1);
    await expect(page).toHaveURL(/\/product\/[^?]+#comment-/);
    read.release();
    await expect(commentTexts(page).first()).toHaveText('Call 0');
    await expect(discussion(page).getByRole('listitem').filter({ hasText: 'Call 35' })).toBeFocused();
  });
});
