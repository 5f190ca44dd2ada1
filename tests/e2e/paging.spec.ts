import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { recordShifts } from '../support/layout-shifts.ts';
import { failResponses, holdResponses, recordRequests, requestsReported, setOnline } from '../support/network.ts';
import { visitFully } from '../support/offline-page.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { cardNames, PHONE, upvoteOf } from '../support/screen.ts';

const NEXT_PAGE = /\/api\/products\?.*cursor=/;

/**
 * Scrolls down until `count` products are shown. Uses a script, because wheel scrolling could continue into the next
 * test.
 */
async function scrollTo(page: Page, count: number): Promise<void> {
  const scroll = async () => {
    await page.evaluate(() => window.scrollBy({ top: 2_000, behavior: 'instant' }));
    return cardNames(page).count();
  };
  await expect.poll(scroll, { intervals: [50] }).toBeGreaterThanOrEqual(count);
}

test.describe('§2: the list loads more products', () => {
  test('scrolling shows every product once, in order, with consecutive ranks', async ({ page, site }) => {
    await site.addProducts(80, (index) => ({ name: `Bellflower ${String(index).padStart(2, '0')}` }));
    await visit(page, '/?q=bellflower');
    const asked = recordRequests(page, NEXT_PAGE);
    await scrollTo(page, 60);
    // Only two more pages load automatically, so visitors can reach the footer.
    await page.getByRole('link', { name: 'Show more products' }).scrollIntoViewIfNeeded();
    await expect(page.getByRole('contentinfo')).toBeVisible();
    await requestsReported(page);
    expect(asked).toHaveLength(2);
    await page.getByRole('link', { name: 'Show more products' }).click();
    await scrollTo(page, 80);
    const names = await cardNames(page).allTextContents();
    const expected = Array.from({ length: 80 }, (_, index) => `Bellflower ${String(79 - index).padStart(2, '0')}`);
    expect(names).toEqual(expected);
    const ranks = await page.locator('.product-card-rank').allTextContents();
    expect(ranks).toEqual(expected.map((_, index) => `Rank ${index + 1}`));
    await expect(page.getByRole('link', { name: 'Show more products' })).toHaveCount(0);
    await requestsReported(page);
    expect(asked).toHaveLength(3);
  });

  test('launches during scrolling do not make any product appear twice', async ({ page, site }) => {
    await site.addProducts(40, (index) => ({ name: `Campion ${index}` }));
    await visit(page, '/?q=campion');
    await site.addProducts(5, (index) => ({ name: `Campion new ${index}` }));
    await scrollTo(page, 40);
    const names = await cardNames(page).allTextContents();
    expect(new Set(names).size).toBe(names.length);
    expect(names).toEqual(Array.from({ length: 40 }, (_, index) => `Campion ${39 - index}`));
  });

  test('‘Show more products’ does not cancel a refetch of the list: the further page loads afterwards', async ({
    page,
    site,
  }) => {
    await site.addProducts(39, (index) => ({ name: `Eyebright ${index}` }));
    await visitFully(page, '/?q=eyebright');
    const refetch = await holdResponses(page, /\/api\/products\?(?!.*cursor=)/);
    const asked = recordRequests(page, NEXT_PAGE);
    await setOnline(page, false);
    await site.addProduct({ name: 'Eyebright new' });
    await setOnline(page, true);
    await expect.poll(() => refetch.received).toBe(1);
    await page.getByRole('link', { name: 'Show more products' }).click();
    await requestsReported(page);
    expect(asked).toEqual([]);
    refetch.release();
    await expect(cardNames(page).first()).toHaveText('Eyebright new');
    await expect(cardNames(page)).toHaveCount(40);
  });

  test('if a further page fails to load after retries, the list shows an error and ‘Try again’', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/Failed to fetch products: The database cannot be reached/);
    await site.addProducts(40, (index) => ({ name: `Tansy ${index}` }));
    await page.clock.install();
    const failed = await failResponses(page, NEXT_PAGE, { times: 3 });
    await visit(page, '/?q=tansy');
    await page
      .getByRole('list')
      .filter({ has: page.locator('.product-card') })
      .last()
      .scrollIntoViewIfNeeded();
    await page.mouse.move(600, 400);
    await page.mouse.wheel(0, 10_000);
    await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(1);
    await page.clock.fastForward(1_000);
    await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(2);
    await page.clock.fastForward(2_000);
    const failure = page.getByRole('alert').filter({ hasText: 'More products could not be loaded.' });
    await expect(failure).toBeVisible();
    await upvoteOf(page, 'Tansy 20').click();
    await expect(upvoteOf(page, 'Tansy 20')).toHaveAccessibleName('Upvote Tansy 20, 1');
    await requestsReported(page);
    await expect(failure, 'after a change to a product').toBeVisible();
    expect(failed.requests).toHaveLength(3);
    await expect(cardNames(page)).toHaveCount(LIMITS.listedProducts);
    await page.getByRole('button', { name: 'Try again' }).click();
    await expect(cardNames(page)).toHaveCount(40);
    await expect(page.getByText('More products could not be loaded.')).toHaveCount(0);
  });

  test('‘Still searching...’ disappears if the next page of an unfinished search cannot be loaded', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/Failed to fetch products: The database cannot be reached/);
    await page.clock.install();
    await visit(page, '/');
    await page.route(/\/api\/products\?q=woodruff/, (route) =>
      route.fulfill({ json: { items: [], nextCursor: 'later' } }),
    );
    const failed = await failResponses(page, NEXT_PAGE);
    await page.getByRole('searchbox', { name: 'Search products' }).fill('woodruff');
    const searching = page.getByText('Still searching...');
    await expect(searching).toBeVisible();
    for (const attempts of [1, 2]) {
      await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(attempts);
      await page.clock.fastForward(attempts * 1_000);
    }
    await expect(page.getByRole('alert').filter({ hasText: 'More products could not be loaded.' })).toBeVisible();
    await expect(searching).toHaveCount(0);
    await expect(page.getByText('No product has a matching name')).toHaveCount(0);
  });

  test('the footer does not move if a visitor scrolls faster than the next page loads', async ({ page, site }) => {
    await site.addProducts(2 * LIMITS.listedProducts, (index) => ({ name: `Heather ${index}` }));
    const shifts = await recordShifts(page);
    const held = await holdResponses(page, NEXT_PAGE);
    await visit(page, '/?q=heather');
    // A font that loads later than the text moves the text that follows a marked word.
    await page.evaluate(() => document.fonts.ready);
    const whileLoading = await shifts();
    await page.evaluate(() => window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
    await expect(page.getByText('Loading more products...')).toBeAttached();
    await page.evaluate(() => window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
    await shifts();
    held.release();
    await expect(cardNames(page)).toHaveCount(2 * LIMITS.listedProducts);
    expect(await shifts()).toEqual(whileLoading);
    await expect(page.getByRole('contentinfo')).toBeVisible();
  });

  test('the footer stays visible while one of its links has the focus', async ({ page, site }) => {
    await site.addProducts(2 * LIMITS.listedProducts, (index) => ({ name: `Bracken ${index}` }));
    const held = await holdResponses(page, NEXT_PAGE);
    await visit(page, '/?q=bracken');
    const link = page.getByRole('contentinfo').getByRole('link');
    await link.focus();
    await expect(page.getByText('Loading more products...')).toBeAttached();
    await expect(page.getByRole('contentinfo')).toHaveCSS('opacity', '1');
    await link.blur();
    await expect(page.getByRole('contentinfo')).toHaveCSS('opacity', '0');
    held.release();
    await expect(cardNames(page)).toHaveCount(2 * LIMITS.listedProducts);
    await expect(page.getByRole('contentinfo')).toHaveCSS('opacity', '1');
  });

  for (const way of ['Back', 'Back to products'] as const) {
    test(`${way} restores the list and its scroll position`, async ({ page, site }) => {
      await site.addProducts(70, (index) => ({ name: `Yarrow ${index}` }));
      await visit(page, '/?q=yarrow');
      await scrollTo(page, 60);
      const link = page.getByRole('link', { name: 'Yarrow 20', exact: true });
      await link.scrollIntoViewIfNeeded();
      const before = await link.boundingBox();
      const asked = recordRequests(page, /\/api\/products\?/);
      await link.click();
      await expect(page.getByRole('heading', { level: 1, name: 'Yarrow 20' })).toBeVisible();
      expect(await page.evaluate(() => scrollY), 'a new page starts at its top').toBe(0);
      if (way === 'Back') await page.goBack();
      else await page.getByRole('link', { name: way }).click();
      await expect(link).toBeInViewport();
      // Moves the pointer away, because a card under it is raised.
      await page.mouse.move(0, 0);
      await expect.poll(async () => Math.round((await link.boundingBox())?.y ?? 0)).toBe(Math.round(before?.y ?? -1));
      expect(
        asked.filter((request) => !request.url().includes('cursor=')),
        'the first page is not requested again',
      ).toEqual([]);
    });
  }

  for (const [plant, where] of [
    ['Pimpernel', ''],
    // There, the end of the page is longer than the screen.
    ['Centaury', ' on a phone'],
  ] as const) {
    test(`Back restores the scroll position in a list that must be refetched${where}`, async ({ page, site }) => {
      await site.addProducts(50, (index) => ({ name: `${plant} ${index}` }));
      if (where) await page.setViewportSize(PHONE);
      await visit(page, `/?q=${plant}`);
      await scrollTo(page, 40);
      const link = page.getByRole('link', { name: `${plant} 12`, exact: true });
      await link.scrollIntoViewIfNeeded();
      await page.mouse.move(0, 0);
      const place = async () => Math.round((await link.boundingBox())?.y ?? 0);
      await expect.poll(place).toBeGreaterThan(0);
      const before = await place();
      await link.press('Enter');
      await expect(page.getByRole('heading', { level: 1, name: `${plant} 12` })).toBeVisible();
      await page.reload();
      // The page requests this name after hydration.
      await expect(page.getByRole('button', { name: 'Next', exact: true })).toHaveAttribute('title', `${plant} 11`);
      await page.goBack();
      await expect.poll(place).toBe(before);
    });
  }

  test('further rows appear without an animation, because scroll anchoring would follow a moving row', async ({
    newVisitor,
    site,
  }) => {
    await site.addProducts(50, (index) => ({ name: `Sorrel ${index}` }));
    const page = await newVisitor({ reducedMotion: 'no-preference' });
    await page.addInitScript(() => {
      const animated: string[] = [];
      Object.assign(window, { animated });
      document.addEventListener('animationstart', ({ target, animationName }) => {
        if (target instanceof Element && target.closest('.product-list')) animated.push(animationName);
      });
    });
    await visit(page, '/?q=sorrel');
    await scrollTo(page, 50);
    await page.evaluate(() => new Promise(requestAnimationFrame));
    expect(await page.evaluate(() => (window as unknown as { animated: string[] }).animated)).toEqual([]);
  });

  test('a reload restores the scroll position in a list with several loaded pages', async ({ page, site }) => {
    await site.addProducts(50, (index) => ({ name: `Clover ${index}` }));
    await visit(page, '/?q=clover');
    await scrollTo(page, 40);
    const link = page.getByRole('link', { name: 'Clover 12', exact: true });
    await link.scrollIntoViewIfNeeded();
    const place = async () => Math.round((await link.boundingBox())?.y ?? 0);
    const before = await place();
    await page.reload();
    await expect.poll(place).toBe(before);
  });

  for (const [what, act] of [
    ['scrolls', () => window.scrollBy({ top: -300, behavior: 'instant' })],
    ['clicks', () => void window.dispatchEvent(new PointerEvent('pointerdown'))],
  ] as const) {
    test(`after a reload, restoring the scroll position stops once the visitor ${what}`, async ({ page, site }) => {
      await site.addProducts(3 * LIMITS.listedProducts, (index) => ({ name: `Trefoil ${what} ${index}` }));
      await visit(page, `/?q=trefoil+${what}`);
      await scrollTo(page, 2 * LIMITS.listedProducts);
      await page.evaluate(() => window.scrollTo({ top: document.body.scrollHeight, behavior: 'instant' }));
      const held = await holdResponses(page, NEXT_PAGE);
      const code = await holdResponses(page, /\/assets\/scroll-on-/);
      await page.reload();
      await expect.poll(() => code.requests.length).toBe(1);
      await page.evaluate(() => {
        const { addEventListener } = window;
        window.addEventListener = (...listener: Parameters<typeof addEventListener>) => {
          addEventListener(...listener);
          if (listener[0] === 'popstate') document.body.dataset.scrollsOn = '';
        };
      });
      code.release();
      await expect(page.locator('body[data-scrolls-on]'), 'the page scrolls on').toBeAttached();
      await expect(page.getByText('Loading more products...')).toBeAttached();
      await page.evaluate(act);
      const top = await page.evaluate(() => window.scrollY);
      held.release();
      await expect(cardNames(page)).toHaveCount(2 * LIMITS.listedProducts);
      await turnEventLoop(page);
      expect(await page.evaluate(() => window.scrollY)).toBe(top);
    });
  }

  test('the list can be sorted by upvotes or comments, each with its own URL', async ({ page, site }) => {
    const [first, second, third] = await site.addProducts(3, (index) => ({ name: `Speedwell ${index + 1}` }));
    await site.addUpvotes(first?.id ?? '', 2);
    await site.addUpvotes(second?.id ?? '', 1);
    await site.addComments(second?.id ?? '', [{}, {}]);
    await site.addComments(third?.id ?? '', [{}]);
    await visit(page, '/?q=speedwell');
    await expect(cardNames(page)).toHaveText(['Speedwell 3', 'Speedwell 2', 'Speedwell 1']);
    await page.getByRole('link', { name: 'Top', exact: true }).click();
    await expect(page).toHaveURL('/?q=speedwell&sort=top');
    await expect(cardNames(page)).toHaveText(['Speedwell 1', 'Speedwell 2', 'Speedwell 3']);
    await page.getByRole('link', { name: 'Discussed', exact: true }).click();
    await expect(cardNames(page)).toHaveText(['Speedwell 2', 'Speedwell 3', 'Speedwell 1']);
  });
});
