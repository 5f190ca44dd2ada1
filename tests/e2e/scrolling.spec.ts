import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { discussion, searchBox } from '../support/screen.ts';

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

  test('a visitor who scrolls away from #comments stays there', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Plover', description: 'Runs along.\n'.repeat(80) });
    await page.clock.install();
    const scripts = await holdResponses(page, APP);
    await page.goto(`/product/${product.id}#comments`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await expect.poll(() => scrollY(page), 'the browser scrolls to the comments').toBeGreaterThan(300);
    await scrollTo(page, 300);
    const hydrated = page.waitForRequest(/\/api\/upvotes\?/);
    scripts.release();
    await hydrated;
    await page.clock.fastForward(1_000);
    await expect(discussion(page).getByRole('heading', { level: 2 })).toBeFocused();
    expect(await scrollY(page)).toBe(300);
  });
});
