import { startThrowawayCluster } from '../../src/core/database/embedded/throwaway.ts';
import { elapseUntil, heard } from '../support/clock.ts';
import { startE2eSite } from '../support/e2e-site.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests } from '../support/network.ts';
import { cardNames, searchBox } from '../support/screen.ts';

const LIST = /\/api\/products(\?|$)/;
const DETAIL = /\/api\/products\/[^/?]+$/;

test.describe('§2: loading', () => {
  test('‘Loading products...’ while the list is read', async ({ page }) => {
    await visit(page, '/product/git');
    const held = await holdResponses(page, LIST);
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page.getByRole('status').filter({ hasText: /^Loading products\.\.\.$/ })).toBeVisible();
    await expect(cardNames(page)).toHaveCount(0);
    held.release();
    await expect(cardNames(page).first()).toBeVisible();
    await expect(page.getByText('Loading products...')).toHaveCount(0);
  });

  test('‘Loading product...’ while a product is read', async ({ page, site }) => {
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

  test('a product that the list knows is shown at once, and completed', async ({ page, site }) => {
    // The older one stands below it, so that there is a next one.
    await site.addProduct({ name: 'Bandicoot' });
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

test.describe('§8 and §9: products that cannot be read', () => {
  test('with the database away, both pages say so with status 503, and ‘Try again’ reloads', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    const cluster = await startThrowawayCluster({ durability: 'none' });
    const site = await startE2eSite({ DATABASE_URL: cluster.url });
    try {
      await site.addProduct({ id: 'emu', name: 'Emu' });
      // Before anything was shown: a page that was is still served, as it was last known.
      await cluster.stop();
      for (const path of ['/', '/product/emu']) {
        const response = await page.goto(`${site.address}${path}`);
        expect(response?.status()).toBe(503);
        await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
        const reloaded = page.waitForRequest((request) => request.isNavigationRequest());
        await page.getByRole('button', { name: 'Try again', exact: true }).click();
        expect((await reloaded).url()).toBe(`${site.address}${path}`);
        await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
      }
      await page.goto(`${site.address}/`);
      await expect(page.getByRole('heading', { name: 'Product Landscapes' })).toBeVisible();
      await expect(page.getByRole('complementary').getByRole('article')).toHaveCount(3);
      expect(site.output()).toMatch(/Failed to fetch products: /);
    } finally {
      await site.stop();
    }
  });

  test('the list is tried 2 times more, after 1 s and after 2 s; then it is said and logged; a reload shows it', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/console\.error: Failed to fetch products: The database cannot be reached/);
    await page.clock.install();
    await visit(page, '/product/git');
    const failed = await failResponses(page, LIST, { untold: true });
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('link', { name: 'Back to products' }).click();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.tell();
    await expect(page.getByText('Loading products...', { exact: true })).toBeVisible();
    const first = await elapseUntil(page, () => failed.requests.length === 2);
    await failed.tell();
    const second = await elapseUntil(page, () => failed.requests.length === 3);
    expect(first, 'the first delay in ms').toBeGreaterThanOrEqual(1_000);
    expect(first).toBeLessThan(1_500);
    expect(second, 'the second delay in ms').toBeGreaterThanOrEqual(2_000);
    expect(second).toBeLessThan(2_500);
    await failed.tell();
    await page.clock.resume();
    await expect(page.getByRole('alert').filter({ hasText: /^Failed to load products$/ })).toBeVisible();
    await page.clock.fastForward(120_000);
    expect(failed.requests, 'then it is left alone').toHaveLength(3);
    await page.getByRole('button', { name: 'Try again', exact: true }).click();
    await expect(cardNames(page).first()).toBeVisible();
    await expect(page).toHaveURL('/');
  });

  test('a failure that passes is never seen', async ({ page, expectConsoleError }) => {
    expectConsoleError(/503/);
    await page.clock.install();
    await visit(page, '/product/git');
    const failed = await failResponses(page, LIST, { times: 1 });
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect.poll(() => failed.requests.length).toBe(1);
    await page.clock.fastForward(1_000);
    await expect(cardNames(page).first()).toBeVisible();
  });

  test('a search that fails says so, and the next one is not held up by it', async ({
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
      await expect.poll(() => failed.requests.length).toBe(requests);
      await page.clock.fastForward(4_000);
    }
    await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
    await searchBox(page).fill('numbat');
    await page.clock.fastForward(1_000);
    await expect(cardNames(page)).toHaveText(['Numbat']);
  });

  test('a product’s page fails the same way; coming to it again is asking again', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/console\.error: Failed to fetch products/);
    const [older, newer] = await site.addProducts(2, (index) => ({ name: `Potoroo ${index}` }));
    await page.clock.install();
    const failed = await failResponses(page, new RegExp(`/api/products/${newer?.id}$`));
    // Its name is read ahead, for the tooltip: that this fails is nobody's concern.
    await visit(page, `/product/${older?.id}`);
    for (const requests of [1, 2, 3]) {
      await expect.poll(() => failed.requests.length).toBe(requests);
      await heard(page, failed.requests.at(-1));
      await page.clock.fastForward(4_000);
    }
    const previous = page.getByRole('button', { name: 'Previous', exact: true });
    await expect(previous).toBeEnabled();
    await previous.click();
    await expect(page).toHaveURL(`/product/${newer?.id}`);
    for (const requests of [4, 5, 6]) {
      await expect.poll(() => failed.requests.length).toBe(requests);
      await heard(page, failed.requests.at(-1));
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
  test('a list is fresh for 5 minutes, and read again after them', async ({ page, site }) => {
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
    await page.clock.fastForward('04:50');
    await toProductAndBack();
    await expect(cardNames(page)).toHaveText(['Echidna One']);
    expect(asked).toEqual([]);
    await page.clock.fastForward('00:15');
    await toProductAndBack();
    await expect(cardNames(page)).toHaveText(['Echidna Two', 'Echidna One']);
    expect(asked).toHaveLength(1);
  });
});
