import { expect, test, visit, waitForHydration } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { cardNames } from '../support/screen.ts';

test('Back while a page hydrates leads to the previous page', async ({ page, site }) => {
  await site.addProduct({ name: 'Ragged robin' });
  await visit(page, '/?q=ragged+robin');
  await page.getByRole('link', { name: 'Ragged robin', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Ragged robin' })).toBeVisible();
  // Simulates that the browser has gone back since the first render, so the app does not receive the event.
  await page.addInitScript(() => {
    const { addEventListener } = window;
    window.addEventListener = (...listener: Parameters<typeof addEventListener>) => {
      // While the document loads, the head script listens.
      const isApp = listener[0] === 'popstate' && document.readyState !== 'loading';
      if (isApp) window.history.replaceState({ key: 'list' }, '', '/?q=ragged+robin');
      addEventListener(...listener);
    };
  });
  await page.reload();
  await expect(cardNames(page)).toHaveText(['Ragged robin']);
});

test('Back before the app has loaded leads to the previous page', async ({ page, site }) => {
  await site.addProduct({ name: 'Sneezewort' });
  await visit(page, '/?q=sneezewort');
  await page.getByRole('link', { name: 'Sneezewort', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Sneezewort' })).toBeVisible();
  const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
  await page.reload({ waitUntil: 'commit' });
  await expect.poll(() => scripts.requests.length).toBe(1);
  await page.evaluate(() => window.history.back());
  await expect(cardNames(page)).toHaveText(['Sneezewort']);
  scripts.release();
  await waitForHydration(page.locator('.product-card').first());
});
