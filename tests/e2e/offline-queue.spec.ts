import type { Page } from '@playwright/test';
import { expectAccessible } from '../support/axe.ts';
import { deleteProduct } from '../support/delete-products.ts';
import { expect } from '../support/e2e-test.ts';
import { failResponses, goOffline, goOnline, holdResponses, setOnline } from '../support/network.ts';
import {
  networkNotice,
  OFFLINE,
  skipFeatureDelay,
  offlineTest as test,
  visitAndCache,
  waitForDocuments,
} from '../support/offline-page.ts';
import { waitUntilHandled } from '../support/page-clock.ts';
import {
  commentBox,
  commentTexts,
  commentWith,
  expectUpvote,
  failureToast,
  postButton,
  textsOf,
  toast,
  upvoteOf,
} from '../support/screen.ts';

/** Posts comments on a page that is offline. */
async function queueComments(page: Page, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await commentBox(page).fill(text);
    await postButton(page).click();
    await expect(commentBox(page)).toHaveValue('');
  }
}

test('an upvote and a comment made offline survive a reload and are sent once', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/ERR_INTERNET_DISCONNECTED|ERR_FAILED/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Flounder' });
  await site.addUpvotes(product.id, 2);
  await visitAndCache(page, `/product/${product.id}`);
  await goOffline(page);
  for (const count of [3, 2, 3]) {
    await upvoteOf(page, 'Flounder').click();
    await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName(`Upvote Flounder, ${count}`);
  }
  await expect(toast(page).locator('.toast-title').last()).toHaveText('Waiting to be sent');
  await expect(networkNotice(page)).toHaveText(`${OFFLINE} 1 upvote is waiting to be sent.`);
  await commentBox(page).fill('Written on a train');
  await postButton(page).click();
  await expect(toast(page).locator('.toast-title').last()).toHaveText('Comment queued');
  await expect(commentBox(page)).toHaveValue('');
  await commentBox(page).fill('Regretted at once');
  await postButton(page).click();
  const queued = page.getByRole('region', { name: 'Comment queued' });
  await networkNotice(page).getByText('2 comments', { exact: true }).click();
  await expect(queued.getByRole('blockquote')).toHaveText(['Regretted at once', 'Written on a train']);
  await queued.filter({ hasText: 'Regretted' }).getByRole('button', { name: 'Discard' }).press('Enter');
  await expect(queued.getByRole('button', { name: 'Discard' }).last()).toBeFocused();
  const status = networkNotice(page).getByRole('status');
  const waiting = `${OFFLINE} 1 upvote and 1 comment are waiting to be sent.`;
  await expect(status).toHaveText(waiting);
  await expectAccessible(page, 'offline, with queued changes');

  await page.reload();
  await expect(status).toHaveText(waiting);
  await expect(networkNotice(page).locator('blockquote')).toHaveText('Written on a train');
  await expect(upvoteOf(page, 'Flounder')).toHaveAttribute('aria-pressed', 'true');
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 3');
  const sent: string[] = [];
  page.on('request', (request) => request.method() !== 'GET' && sent.push(request.method()));
  await site.addUpvotes(product.id, 4);
  const messages = await textsOf(page.getByRole('region', { name: 'Messages' }));
  await goOnline(page);
  await expect(commentWith(page, 'Written on a train')).toBeVisible();
  await expect(networkNotice(page)).toBeEmpty();
  await expect.poll(async () => (await messages()).join('\n')).toMatch(/Upvoted![\s\S]*Comment added!/);
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 7');
  await expect(upvoteOf(page, 'Flounder')).toHaveAttribute('aria-pressed', 'true');
  await page.reload();
  await expect(commentTexts(page)).toHaveText(['Written on a train']);
  await expect(upvoteOf(page, 'Flounder')).toHaveAccessibleName('Upvote Flounder, 7');
  expect(sent).toEqual(['PUT', 'POST']);
  const counts = await site.database.query('SELECT upvotes, comments FROM product_counts WHERE product_id = $1', [
    product.id,
  ]);
  expect(counts).toEqual([{ upvotes: 7, comments: 1 }]);
});

