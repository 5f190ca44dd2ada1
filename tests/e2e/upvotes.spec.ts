import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { elapseUntil, waitUntilHandled } from '../support/page-clock.ts';
import { expectUpvote, failureToast, toast, upvoteOf } from '../support/screen.ts';
import { recordWarnings } from '../support/warnings.ts';

const UPVOTE = /\/api\/products\/[^/]+\/upvote$/;

const colourOf = (page: Page, name: string) =>
  upvoteOf(page, name).evaluate((button) => {
    for (const animation of button.getAnimations()) animation.finish();
    return getComputedStyle(button).backgroundColor;
  });

test.describe('§4 and §8: upvotes', () => {
  test('a click upvotes before the server responds, then a toast confirms it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Anemone' });
    await site.addUpvotes(product.id, 4);
    await visit(page, `/product/${product.id}`);
    await expectUpvote(page, 'Anemone', { upvoted: false, count: 4 });
    const plain = await colourOf(page, 'Anemone');
    const held = await holdResponses(page, UPVOTE, { method: 'PUT' });
    await upvoteOf(page, 'Anemone').click();
    await expect.poll(() => held.requests.length).toBe(1);
    await expectUpvote(page, 'Anemone', { upvoted: true, count: 5 });
    await expect(toast(page), 'no toast before the response').toHaveCount(0);
    held.release();
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
    await expect(toast(page).locator('.toast-description')).toHaveText('Thanks for your support!');
    await expectUpvote(page, 'Anemone', { upvoted: true, count: 5 });
    expect(await colourOf(page, 'Anemone'), 'an upvoted product is highlighted').not.toBe(plain);
  });

  test('a second click removes the upvote before the server responds, then a toast confirms it', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Barnacle' });
    await site.addUpvotes(product.id, 2);
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Barnacle').click();
    await toast(page).getByRole('button', { name: 'Dismiss' }).click();
    const held = await holdResponses(page, UPVOTE, { method: 'DELETE' });
    await upvoteOf(page, 'Barnacle').click();
    await expect.poll(() => held.requests.length).toBe(1);
    await expectUpvote(page, 'Barnacle', { upvoted: false, count: 2 });
    held.release();
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvote removed');
    await expect(toast(page).locator('.toast-description')).toHaveText('Upvote removed successfully');
    const rows = await site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
    expect(rows).toHaveLength(2);
  });

  test('a failed upvote is rolled back with a destructive toast', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Crab' });
    await site.addUpvotes(product.id, 1);
    await visit(page, `/product/${product.id}`);
    await failResponses(page, UPVOTE, { method: 'PUT' });
    await upvoteOf(page, 'Crab').click();
    await expect(failureToast(page).locator('.toast-title')).toHaveText('Error');
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to update upvote: Failed to add upvote: The database cannot be reached',
    );
    await expect(failureToast(page)).toHaveAttribute('data-tone', 'destructive');
    // The focus keeps the toast open while its distances from the edges of the screen are measured.
    await failureToast(page).getByRole('button', { name: 'Dismiss' }).focus();
    const distances = () =>
      failureToast(page).evaluate((element) => {
        const { left, top, right, bottom, width } = element.getBoundingClientRect();
        const { clientWidth, clientHeight } = document.documentElement;
        return { left, top, right: clientWidth - right, bottom: clientHeight - bottom, width };
      });
    await expect.poll(distances, 'top right of a desktop screen').toMatchObject({ top: 24, right: 16, width: 400 });
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(distances, 'at the bottom of a phone').toMatchObject({ left: 16, right: 16, bottom: 16 });
    await expectUpvote(page, 'Crab', { upvoted: false, count: 1 });
    await expect(toast(page)).toHaveCount(0);
  });

  test('a failed removal restores the upvote', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Dulse' });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Dulse').click();
    await expect(toast(page)).toHaveCount(1);
    await failResponses(page, UPVOTE, { method: 'DELETE' });
    await upvoteOf(page, 'Dulse').click();
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to update upvote: Failed to remove upvote: The database cannot be reached',
    );
    await expectUpvote(page, 'Dulse', { upvoted: true, count: 1 });
  });

  test('an upvote that cannot reach the server is rolled back, and a destructive toast appears', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED/);
    const product = await site.addProduct({ name: 'Eelgrass' });
    // The page loads this code after hydration.
    const code = [/\/assets\/writes-/, /\/assets\/toast-list-/].map((url) =>
      page.waitForEvent('requestfinished', (request) => url.test(request.url())),
    );
    await visit(page, `/product/${product.id}`);
    await Promise.all(code);
    await page.context().setOffline(true);
    await upvoteOf(page, 'Eelgrass').click();
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to update upvote: Failed to add upvote: The server could not be reached',
    );
    await expectUpvote(page, 'Eelgrass', { upvoted: false, count: 0 });
  });

  test('the list and the product page show the same state, even after a reload', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Fucus' });
    await visit(page, '/?q=fucus');
    await upvoteOf(page, 'Fucus').click();
    await expect(toast(page)).toHaveCount(1);
    await expectUpvote(page, 'Fucus', { upvoted: true, count: 1 });
    await expect(page, 'upvoting does not open the product').toHaveURL('/?q=fucus');
    await page.getByRole('link', { name: 'Fucus', exact: true }).click();
    await expect(page).toHaveURL(`/product/${product.id}`);
    await expectUpvote(page, 'Fucus', { upvoted: true, count: 1 });
    await page.reload();
    await expectUpvote(page, 'Fucus', { upvoted: true, count: 1 });
    await upvoteOf(page, 'Fucus').click();
    await expectUpvote(page, 'Fucus', { upvoted: false, count: 0 });
    await expect(toast(page)).toHaveCount(1);
    await visit(page, '/?q=fucus');
    await expectUpvote(page, 'Fucus', { upvoted: false, count: 0 });
  });

  test('after quick clicks, the state is that of the last click and the count is exact', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Goby' });
    await site.addUpvotes(product.id, 3);
    await visit(page, `/product/${product.id}`);
    const asked = recordRequests(page, UPVOTE, 'PUT');
    await upvoteOf(page, 'Goby').evaluate((button: HTMLButtonElement) => {
      for (let clicks = 0; clicks < 7; clicks += 1) button.click();
    });
    await expect.poll(() => asked.length).toBe(4);
    await expectUpvote(page, 'Goby', { upvoted: true, count: 4 });
    await expect
      .poll(() => site.database.query('SELECT upvotes FROM product_counts WHERE product_id = $1', [product.id]))
      .toEqual([{ upvotes: 4 }]);
    await page.reload();
    await expectUpvote(page, 'Goby', { upvoted: true, count: 4 });
  });

  test('two visitors add two upvotes, and each sees their own state', async ({ page, site, newVisitor }) => {
    const product = await site.addProduct({ name: 'Betony' });
    const other = await newVisitor();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Betony').click();
    await expect(toast(page)).toHaveCount(1);
    // The cache may serve a slightly older page to everyone except the writer.
    await expect(async () => {
      await visit(other, `/product/${product.id}`);
      expect(await upvoteOf(other, 'Betony').textContent()).toContain('1');
    }).toPass();
    await expectUpvote(other, 'Betony', { upvoted: false, count: 1 });
    await upvoteOf(other, 'Betony').click();
    await expect(toast(other)).toHaveCount(1);
    await expectUpvote(other, 'Betony', { upvoted: true, count: 2 });
    await expect(async () => {
      await page.reload();
      expect(await upvoteOf(page, 'Betony').textContent()).toContain('2');
    }).toPass();
    await expectUpvote(page, 'Betony', { upvoted: true, count: 2 });
  });

  test('the upvote works by keyboard', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Isopod' });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Isopod').press('Space');
    await expectUpvote(page, 'Isopod', { upvoted: true, count: 1 });
    await upvoteOf(page, 'Isopod').press('Enter');
    await expectUpvote(page, 'Isopod', { upvoted: false, count: 0 });
  });
});

