import type { Locator } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { brokenWords, elementsBeyondScreen, PHONE, setTextSize, upvoteOf, WIDTHS } from '../support/screen.ts';
import { dialog, submissionTest } from '../support/submission-site.ts';

test('at 150% and 200% text size, the page fits a phone, a tablet and a desktop, no word is broken, and no part of the header covers another', async ({
  page,
  site,
}) => {
  const createdAt = new Date(Date.now() - 23 * 3_600_000).toISOString();
  const { id, name } = await site.addProduct({ name: 'Launched 23 hours ago', createdAt });
  await site.addUpvotes(id, 1_200);
  const sizes = Object.values(WIDTHS).flatMap((width) => [150, 200].map((size) => [width, size] as const));
  // Other tests' products may have names that cannot fit.
  const parts = page
    .locator('.banner, .landscapes, .product-hero, .product-stats')
    .or(page.locator('.product-card, .board-row').filter({ hasText: name }));
  // German has long words. The home page may not list the launch, because other tests launch newer products.
  const home = '/?lang=de';
  for (const path of [
    home,
    `${home}&q=${encodeURIComponent(name)}`,
    `/product/${id}?lang=de`,
    `${home}&board=${createdAt.slice(0, 4)}`,
  ]) {
    // A cached leaderboard may lack the launch for a second.
    if (path !== home) await expect.poll(async () => (await page.request.get(path)).text(), path).toContain(name);
    await visit(page, path);
    for (const [width, size] of sizes) {
      const at = `${path}, ${width} px, ${size}%`;
      await page.setViewportSize({ width, height: 900 });
      await setTextSize(page, size);
      expect(await elementsBeyondScreen(page), at).toEqual([]);
      for (const part of await parts.all()) expect(await brokenWords(part), at).toEqual([]);
      const covered = await page.locator('.site-header :is(a, input, button, summary, p)').evaluateAll((elements) => {
        const boxes = elements
          .filter((element) => element.checkVisibility() && !element.classList.contains('visually-hidden'))
          .map((element) => ({ box: element.getBoundingClientRect(), text: element.outerHTML.slice(0, 60) }));
        return boxes.flatMap((one, index) =>
          boxes
            .slice(index + 1)
            .filter(
              ({ box }) =>
                Math.min(one.box.right, box.right) - Math.max(one.box.left, box.left) > 1 &&
                Math.min(one.box.bottom, box.bottom) - Math.max(one.box.top, box.top) > 1,
            )
            .map((other) => `${one.text} | ${other.text}`),
        );
      });
      expect(covered, at).toEqual([]);
    }
  }
});

test('at 150% text size, the buttons of the header are in one row on a phone', async ({ page }) => {
  await page.setViewportSize(PHONE);
  await visit(page, '/');
  await setTextSize(page, 150);
  const tops = await page
    .locator('.site-header-bar .icon-button')
    .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
  expect(tops).toHaveLength(3);
  expect(new Set(tops).size).toBe(1);
});

test('at 150% text size, no word of a toast is broken on a phone', async ({ page, site }) => {
  const { name } = await site.addProduct();
  await page.setViewportSize(PHONE);
  await visit(page, `/?q=${encodeURIComponent(name)}`);
  await setTextSize(page, 150);
  await upvoteOf(page, name).click();
  const message = page.getByRole('status').filter({ hasText: 'Undo' });
  await expect(message).toBeVisible();
  expect(await brokenWords(message)).toEqual([]);
  expect(await elementsBeyondScreen(page)).toEqual([]);
});

/** Returns the number of pixels by which a dialog must be scrolled sideways. */
const overflow = (of: Locator) => of.evaluate((element) => element.scrollWidth - element.clientWidth);

test('at 200% text size, the dialogs for sharing and for shortcuts fit a screen with a width of 320 px', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct();
  await page.setViewportSize({ width: 320, height: 640 });
  await visit(page, `/product/${id}?lang=de`);
  await setTextSize(page, 200);
  await page.getByRole('button', { name: 'Teilen' }).click();
  await expect(page.getByRole('dialog')).toBeVisible();
  expect(await overflow(page.getByRole('dialog'))).toBe(0);
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  await expect(page.locator('.shortcuts').first()).toBeVisible();
  expect(await overflow(page.getByRole('dialog'))).toBe(0);
});

submissionTest(
  'at 200% text size, messages, the menu, a leaderboard and the submission form fit a screen with a width of 320 px',
  async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/404/);
    const createdAt = new Date(Date.now() - 24 * 3_600_000).toISOString();
    await site.addProduct({ name: 'Launched yesterday', createdAt });
    await page.setViewportSize({ width: 320, height: 640 });
    const board = `/?board=${createdAt.slice(0, 10)}`;
    // A cached leaderboard may lack the launch for a second.
    await expect.poll(async () => (await page.request.get(board)).status()).toBe(200);
    for (const path of ['/?q=no+such+product&lang=de', '/no-such-page?lang=de', `${board}&lang=de`]) {
      await page.goto(path);
      await setTextSize(page, 200);
      expect(await elementsBeyondScreen(page), path).toEqual([]);
    }
    const menu = page.getByRole('banner').locator('summary');
    await menu.click();
    const panel = await page.locator('.demo-fold-panel').boundingBox();
    expect(panel?.x).toBeGreaterThanOrEqual(0);
    expect(panel?.y).toBeGreaterThanOrEqual((await menu.boundingBox())?.y ?? 0);
    await page.goto('/?submit&lang=de');
    await setTextSize(page, 200);
    await expect(dialog(page)).toBeVisible();
    expect(await overflow(dialog(page))).toBe(0);
  },
);