test('when the server refuses queued changes, the upvote is rolled back and the text of the comment is not lost', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Icefish' });
  await visitAndCache(page, `/product/${product.id}`);
  await goOffline(page);
  await upvoteOf(page, 'Icefish').click();
  await commentBox(page).fill('Too late');
  await postButton(page).click();
  await expect(networkNotice(page)).toContainText('1 upvote and 1 comment are waiting to be sent.');
  await deleteProduct(site.database, product.id);
  await goOnline(page);
  await expect(failureToast(page).locator('.toast-description')).toHaveText([
    'Failed to update upvote: Failed to add upvote: Product not found',
    'Failed to add comment. Please try again.',
  ]);
  const refused = page.getByRole('region', { name: 'Comment that was not posted' });
  await expect(refused).toContainText('was not posted: Product not found');
  await expect(refused).toContainText('Too late');
  await refused.getByRole('button', { name: 'Discard' }).press('Enter');
  await expect(networkNotice(page)).toBeEmpty();
  await expect(page.getByRole('main')).toBeFocused();
});

test('the buttons of a refused comment stay in place when another comment is refused', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Oarfish' });
  await visitAndCache(page, `/product/${product.id}`);
  await setOnline(page, false);
  await queueComments(page, ['Said first', 'Said second']);
  await deleteProduct(site.database, product.id);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/\/api\/comments$/, async (route) => {
    if (route.request().postData()?.includes('Said second')) await released;
    await route.continue();
  });
  await setOnline(page, true);
  const refused = page.getByRole('region', { name: 'Comment that was not posted' });
  await expect(refused).toHaveCount(1);
  const discard = refused.filter({ hasText: 'Said first' }).getByRole('button', { name: 'Discard' });
  const before = await discard.boundingBox();
  release();
  await expect(refused.getByRole('blockquote')).toHaveText(['Said second', 'Said first']);
  expect(await discard.boundingBox()).toEqual(before);

  await page.setViewportSize({ width: 390, height: 200 });
  const top = await page.evaluate(() => document.querySelector('.offline-note')?.getBoundingClientRect().top);
  expect(top, 'the notice covers at most two fifths of a low screen').toBeGreaterThanOrEqual(120);
  await discard.focus();
  await expect(discard).toBeInViewport({ ratio: 1 });
  await discard.press('Enter');
  await expect(refused.first().getByRole('button', { name: 'Try again' })).toBeFocused();
  await page.keyboard.press('Shift+Tab');
  await expect(refused.first().getByRole('blockquote')).toBeFocused();
});

test('the keyboard focus moves from a removed comment to another one, to the list or to the page', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/422/);
  await skipFeatureDelay(page);
  const product = await site.addProduct({ name: 'Bugloss' });
  await visitAndCache(page, `/product/${product.id}`);
  await setOnline(page, false);
  await queueComments(page, ['Refused', 'Being sent', 'Waiting']);
  const sent = await holdResponses(page, /\/comments$/, { method: 'POST' });
  await failResponses(page, /\/comments$/, { method: 'POST', times: 1, status: 422 });
  await setOnline(page, true);
  await expect.poll(() => sent.requests.length).toBe(1);
  const discard = (text: string) =>
    networkNotice(page).getByRole('region').filter({ hasText: text }).getByRole('button', { name: 'Discard' });
  await discard('Refused').press('Enter');
  await expect(networkNotice(page).locator('summary')).toBeFocused();
  await page.keyboard.press('Enter');
  await discard('Being sent').press('Enter');
  await expect(discard('Being sent'), 'disabled during its request').toBeDisabled();
  await discard('Waiting').press('Enter');
  await expect(discard('Being sent')).toBeFocused();
  sent.release();
  await expect(networkNotice(page)).toBeEmpty();
  await expect(page.getByRole('main')).toBeFocused();
});

