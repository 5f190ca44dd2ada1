import { test as base, expect, visit } from '../support/e2e-test.ts';
import { goOffline, goOnline, holdResponses, requestsReported } from '../support/network.ts';
import { networkNotice, OFFLINE, offlineTest, skipFeatureDelay, visitAndCache } from '../support/offline-page.ts';
import { withPendingWrites } from '../support/pending-write.ts';
import {
  commentBox,
  commentTexts,
  commentWith,
  discussionTitle,
  expectUpvote,
  postButton,
  toast,
  upvoteOf,
} from '../support/screen.ts';

const test = withPendingWrites(base);

test('a vote that reaches the server after the next page has read its state is shown', async ({
  page,
  site,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Ashwood' });
  await visit(page, `/product/${product.id}`);
  const click = () => upvoteOf(page, 'Ashwood').click();
  await whilePending(click, async () => {
    await page.reload({ waitUntil: 'commit' });
    await expectUpvote(page, 'Ashwood', { upvoted: false, count: 0 });
  });
  await expectUpvote(page, 'Ashwood', { upvoted: true, count: 1 });
});

test('a vote that was pending when the page was left is shown even if the next page sends another vote', async ({
  page,
  site,
  whilePending,
}) => {
  await site.addProduct({ name: 'Bonewood One' });
  await site.addProduct({ name: 'Bonewood Two' });
  await visit(page, '/?q=Bonewood');
  const click = () => upvoteOf(page, 'Bonewood One').click();
  await whilePending(click, async () => {
    await page.reload({ waitUntil: 'commit' });
    await expectUpvote(page, 'Bonewood One', { upvoted: false, count: 0 });
  });
  await upvoteOf(page, 'Bonewood Two').click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
  await expectUpvote(page, 'Bonewood One', { upvoted: true, count: 1 });
});

test('a vote that is pending when the page is left is shown before the next page has read its state', async ({
  page,
  site,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Cottonwood' });
  await visit(page, `/product/${product.id}`);
  const click = () => upvoteOf(page, 'Cottonwood').click();
  await whilePending(click, async () => {
    const statuses = await holdResponses(page, /\/api\/upvotes\?/);
    await page.reload({ waitUntil: 'commit' });
    await expect.poll(() => statuses.requests.length).toBeGreaterThan(0);
    await expect(upvoteOf(page, 'Cottonwood')).toHaveAttribute('aria-pressed', 'true');
    statuses.release();
  });
});

test('a vote that is taken back while it is pending is also withdrawn if the visitor leaves', async ({
  page,
  site,
  siteProxy,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Pinesap' });
  await visit(page, `/product/${product.id}`);
  const click = () => upvoteOf(page, 'Pinesap').click();
  await whilePending(click, async () => {
    await click();
    await expectUpvote(page, 'Pinesap', { upvoted: false, count: 0 });
    await page.goto('about:blank');
    await expect.poll(siteProxy.heldRequests).toBe(2);
  });
});

test('likes that wait for an earlier one are sent if the visitor leaves', async ({
  page,
  site,
  siteProxy,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Whitebeam' });
  await site.addComments(product.id, [{ content: 'Pale leaves', likes: 4 }]);
  await visit(page, `/product/${product.id}`);
  const like = commentWith(page, 'Pale leaves').getByRole('button', { name: /^Like/ });
  const click = () => like.click();
  await whilePending(click, async () => {
    await click();
    await click();
    await expect(like).toHaveAccessibleName('Like 7');
    await page.goto('about:blank');
    await expect.poll(siteProxy.heldRequests).toBe(3);
  });
  await expect
    .poll(() => site.database.query('SELECT likes FROM comments WHERE product_id = $1', [product.id]))
    .toEqual([{ likes: 7 }]);
});

test('a comment that was pending when the page was left counts once if it is posted again', async ({
  page,
  site,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Driftwood' });
  await visit(page, `/product/${product.id}`);
  await commentBox(page).fill('Washed ashore');
  const post = () => postButton(page).click();
  await whilePending(post, async () => {
    await page.reload({ waitUntil: 'commit' });
  });
  // For a second, the cache may serve a page without the comment.
  const html = async () => (await page.request.get(`/product/${product.id}`)).text();
  await expect.poll(html).toContain('Washed ashore');
  await page.reload();
  await expect(commentTexts(page)).toHaveText(['Washed ashore']);
  await expect(commentBox(page)).toHaveValue('Washed ashore');
  await postButton(page).click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Comment added!');
  await expect(commentBox(page)).toHaveValue('');
  await expect(discussionTitle(page)).toHaveText('Discussion (1)');
  await expect(page.getByText('Posted from this browser')).toBeVisible();
});

test('a comment that is stored after the server rendered the next page is shown on that page', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Cedarwood' });
  await visit(page, `/product/${product.id}`);
  await page.route(`/product/${product.id}`, async (route) => {
    const response = await route.fetch();
    const body = await response.body();
    await site.addComments(product.id, [{ content: 'Just in time' }]);
    await route.fulfill({ response, body });
  });
  // Simulates a write of the previous page that completes while this page loads.
  await page.evaluate(() => sessionStorage.setItem('write_settled', String(Date.now() + 60_000)));
  await page.reload();
  await expect(commentTexts(page)).toHaveText(['Just in time']);
  await expect(discussionTitle(page)).toHaveText('Discussion (1)');
});

test('the button says ‘Posting...’ when the visitor returns to the product while the comment is pending', async ({
  page,
  site,
  whilePending,
}) => {
  const product = await site.addProduct({ name: 'Elmwood' });
  await visit(page, `/product/${product.id}`);
  await commentBox(page).fill('Hard to split');
  const post = () => postButton(page).click();
  await whilePending(post, async () => {
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toBeFocused();
    await page.goBack();
    await expect(postButton(page)).toHaveText('Posting...');
    await expect(postButton(page)).toBeDisabled();
    await expect(commentBox(page)).not.toBeEditable();
  });
  await expect(commentTexts(page)).toHaveText(['Hard to split']);
  await expect(postButton(page)).toHaveText('Post Comment');
  await expect(commentBox(page)).toBeEditable();
});

test('the button says ‘Posting...’ while the code that posts the comment loads', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Firwood' });
  const code = await holdResponses(page, /\/assets\/write-comments-/);
  await visit(page, `/product/${product.id}`);
  await commentBox(page).fill('Full of resin');
  await postButton(page).click();
  await expect(postButton(page)).toHaveText('Posting...');
  await expect(postButton(page)).toBeDisabled();
  code.release();
  await expect(commentTexts(page)).toHaveText(['Full of resin']);
  await expect(postButton(page)).toHaveText('Post Comment');
});

withPendingWrites(offlineTest)(
  'a vote made offline is shown in every tab, even while one of them sends it',
  async ({ page, site, whilePending, expectConsoleError }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
    const product = await site.addProduct({ name: 'Gurnard' });
    const tabs = [page, await page.context().newPage()];
    for (const tab of tabs) {
      await skipFeatureDelay(tab);
      await visitAndCache(tab, `/product/${product.id}`);
    }
    for (const tab of tabs) await goOffline(tab);
    await upvoteOf(page, 'Gurnard').click();
    for (const tab of tabs) {
      await expect(networkNotice(tab)).toHaveText(`${OFFLINE} 1 upvote is waiting to be sent.`);
      await expectUpvote(tab, 'Gurnard', { upvoted: true, count: 1 });
    }
    const reads: string[] = [];
    const reconnect = async () => {
      for (const tab of tabs) tab.on('request', (request) => reads.push(new URL(request.url()).pathname));
      for (const tab of tabs) await goOnline(tab);
    };
    await whilePending(reconnect, async () => {
      for (const tab of tabs) {
        await expect(networkNotice(tab)).toHaveText('1 upvote is waiting to be sent.');
        await requestsReported(tab);
        await expectUpvote(tab, 'Gurnard', { upvoted: true, count: 1 });
      }
      expect(reads, 'no tab reads the vote before it is sent').not.toContain('/api/upvotes');
    });
    for (const tab of tabs) {
      await expect(networkNotice(tab)).toBeEmpty();
      await expectUpvote(tab, 'Gurnard', { upvoted: true, count: 1 });
    }
  },
);

test('a vote in one window is shown in another one, and the windows write to storage only a few times', async ({
  page,
  site,
  context,
}) => {
  const product = await site.addProduct({ name: 'Fernwood' });
  const other = await context.newPage();
  for (const each of [page, other]) {
    await skipFeatureDelay(each);
    await visit(each, `/product/${product.id}`);
  }
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
