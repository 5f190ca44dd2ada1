import { type E2eSite, startE2eSite } from '../support/e2e-site.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { elapseUntil, waitUntilHandled } from '../support/page-clock.ts';
import { cardNames, searchBox } from '../support/screen.ts';
import { startThrowawayCluster } from '../support/throwaway-cluster.ts';

const LIST = /\/api\/products(\?|$)/;
const DETAIL = /\/api\/products\/[^/?]+$/;

test.describe('§2: loading', () => {
  test('‘Loading products...’ is shown while the list loads', async ({ page }) => {
    await visit(page, '/product/git');
    const held = await holdResponses(page, LIST);
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page.getByRole('status').filter({ hasText: /^Loading products\.\.\.$/ })).toBeVisible();
    await expect(cardNames(page)).toHaveCount(0);
    held.release();
    await expect(cardNames(page).first()).toBeVisible();
    await expect(page.getByText('Loading products...')).toHaveCount(0);
  });

  test('‘Loading product...’ is shown while a product loads', async ({ page, site }) => {
    const [older, newer] = await site.addProducts(2, (index) => ({ name: `Quokka ${index}` }));
    const held = await holdResponses(page, DETAIL);
    await visit(page, `/product/${older?.id}`);
    await page.getByRole('button', { name: 'Previous', exact: true }).click();
    await expect(page).toHaveURL(`/product/${newer?.id}`);
    await expect(page.getByText('Loading product...', { exact: true })).toBeVisible();
    await expect(page).toHaveTitle('Loading product... · Groundswell');
    held.release();
    await expect(page.getByRole('heading', { level: 1, name: 'Quokka 1' })).toBeVisible();
    await expect(page.getByText('Loading product...')).toHaveCount(0);
  });

  test('a product from the list is shown immediately, and its details appear once they have loaded', async ({
    page,
    site,
  }) => {
    // Adds an older product to the same search, so the Next button becomes enabled.
    await site.addProduct({ name: 'Bandicoot', description: 'Beside a wombat.' });
    await site.addProduct({ name: 'Wombat', description: 'Digs.' });
    await visit(page, '/?q=wombat');
    const held = await holdResponses(page, DETAIL);
    await page.getByRole('link', { name: 'Wombat', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Wombat' })).toBeVisible();
    await expect(page.getByText('Digs.', { exact: true })).toBeVisible();
    held.release();
    await expect(page.getByRole('button', { name: 'Next', exact: true })).toBeEnabled();
  });
});

test.describe('§8 and §9: products that fail to load', () => {
  test('without a database, the list and a product page show an error with status 503, and ‘Try again’ reloads the page', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    const cluster = await startThrowawayCluster({ durability: 'none' });
    let site: E2eSite | undefined;
    try {
      site = await startE2eSite({ DATABASE_URL: cluster.url });
      await site.addProduct({ id: 'emu', name: 'Emu' });
      // Stops the database before the first visit, because the cache would serve visited pages without it.
      await cluster.stop();
      for (const path of ['/', '/product/emu']) {
        const response = await page.goto(`${site.address}${path}`);
        expect(response?.status()).toBe(503);
        await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
        const requested = page.waitForRequest((request) => request.isNavigationRequest());
        const reloaded = page.waitForEvent('load');
        await page.getByRole('button', { name: 'Try again', exact: true }).click();
        expect((await requested).url()).toBe(`${site.address}${path}`);
        await reloaded;
        await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
      }
      await page.goto(`${site.address}/`);
      await expect(page.getByRole('heading', { name: 'Product Landscapes' })).toBeVisible();
      await expect(page.getByRole('complementary').getByRole('article')).toHaveCount(3);
      expect(site.output()).toMatch(/Failed to fetch products: /);
    } finally {
      // Leaves the page before the site stops, because the page may still be loading scripts.
      await page.goto('about:blank');
      await site?.stop();
      await cluster.stop();
    }
  });

  test('the list is retried after 1 s and 2 s, then the failure is shown and logged, and ‘Try again’ shows the list', async ({
    page,
    expectConsoleError,
    pauseClock,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/console\.error: Failed to fetch products: The database cannot be reached/);
    await page.clock.install();
    await visit(page, '/product/git');
    const failed = await failResponses(page, LIST, { held: true });
    await pauseClock();
    await page.getByRole('link', { name: 'Back to products' }).click();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.deliver();
    await expect(page.getByText('Loading products...', { exact: true })).toBeVisible();
    await expect(page.getByText('Failed to load products')).toHaveCount(0);
    await elapseUntil(page, () => failed.requests.length === 2);
    await failed.deliver();
    await elapseUntil(page, () => failed.requests.length === 3);
    expect(await failed.delays()).toEqual([expect.closeTo(1_000, -1), expect.closeTo(2_000, -1)]);
    await failed.deliver();
    await page.clock.resume();
    await expect(page.getByRole('alert').filter({ hasText: /^Failed to load products$/ })).toBeVisible();
    await page.clock.fastForward(120_000);
    await requestsReported(page);
    expect(failed.requests, 'no further retries').toHaveLength(3);
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await expect(cardNames(page).first()).toBeVisible();
    await expect(page).toHaveURL('/');
  });

  test('a failed search shows an error and does not delay the next search', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/console\.error: Failed to fetch products/);
    await site.addProduct({ name: 'Numbat' });
    await page.clock.install();
    await visit(page, '/');
    const failed = await failResponses(page, /q=bilby/);
    await searchBox(page).fill('bilby');
    for (const requests of [1, 2, 3]) {
      await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(requests);
      await page.clock.fastForward(4_000);
    }
    await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
    await searchBox(page).fill('numbat');
    await page.clock.fastForward(1_000);
    await expect(cardNames(page)).toHaveText(['Numbat']);
  });

  test('a product page shows an error after three failed requests, and returning to it retries', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/console\.error: Failed to fetch products/);
    const [older, newer] = await site.addProducts(2, (index) => ({ name: `Potoroo ${index}` }));
    await page.clock.install();
    const failed = await failResponses(page, new RegExp(`/api/products/${newer?.id}$`));
    // The page prefetches its neighbour for the tooltip. A failed prefetch has no effect.
    await visit(page, `/product/${older?.id}`);
    for (const requests of [1, 2, 3]) {
      await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(requests);
      await waitUntilHandled(page, failed.requests.at(-1));
      await page.clock.fastForward(4_000);
    }
    const previous = page.getByRole('button', { name: 'Previous', exact: true });
    await expect(previous).toBeEnabled();
    await previous.click();
    await expect(page).toHaveURL(`/product/${newer?.id}`);
    for (const requests of [4, 5, 6]) {
      await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(requests);
      await waitUntilHandled(page, failed.requests.at(-1));
      await page.clock.fastForward(4_000);
    }
    await expect(page.getByRole('heading', { level: 1, name: 'Failed to load products' })).toBeVisible();
    await page.unrouteAll();
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1, name: 'Potoroo 0' })).toBeVisible();
    await page.goForward();
    await expect(page.getByRole('heading', { level: 1, name: 'Potoroo 1' })).toBeVisible();
  });
});

test.describe('§9: freshness', () => {
  test('a list is fresh for 5 minutes and is then refetched', async ({ page, site }) => {
    await site.addProduct({ name: 'Echidna One' });
    await page.clock.install();
    await visit(page, '/?q=echidna');
    await site.addProduct({ name: 'Echidna Two' });
    const asked = recordRequests(page, LIST);
    const toProductAndBack = async () => {
      await page.getByRole('link', { name: 'Echidna One', exact: true }).click();
      await expect(page.getByRole('heading', { level: 1, name: 'Echidna One' })).toBeVisible();
      await page.goBack();
      await expect(cardNames(page).first()).toBeVisible();
    };
    await page.clock.fastForward('04:00');
    await toProductAndBack();
    await expect(cardNames(page)).toHaveText(['Echidna One']);
    await requestsReported(page);
    expect(asked).toEqual([]);
    await page.clock.fastForward('01:30');
    await toProductAndBack();
    await expect(cardNames(page)).toHaveText(['Echidna Two', 'Echidna One']);
    expect(asked).toHaveLength(1);
  });
});
