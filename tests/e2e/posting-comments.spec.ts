import { expect, test, visit } from '../support/e2e-test.ts';
import { newItemsButton, visitWithLiveUpdates } from '../support/live-page.ts';
import { failResponses, holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import {
  commentArticles,
  commentBox,
  commentTexts,
  commentWith,
  discussion,
  discussionTitle,
  failureToast,
  postButton,
  textsOf,
  toast,
} from '../support/screen.ts';

const POST = /\/api\/comments$/;

test.describe('§4, §5 and §6: posting a comment', () => {
  test('an empty or whitespace-only comment cannot be posted', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Juniper' });
    await visit(page, `/product/${product.id}`);
    const posted = recordRequests(page, POST, 'POST');
    await expect(postButton(page)).toHaveText('Post Comment');
    for (const text of ['', '   ', '\n\t \n']) {
      await commentBox(page).fill(text);
      await expect(postButton(page)).toBeDisabled();
      await commentBox(page).press('Control+Enter');
    }
    await commentBox(page).fill(' x ');
    await expect(postButton(page)).toBeEnabled();
    await requestsReported(page);
    expect(posted).toEqual([]);
    await commentBox(page).press('Control+Enter');
    await expect(commentTexts(page)).toHaveText(['x']);
    expect(posted).toHaveLength(1);
  });

  test('the button says ‘Posting...’ and is disabled until the response arrives, and then the comment appears', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Kauri' });
    await site.addComments(product.id, [{ content: 'Popular', likes: 50 }]);
    await visit(page, `/product/${product.id}`);
    const held = await holdResponses(page, POST, { method: 'POST' });
    await commentBox(page).fill('  Mighty tree,\nindeed \n');
    await postButton(page).click();
    await expect(postButton(page)).toHaveText('Posting...');
    await expect(postButton(page)).toBeDisabled();
    await expect.poll(() => held.requests.length).toBe(1);
    await expect(commentBox(page)).not.toHaveValue('');
    held.release();
    // One assertion, because the toast disappears after 5 s.
    await expect(toast(page).locator('p')).toHaveText(['Comment added!', 'Your comment has been posted successfully.']);
    await expect(commentBox(page)).toHaveValue('');
    await expect(postButton(page)).toHaveText('Post Comment');
    await expect(postButton(page)).toBeDisabled();
    await expect(commentTexts(page)).toHaveText(['Mighty tree,\nindeed', 'Popular'], { useInnerText: true });
    await expect(discussionTitle(page)).toHaveText('Discussion (2)');
    await expect(page.getByRole('link', { name: '2 comments', exact: true })).toBeVisible();

    const own = page.getByRole('article', { name: 'Comment by You' });
    await expect(own.locator('time')).toHaveText('Just now');
    await expect(own.locator('.badge')).toHaveCount(0);
    await expect(own.getByRole('button', { name: 'Like 0' })).toBeVisible();
    await expect(page.locator('.comment .avatar img').first()).toHaveAttribute('src', '/pictures/avatar-default.svg');

    await page.getByRole('link', { name: 'Back to products' }).click();
    await visit(page, '/?q=kauri');
    await expect(page.getByRole('link', { name: /^View Comments, 2/ })).toBeVisible();
    await page.goto(`/product/${product.id}`);
    await expect(commentTexts(page)).toHaveText(['Popular', 'Mighty tree,\nindeed'], { useInnerText: true });
  });

  test('the first comment replaces the text ‘No comments yet’', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Larch' });
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('First!');
    await commentBox(page).press('Control+Enter');
    await expect(commentTexts(page)).toHaveText(['First!']);
    await expect(discussionTitle(page)).toHaveText('Discussion (1)');
    await expect(page.getByText('No comments yet.')).toHaveCount(0);
  });

  test('a failure keeps the text and shows a destructive toast', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Maple' });
    await visit(page, `/product/${product.id}`);
    await failResponses(page, POST, { method: 'POST', status: 503 });
    await commentBox(page).fill('Sweet syrup ');
    await postButton(page).click();
    await expect(failureToast(page).locator('.toast-title')).toHaveText('Error');
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to add comment. Please try again.',
    );
    await expect(failureToast(page)).toHaveAttribute('data-tone', 'destructive');
    await expect(commentBox(page)).toHaveValue('Sweet syrup ');
    await expect(postButton(page)).toBeEnabled();
    await expect(commentArticles(page)).toHaveCount(0);
    await expect(discussionTitle(page)).toHaveText('Discussion (0)');
  });

  test('a double click posts one comment', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Nutmeg' });
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('Only once');
    await postButton(page).evaluate((button: HTMLButtonElement) => {
      button.click();
      button.click();
    });
    await expect(toast(page)).toHaveCount(1);
    await expect(commentTexts(page)).toHaveText(['Only once']);
    await page.reload();
    await expect(commentTexts(page)).toHaveText(['Only once']);
    await expect(discussionTitle(page)).toHaveText('Discussion (1)');
  });

  test('posting again after a lost response creates no second comment, unless the text is different', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_FAILED|ERR_CONNECTION/);
    const product = await site.addProduct({ name: 'Olive' });
    await visit(page, `/product/${product.id}`);
    const posted = recordRequests(page, POST, 'POST');
    await page.route(POST, async (route) => {
      // The server stores the comment, but the response is lost.
      await route.fetch();
      await route.abort();
    });
    await commentBox(page).fill('Green or black?');
    await postButton(page).click();
    await expect(failureToast(page)).toHaveCount(1);
    await page.unroute(POST);
    await postButton(page).click();
    await expect(toast(page).locator('.toast-title')).toHaveText('Comment added!');
    await expect(commentTexts(page)).toHaveText(['Green or black?']);
    await expect(discussionTitle(page)).toHaveText('Discussion (1)');
    await commentBox(page).fill('Black, I think');
    await postButton(page).click();
    await expect(commentTexts(page)).toHaveText(['Black, I think', 'Green or black?']);
    const keys = posted.map((request) => request.headers()['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toMatch(/\S{10}/);
    expect(keys[1]).toBe(keys[0]);
    expect(keys[2]).not.toBe(keys[0]);
    await page.reload();
    await expect(discussionTitle(page)).toHaveText('Discussion (2)');
  });

  test('a text that is too long cannot be posted, and the page shows how many characters are too many', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Poplar' });
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('🌳'.repeat(1_990));
    await expect(discussion(page).getByText('10 characters left')).toBeVisible();
    await expect(discussion(page).getByText('10 characters left'), 'is not announced').toHaveAttribute(
      'aria-busy',
      'true',
    );
    await commentBox(page).fill('🌳'.repeat(1_980));
    await expect(discussion(page).getByText('20 characters left'), 'is announced').toHaveAttribute(
      'aria-busy',
      'false',
    );
    await expect(postButton(page)).toBeEnabled();
    await commentBox(page).fill('🌳'.repeat(2_001));
    await expect(discussion(page).getByText('1 character too many')).toBeVisible();
    await expect(postButton(page)).toBeDisabled();
    await expect(commentBox(page)).toHaveAttribute('aria-invalid', 'true');
  });

  test('a paste that is cut because it is far too long is announced as too long', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Bramble' });
    await visit(page, `/product/${product.id}`);
    const counter = discussion(page).locator('.comment-form-left');
    await expect(counter, 'exists before it changes, so screen readers announce the change').toHaveText('');
    const texts = await textsOf(counter);
    await commentBox(page).focus();
    await page.keyboard.insertText('x'.repeat(12_000));
    await expect(commentBox(page)).toHaveValue('x'.repeat(10_000));
    await expect(counter).toBeVisible();
    await expect(counter).toHaveAttribute('aria-busy', 'false');
    expect(await texts()).toEqual(['', '8,000 characters too many']);
  });

  test('comments posted from this browser are marked, and other comments are not', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ruff' });
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('Mine indeed');
    await postButton(page).click();
    await expect(commentWith(page, 'Mine indeed').getByText('Posted from this browser')).toBeVisible();
    await site.addComments(product.id, [{ content: 'Theirs' }]);
    await page.reload();
    await expect(page.getByText('Posted from this browser')).toHaveCount(1);
  });
});

test.describe('with live updates', () => {
  test.use({ live: true });

  test('showing new comments does not take the focus from a comment that the visitor has begun to write in the meantime', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Dropwort' });
    await visitWithLiveUpdates(page, `/product/${product.id}`);
    await otherVisitor(page).comment(product.id, 'From afar');
    await expect(newItemsButton(page)).toHaveText('1 new comment');
    const held = await holdResponses(page, /\/comments\?/);
    await newItemsButton(page).click();
    await expect.poll(() => held.requests.length).toBe(1);
    await commentBox(page).click();
    await page.keyboard.type('Still ');
    held.release();
    await expect(commentTexts(page)).toHaveText(['From afar']);
    // The page moves the focus in the next frame.
    for (let frame = 0; frame < 2; frame += 1) await page.evaluate(() => new Promise(requestAnimationFrame));
    await page.keyboard.type('typing');
    await expect(commentBox(page)).toBeFocused();
    await expect(commentBox(page)).toHaveValue('Still typing');
  });
});