test.describe('§8 and §9: the upvote status', () => {
  test('defaults to ‘not upvoted’ after a failed request and a failed retry 1 s later, and the failure is only logged', async ({
    page,
    site,
    expectConsoleError,
    pauseClock,
  }) => {
    expectConsoleError(/503/);
    const warnings = recordWarnings(page);
    const product = await site.addProduct({ name: 'Avens' });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Avens').click();
    await expect(toast(page)).toHaveCount(1);
    await page.clock.install();
    await pauseClock();
    const failed = await failResponses(page, /\/api\/upvotes\?/, { held: true });
    await page.reload();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.deliver();
    await elapseUntil(page, () => failed.requests.length === 2);
    expect(await failed.delays()).toEqual([expect.closeTo(1_000, -1)]);
    await failed.deliver();
    await page.clock.resume();
    await expect.poll(() => warnings).toContain('Failed to check upvote status: The database cannot be reached');
    await expectUpvote(page, 'Avens', { upvoted: false, count: 1 });
    await page.clock.fastForward(60_000);
    await requestsReported(page);
    expect(failed.requests).toHaveLength(2);
    await expect(failureToast(page)).toHaveCount(0);
  });

  test('is refetched after 5 s but not earlier, with one request for all products of a list', async ({
    page,
    site,
    pauseClock,
  }) => {
    await site.addProducts(3, (index) => ({ name: `Nautilus ${index}` }));
    await page.clock.install();
    const asked = recordRequests(page, /\/api\/upvotes\?/);
    await visit(page, '/?q=nautilus');
    await expect(upvoteOf(page, 'Nautilus 2')).toBeVisible();
    expect(asked).toHaveLength(1);
    const productsOf = (url: string) => new URL(url).searchParams.get('products')?.split(',') ?? [];
    expect(productsOf(asked[0]?.url() ?? '')).toHaveLength(3);
    await waitUntilHandled(page, asked[0]);

    const toProductAndBack = async () => {
      await page.getByRole('link', { name: 'Nautilus 1', exact: true }).click();
      await expect(page.getByRole('heading', { level: 1, name: 'Nautilus 1' })).toBeVisible();
      await page.goBack();
      await expect(upvoteOf(page, 'Nautilus 2')).toBeVisible();
    };
    await pauseClock();
    const before = asked.length;
    await page.clock.fastForward(6_000);
    await toProductAndBack();
    await page.clock.runFor(10);
    await expect.poll(() => asked.length, 'stale after 5 s').toBeGreaterThan(before);
    await Promise.all(asked.map((request) => request.response()));
    await page.clock.runFor(10);
    await requestsReported(page);
    const settled = asked.length;
    await toProductAndBack();
    await page.clock.runFor(10);
    await requestsReported(page);
    expect(asked, 'fresh for 5 s').toHaveLength(settled);
  });
});

