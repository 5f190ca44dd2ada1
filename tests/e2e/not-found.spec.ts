import { deleteProduct } from '../support/delete-products.ts';
import { expect, test, visit, waitForHydration } from '../support/e2e-test.ts';
import { setTabVisibility } from '../support/live-page.ts';
import { networkNotice, skipFeatureDelay } from '../support/offline-page.ts';
import { searchBox } from '../support/screen.ts';
import { recordWarnings } from '../support/warnings.ts';

test.describe('§2: the 404 page', () => {
  test('an unknown path returns 404 and shows the 404 page, which links to the home page', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/404 \(Not Found\)/);
    const response = await page.goto('/no/such/place');
    expect(response?.status()).toBe(404);
    await expect(page.getByRole('heading', { level: 1, name: '404', exact: true })).toBeVisible();
    await expect(page.getByText('Oops! Page not found', { exact: true })).toBeVisible();
    await expect(page).toHaveTitle('Page not found · Groundswell');
    await page.getByRole('link', { name: 'Return to Home', exact: true }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  });

  test('the browser logs a missing path that client-side navigation reached', async ({ page }) => {
    const warnings = recordWarnings(page);
    await visit(page, '/');
    await page.evaluate(() => {
      history.pushState({ key: 'adrift' }, '', '/adrift');
      dispatchEvent(new PopStateEvent('popstate'));
    });
    await expect(page.getByText('Oops! Page not found', { exact: true })).toBeVisible();
    await expect.poll(() => warnings).toContain('Page not found: /adrift');
  });
});

test.describe('§2 and §8: an unknown product', () => {
  test('shows ‘Product not found’ with status 404 and a link to the home page', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/404 \(Not Found\)/);
    const response = await page.goto('/product/no-such-product');
    expect(response?.status()).toBe(404);
    await expect(page.getByRole('heading', { level: 1, name: 'Product not found', exact: true })).toBeVisible();
    await expect(page).toHaveTitle('Product not found · Groundswell');
    await page.getByText('Return to home', { exact: true }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  });

  test('an unknown product is still not found after a refetch has failed', async ({ page, expectConsoleError }) => {
    expectConsoleError(/404 \(Not Found\)/);
    expectConsoleError(/ERR_FAILED/);
    expectConsoleError(/Failed to fetch products/);
    let hasFailed = false;
    page.on('console', (message) => {
      if (message.text().startsWith('Failed to fetch products')) hasFailed = true;
    });
    await page.route('**/api/products/adrift', (route) => route.abort());
    await page.clock.install();
    await page.goto('/product/adrift');
    // Waits for hydration, because data that no component uses is deleted after five minutes.
    await waitForHydration(page.getByRole('heading', { level: 1 }));
    await expect(async () => {
      await setTabVisibility(page, 'hidden');
      await page.clock.fastForward('06:00');
      await setTabVisibility(page, 'visible');
      // The page retries the request twice before it reports the failure.
      await page.clock.runFor(10_000);
      expect(hasFailed).toBe(true);
    }).toPass();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Product not found');
    await expect(page).toHaveTitle('Product not found · Groundswell');
  });

  test('a product that was not found opens from a list once it has launched', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/404 \(Not Found\)/);
    await skipFeatureDelay(page);
    await page.goto('/product/early-kestrel');
    await expect(page.getByRole('heading', { level: 1, name: 'Product not found' })).toBeVisible();
    await expect(networkNotice(page), 'the deferred features have loaded').toBeAttached();
    await site.addProduct({ id: 'early-kestrel', name: 'Early Kestrel' });
    await page.getByText('Return to home', { exact: true }).click();
    await searchBox(page).fill('early kestrel');
    await page.getByRole('link', { name: 'Early Kestrel', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Early Kestrel' })).toBeVisible();
  });

  test('a product removed after the list loaded is shown as not found', async ({ page, site, expectConsoleError }) => {
    const product = await site.addProduct({ name: 'Evanescent Tool' });
    await visit(page, '/?q=evanescent');
    await deleteProduct(site.database, product.id);
    // The browser reports the failed requests for the product, its comments and perhaps its neighbours.
    expectConsoleError(/404 \(Not Found\)/);
    await page.getByRole('link', { name: 'Evanescent Tool', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Product not found' })).toBeVisible();
  });
});

test('a period without a leaderboard has the title ‘No leaderboard’, also after Back', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/404 \(Not Found\)/);
  await visit(page, '/');
  await page.evaluate(() => {
    history.pushState({ key: 'future' }, '', '/?board=2031');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await expect(page).toHaveTitle('No leaderboard · Groundswell');
  await page.getByRole('link', { name: 'Groundswell, home' }).click();
  await expect(page).toHaveTitle('Top Products Launching Today · Groundswell');
  await page.goBack();
  await expect(page.getByRole('heading', { level: 1, name: 'There is no leaderboard' })).toBeVisible();
  await expect(page).toHaveTitle('No leaderboard · Groundswell');
});