test('if another attempt to send a refused comment fails temporarily, the comment is sent later without a click', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/422/);
  expectConsoleError(/503/);
  await skipFeatureDelay(page);
  await page.clock.install();
  const product = await site.addProduct({ name: 'Jack' });
  await visitAndCache(page, `/product/${product.id}`);
  await setOnline(page, false);
  await commentBox(page).fill('Third time lucky');
  await postButton(page).click();
  await expect(networkNotice(page)).toContainText('1 comment is waiting to be sent.');
  const outage = await failResponses(page, /\/comments$/, { method: 'POST', times: 2 });
  await failResponses(page, /\/comments$/, { method: 'POST', times: 1, status: 422 });
  await setOnline(page, true);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => outage.requests.length).toBe(1);
  await expect(networkNotice(page)).toContainText('1 comment is waiting to be sent.');
  const isSent = async () => {
    await page.clock.fastForward(30_000);
    return commentWith(page, 'Third time lucky').isVisible();
  };
  await expect.poll(isSent).toBe(true);
  expect(outage.requests).toHaveLength(2);
  await expect(networkNotice(page)).toBeEmpty();
});

test('a vote made offline stays on screen and queued until it is sent', async ({ page, site, expectConsoleError }) => {
  expectConsoleError(/503/);
  await skipFeatureDelay(page);
  await page.clock.install();
  const product = await site.addProduct({ name: 'Lumpfish' });
  await visitAndCache(page, `/product/${product.id}`);
  await setOnline(page, false);
  await upvoteOf(page, 'Lumpfish').click();
  await expect(networkNotice(page)).toContainText('1 upvote is waiting to be sent.');
  await site.addUpvotes(product.id, 2);
  await failResponses(page, /\/upvote$/, { method: 'PUT' });
  const status = page.waitForRequest(/\/api\/upvotes\?/);
  await setOnline(page, true);
  await waitUntilHandled(page, await status);
  await expectUpvote(page, 'Lumpfish', { upvoted: true, count: 3 });
  await expect(networkNotice(page)).toHaveText('1 upvote is waiting to be sent.');

  // The click removes the vote from the queue, which is then empty until the request fails.
  const outage = await failResponses(page, /\/upvote$/, { method: 'DELETE', held: true });
  await upvoteOf(page, 'Lumpfish').click();
  await expect.poll(() => outage.requests.length).toBe(1);
  await expect(networkNotice(page)).toBeEmpty();
  await page.clock.fastForward(30_000);
  await outage.deliver();
  await expect(networkNotice(page)).toHaveText('1 upvote is waiting to be sent.');
  await page.unroute(/\/upvote$/);
  await expect.poll(() => page.clock.fastForward(30_000).then(() => networkNotice(page).textContent())).toBe('');
  await expectUpvote(page, 'Lumpfish', { upvoted: true, count: 3 });
});

test('an upvote made offline before the deferred features load counts once', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Kingfish' });
  await visitAndCache(page, `/product/${product.id}`);
  await page.addInitScript((delayMs) => {
    const { setTimeout } = window;
    const released = new Promise((resolve) => window.addEventListener('deferred-due', resolve, { once: true }));
    const delay = (run: () => void, ms?: number, ...values: unknown[]) =>
      ms === delayMs ? void released.then(run) : setTimeout(run, ms, ...values);
    Object.assign(window, { setTimeout: delay });
  }, 3_000);
  // A cached copy would load the deferred features immediately.
  await waitForDocuments(page);
  await visitAndCache(page, `/product/${product.id}`);
  await goOffline(page);
  await upvoteOf(page, 'Kingfish').click();
  await expect(toast(page).locator('.toast-title')).toHaveText('Waiting to be sent');
  await expect(networkNotice(page), 'the deferred features have not loaded').toHaveCount(0);
  await page.evaluate(() => window.dispatchEvent(new Event('deferred-due')));
  await expect(networkNotice(page)).toHaveText(`${OFFLINE} 1 upvote is waiting to be sent.`);
  await expect(upvoteOf(page, 'Kingfish')).toHaveAccessibleName('Upvote Kingfish, 1');
});
