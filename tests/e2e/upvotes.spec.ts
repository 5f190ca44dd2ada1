import type { Page } from '@playwright/test';
import { SESSION_STORAGE_KEY } from '../../src/contract/session.ts';
import { elapseUntil } from '../support/clock.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests } from '../support/network.ts';
import { failureToast, toast, upvoteOf } from '../support/screen.ts';
import { recordWarnings } from '../support/warnings.ts';

const UPVOTE = /\/api\/products\/[^/]+\/upvote$/;

/** Asserts the whole look of an upvote button. */
async function expectUpvote(page: Page, name: string, { upvoted, count }: { upvoted: boolean; count: number }) {
  const button = upvoteOf(page, name);
  await expect(button).toHaveAccessibleName(`Upvote ${name}, ${count}`);
  await expect(button).toHaveAttribute('aria-pressed', String(upvoted));
  await expect(button).toHaveAttribute('title', upvoted ? 'Remove upvote' : 'Upvote this product');
}

const colourOf = (page: Page, name: string) =>
  upvoteOf(page, name).evaluate((button) => {
    for (const animation of button.getAnimations()) animation.finish();
    return getComputedStyle(button).backgroundColor;
  });

test.describe('§4 and §8: upvotes', () => {
  test('a click upvotes at once, before the server answers; its success is said', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Anemone' });
    await site.addUpvotes(product.id, 4);
    await visit(page, `/product/${product.id}`);
    await expectUpvote(page, 'Anemone', { upvoted: false, count: 4 });
    const plain = await colourOf(page, 'Anemone');
    const held = await holdResponses(page, UPVOTE, { method: 'PUT' });
    await upvoteOf(page, 'Anemone').click();
    await expect.poll(() => held.requests.length).toBe(1);
    await expectUpvote(page, 'Anemone', { upvoted: true, count: 5 });
    await expect(toast(page), 'nothing is said before it is done').toHaveCount(0);
    held.release();
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
    await expect(toast(page).locator('.toast-description')).toHaveText('Thanks for your support!');
    await expectUpvote(page, 'Anemone', { upvoted: true, count: 5 });
    expect(await colourOf(page, 'Anemone'), 'an upvoted product is highlighted').not.toBe(plain);
  });

  test('a second click takes the upvote back, at once, and says so', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Barnacle' });
    await site.addUpvotes(product.id, 2);
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Barnacle').click();
    await expect(toast(page)).toHaveCount(1);
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

  test('a failed upvote is taken back and said in a destructive toast', async ({ page, site, expectConsoleError }) => {
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
    await expectUpvote(page, 'Crab', { upvoted: false, count: 1 });
    await expect(toast(page)).toHaveCount(0);
  });

  test('a failed removal puts the upvote back', async ({ page, site, expectConsoleError }) => {
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

  test('a network that is gone fails the upvote like a server that is', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED/);
    const product = await site.addProduct({ name: 'Eelgrass' });
    await visit(page, `/product/${product.id}`);
    await page.context().setOffline(true);
    await upvoteOf(page, 'Eelgrass').click();
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to update upvote: Failed to add upvote: The server could not be reached',
    );
    await expectUpvote(page, 'Eelgrass', { upvoted: false, count: 0 });
  });

  test('list and detail show the same state, and a reload keeps it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Fucus' });
    await visit(page, '/?q=fucus');
    await upvoteOf(page, 'Fucus').click();
    await expect(toast(page)).toHaveCount(1);
    await expectUpvote(page, 'Fucus', { upvoted: true, count: 1 });
    await expect(page, 'the button is not the card').toHaveURL('/?q=fucus');
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

  test('quick clicks end in the last one’s state, with an exact count', async ({ page, site }) => {
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

  test('two visitors are two upvotes, and each sees its own state', async ({ page, site, newVisitor }) => {
    const product = await site.addProduct({ name: 'Halibut' });
    const other = await newVisitor();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Halibut').click();
    await expect(toast(page)).toHaveCount(1);
    await visit(other, `/product/${product.id}`);
    await expectUpvote(other, 'Halibut', { upvoted: false, count: 1 });
    await upvoteOf(other, 'Halibut').click();
    await expect(toast(other)).toHaveCount(1);
    await expectUpvote(other, 'Halibut', { upvoted: true, count: 2 });
    await page.reload();
    await expectUpvote(page, 'Halibut', { upvoted: true, count: 2 });
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

test.describe('§3: the anonymous visitor', () => {
  const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

  test('is a random id in the browser’s storage under user_session, kept from visit to visit', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Jellyfish' });
    await visit(page, `/product/${product.id}`);
    const stored = () => page.evaluate((key) => localStorage.getItem(key), SESSION_STORAGE_KEY);
    const session = await stored();
    expect(SESSION_STORAGE_KEY).toBe('user_session');
    expect(session).toMatch(new RegExp(`^session-${UUID}$`));
    await upvoteOf(page, 'Jellyfish').click();
    await expect(toast(page)).toHaveCount(1);
    await page.reload();
    expect(await stored()).toBe(session);
    const rows = await site.database.query('SELECT user_session FROM upvotes WHERE product_id = $1', [product.id]);
    expect(rows).toEqual([{ user_session: session }]);
  });

  test('is made of the time where the browser has no random ids', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Krill' });
    await page.addInitScript(() => {
      Object.defineProperty(globalThis, 'crypto', { value: undefined });
    });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Krill').click();
    await expectUpvote(page, 'Krill', { upvoted: true, count: 1 });
    expect(await page.evaluate(() => localStorage.getItem('user_session'))).toMatch(/^session-\d{13}$/);
    await page.reload();
    await expectUpvote(page, 'Krill', { upvoted: true, count: 1 });
  });

  test('can upvote with its storage blocked, and stays the same as long as the page lives', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Limpet' });
    await page.addInitScript(() => {
      for (const storage of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, storage, {
          get() {
            throw new DOMException('Blocked', 'SecurityError');
          },
        });
      }
    });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Limpet').click();
    await expectUpvote(page, 'Limpet', { upvoted: true, count: 1 });
    await expect(toast(page)).toHaveCount(1);
    await upvoteOf(page, 'Limpet').click();
    await expectUpvote(page, 'Limpet', { upvoted: false, count: 0 });
    await upvoteOf(page, 'Limpet').click();
    await expect
      .poll(() => site.database.query('SELECT user_session FROM upvotes WHERE product_id = $1', [product.id]))
      .toEqual([{ user_session: expect.stringMatching(/^fallback-session-\d{13}$/) }]);
  });
});