test.describe('§4: the vote after a reload', () => {
  test('is shown before the app loads, and not only by colour', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Kestrel' });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Kestrel').click();
    await expect(toast(page)).toBeVisible();
    // Holds the app's script, so only the code in the document can show the vote.
    await page.route(/\/assets\/app-/, () => {});
    await page.reload({ waitUntil: 'commit' });
    const tick = () =>
      upvoteOf(page, 'Kestrel').evaluate((button) => [
        getComputedStyle(button, '::after').content,
        getComputedStyle(button).borderColor === getComputedStyle(button, '::before').backgroundColor,
      ]);
    await expect.poll(tick).toEqual(['""', true]);
    await expect(upvoteOf(page, 'Kestrel')).toHaveAttribute('aria-pressed', 'true');
    await expect(upvoteOf(page, 'Kestrel')).toHaveAttribute('title', 'Remove upvote');
  });

  test('is not shown if another tab withdraws it before the app runs', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Hobby' });
    // This page runs no app, which would correct the stored votes.
    await page.goto('/robots.txt');
    await page.evaluate((id) => localStorage.setItem('upvoted', JSON.stringify([id])), product.id);
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await expectUpvote(page, 'Hobby', { upvoted: true, count: 0 });
    await page.evaluate(() => localStorage.setItem('upvoted', '[]'));
    scripts.release();
    await expect(upvoteOf(page, 'Hobby')).not.toHaveAttribute('data-voted');
    await expectUpvote(page, 'Hobby', { upvoted: false, count: 0 });
  });

  test('is corrected to the server’s state', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Caracara' });
    await visit(page, `/product/${product.id}`);
    await page.evaluate((id) => localStorage.setItem('upvoted', JSON.stringify([id])), product.id);
    await visit(page, `/product/${product.id}`);
    await expectUpvote(page, 'Caracara', { upvoted: false, count: 0 });
    await expect(upvoteOf(page, 'Caracara')).not.toHaveAttribute('data-voted');
    await expect.poll(() => page.evaluate(() => localStorage.getItem('upvoted'))).toBe('[]');
  });
});
