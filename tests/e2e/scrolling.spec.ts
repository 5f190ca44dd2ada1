import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { newItemsButton, visitWithLiveUpdates } from '../support/live-page.ts';
import { holdResponses } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { commentArticles, commentTexts, searchBox } from '../support/screen.ts';

const APP = /\/assets\/app-[^/]+\.js$/;

const scrollY = (page: Page) => page.evaluate(() => Math.round(window.scrollY));

const scrollTo = (page: Page, top: number) =>
  page.evaluate((to) => window.scrollTo({ top: to, behavior: 'instant' }), top);

test.describe('before the app has loaded', () => {
  for (const [what, act, top] of [
    ['scrolls', (page: Page) => scrollTo(page, 300), 300],
    ['begins to type', (page: Page) => searchBox(page).focus(), 0],
  ] as const) {
    test(`a reload does not restore the scroll position if the visitor ${what}`, async ({ page }) => {
      await visit(page, '/');
      await scrollTo(page, 700);
      await expect.poll(() => scrollY(page)).toBe(700);
      const scripts = await holdResponses(page, APP);
      await page.reload({ waitUntil: 'domcontentloaded' });
      await expect.poll(() => scripts.requests.length).toBe(1);
      await act(page);
      const hydrated = page.waitForRequest(/\/api\/upvotes\?/);
      scripts.release();
      await hydrated;
      expect(await scrollY(page)).toBe(top);
    });
  }

  for (const what of ['the comments', 'a comment'] as const) {
    test(`a visitor who follows a link to ${what} and then scrolls away keeps the new scroll position`, async ({
      page,
      site,
    }) => {
      const product = await site.addProduct({ name: 'Plover', description: 'Runs along.\n'.repeat(80) });
      const [comment] = await site.addComments(product.id, [{ content: 'Whistles' }]);
      await page.clock.install();
      const scripts = await holdResponses(page, APP);
      const hash = what === 'a comment' ? `#comment-${comment?.id}` : '#comments';
      await page.goto(`/product/${product.id}${hash}`, { waitUntil: 'domcontentloaded' });
      await expect.poll(() => scripts.requests.length).toBe(1);
      await expect.poll(() => scrollY(page), 'the browser scrolls there').toBeGreaterThan(300);
      await scrollTo(page, 300);
      const hydrated = page.waitForRequest(/\/api\/upvotes\?/);
      scripts.release();
      await hydrated;
      await page.clock.fastForward(1_000);
      await expect(page.locator(what === 'a comment' ? hash : '#comments-title')).toBeFocused();
      expect(await scrollY(page)).toBe(300);
    });
  }
});

test('a visitor who scrolls while more comments load keeps the scroll position', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Fleabane' });
  await site.addComments(
    product.id,
    Array.from({ length: 31 }, (_, index) => ({ content: `Needle ${index}` })),
  );
  await visit(page, `/product/${product.id}`);
  const held = await holdResponses(page, /\/comments\?.*cursor=/);
  await page.getByRole('link', { name: 'Show more comments' }).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await scrollTo(page, 200);
  held.release();
  await expect(page.locator('.comment').last()).toBeFocused();
  await expect(commentArticles(page)).toHaveCount(31);
  expect(await scrollY(page)).toBe(200);
});

test.describe('with live updates', () => {
  test.use({ live: true });

  test('a visitor who scrolls while new comments load keeps the scroll position', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Amberjack', description: 'Swims far.\n'.repeat(80) });
    await visitWithLiveUpdates(page, `/product/${product.id}`);
    await otherVisitor(page).comment(product.id, 'From afar');
    await expect(newItemsButton(page)).toHaveText('1 new comment');
    const held = await holdResponses(page, /\/comments(?:\?|$)/);
    await newItemsButton(page).click();
    await expect.poll(() => held.requests.length).toBe(1);
    await page.evaluate(() => void window.dispatchEvent(new WheelEvent('wheel')));
    await scrollTo(page, 0);
    held.release();
    await expect(commentTexts(page)).toHaveText(['From afar']);
    await expect(newItemsButton(page)).toHaveCount(0);
    await expect(page.locator('.comment'), 'the focus is not lost').toBeFocused();
    await page.evaluate(() => new Promise(requestAnimationFrame));
    await turnEventLoop(page);
    expect(await scrollY(page)).toBe(0);
  });
});