test.describe('§8 and §9: the upvote status', () => {
  test('is no when it cannot be read, after 1 retry after 1 s, and nothing but the log says so', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    const warnings = recordWarnings(page);
    const product = await site.addProduct({ name: 'Mussel' });
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Mussel').click();
    await expect(toast(page)).toHaveCount(1);
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    const failed = await failResponses(page, /\/api\/upvotes\?/, { untold: true });
    await page.reload();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.tell();
    const delay = await elapseUntil(page, () => failed.requests.length === 2);
    expect(delay, 'the delay in ms').toBeGreaterThanOrEqual(1_000);
    expect(delay).toBeLessThan(1_500);
    await failed.tell();
    await page.clock.resume();
    await expect.poll(() => warnings).toContain('Failed to check upvote status: The database cannot be reached');
    await expectUpvote(page, 'Mussel', { upvoted: false, count: 1 });
    await page.clock.fastForward(60_000);
    expect(failed.requests).toHaveLength(2);
    await expect(failureToast(page)).toHaveCount(0);
  });

  test('is asked for again after 5 s and not before, all products of a list in one request', async ({ page, site }) => {
    await site.addProducts(3, (index) => ({ name: `Nautilus ${index}` }));
    await page.clock.install();
    const asked = recordRequests(page, /\/api\/upvotes\?/);
    await visit(page, '/?q=nautilus');
    await expect(upvoteOf(page, 'Nautilus 2')).toBeVisible();
    expect(asked).toHaveLength(1);
    const productsOf = (url: string) => new URL(url).searchParams.get('products')?.split(',') ?? [];
    expect(productsOf(asked[0]?.url() ?? '')).toHaveLength(3);
    await asked[0]?.response();

    const toProductAndBack = async () => {
      await page.getByRole('link', { name: 'Nautilus 1', exact: true }).click();
      await expect(page.getByRole('heading', { level: 1, name: 'Nautilus 1' })).toBeVisible();
      await page.goBack();
      await expect(upvoteOf(page, 'Nautilus 2')).toBeVisible();
    };
    await page.clock.pauseAt(Date.now() + 4_000);
    const before = asked.length;
    await page.clock.fastForward(6_000);
    await toProductAndBack();
    await page.clock.runFor(10);
    await expect.poll(() => asked.length, 'stale after 5 s').toBeGreaterThan(before);
    await Promise.all(asked.map((request) => request.response()));
    await page.clock.runFor(10);
    const settled = asked.length;
    await toProductAndBack();
    await page.clock.runFor(10);
    expect(asked, 'fresh for 5 s').toHaveLength(settled);
  });
});
