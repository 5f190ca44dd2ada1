import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import type { Product } from '../../src/contract/products/schema.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses } from '../support/network.ts';
import { visitFully } from '../support/offline-page.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { cardNames, cardOf, commentTexts, discussion, expectUpvote, toast, upvoteOf } from '../support/screen.ts';
import { submissionTest } from '../support/submission-site.ts';

test.describe('Back and Forward between documents', () => {
  test('show an upvote and a comment made in the meantime', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Wanderer' });
    await visit(page, '/?q=wanderer');
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 0');
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Wanderer').click();
    await expect(toast(page)).toHaveCount(1);
    await page.getByRole('textbox', { name: 'Your comment' }).fill('Written before going back');
    await page.getByRole('button', { name: 'Post Comment' }).click();
    await expect(commentTexts(page)).toHaveText(['Written before going back']);

    await page.goBack();
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 1');
    await expect(upvoteOf(page, 'Wanderer')).toHaveAttribute('aria-pressed', 'true');
    await expect(cardOf(page, 'Wanderer').getByTitle('View Comments')).toHaveAccessibleName(/^View Comments, 1/);

    await page.goForward();
    await expect(commentTexts(page)).toHaveText(['Written before going back']);
    await expect(upvoteOf(page, 'Wanderer')).toHaveAccessibleName('Upvote Wanderer, 1');
  });

  test('update a page that is restored from the back/forward cache', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Sleeper' });
    await visit(page, `/product/${product.id}`);
    await site.addUpvotes(product.id, 2);
    await site.addComments(product.id, [{ content: 'Written meanwhile' }]);
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await expect(upvoteOf(page, 'Sleeper')).toHaveAccessibleName('Upvote Sleeper, 2');
    await expect(commentTexts(page)).toHaveText(['Written meanwhile']);
    await expect(discussion(page).getByRole('heading', { level: 2 })).toHaveText('Discussion (1)');
    await expect(page.getByRole('link', { name: '1 comment', exact: true })).toBeVisible();
  });

  test('show a pending vote that arrives after a return from the back/forward cache', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Dozer' });
    await visitFully(page, `/product/${product.id}`);
    const refetched = page.waitForResponse(/\/api\/upvotes\?/);
    const session = await page.evaluate(() => {
      sessionStorage.setItem('write_pending', 'another page');
      window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
      return localStorage.getItem('user_session') ?? '';
    });
    await (await refetched).finished();
    await otherVisitor(page, session).upvote(product.id);
    await expectUpvote(page, 'Dozer', { upvoted: true, count: 1 });
  });
});

test('Back and ‘Back to products’ restore the focus to the link that the visitor followed', async ({ page, site }) => {
  await site.addProducts(3, (index) => ({ name: `Returner ${index}` }));
  await visitFully(page, '/?q=returner');
  const link = page.getByRole('link', { name: 'Returner 1', exact: true });
  const title = page.getByRole('heading', { level: 1, name: 'Returner 1' });
  await link.click();
  await expect(title).toBeFocused();
  await page.goBack();
  await expect(link).toBeFocused();
  await link.press('Enter');
  await expect(title).toBeFocused();
  await page.getByRole('link', { name: 'Back to products' }).click();
  await expect(link).toBeFocused();
  await link.press('Enter');
  await expect(title).toBeFocused();
  await page.goBack();
  await expect(link).toBeFocused();
});

test('Back restores the list as it was left, even if ‘Back to products’ led to it', async ({ page, site }) => {
  await site.addProducts(8, (index) => ({ name: `Sandpiper ${index}` }));
  await visitFully(page, '/?q=sandpiper');
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const scrollY = () => page.evaluate(() => Math.round(window.scrollY));
  /** Scrolls the list and follows a link, without scrolling to the link. */
  async function leaveAt(top: number, name: string): Promise<void> {
    await page.evaluate(async (to) => {
      const scrolled = new Promise((resolve) => window.addEventListener('scroll', resolve, { once: true }));
      window.scrollTo({ top: to, behavior: 'instant' });
      await scrolled;
    }, top);
    await link(name).evaluate((element: HTMLElement) => {
      element.focus({ preventScroll: true });
      element.click();
    });
    await expect(page.getByRole('heading', { level: 1, name })).toBeFocused();
  }
  await leaveAt(200, 'Sandpiper 6');
  await page.getByRole('link', { name: 'Back to products' }).click();
  await expect(link('Sandpiper 6')).toBeFocused();
  expect(await scrollY()).toBe(200);
  await leaveAt(400, 'Sandpiper 5');
  await page.goBack();
  await expect(link('Sandpiper 5')).toBeFocused();
  expect(await scrollY()).toBe(400);
});

test('a new document starts at the top, and reload, Back and Forward restore the scroll position', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Drifter', description: 'Long way down.\n'.repeat(200) });
  const scrollY = () => page.evaluate(() => Math.round(window.scrollY));
  await visit(page, `/product/${product.id}`);
  await page.evaluate(() => window.scrollTo({ top: 1_500, behavior: 'instant' }));
  await expect.poll(scrollY).toBe(1_500);
  await visit(page, `/product/${product.id}?comments=`);
  expect(await scrollY(), 'a new document starts at the top').toBe(0);
  const reloaded = page.waitForEvent('load');
  await page.evaluate(() => {
    window.scrollTo({ top: 700, behavior: 'instant' });
    // Reloads in the same frame, before the page gets a scroll event.
    window.location.reload();
  });
  await reloaded;
  await expect.poll(scrollY).toBe(700);
  await page.goBack();
  await expect.poll(scrollY).toBe(1_500);
  await page.goForward();
  await expect.poll(scrollY).toBe(700);
});

test('hiding a tab stores its scroll position, and preserves those of other pages', async ({ page }) => {
  await visit(page, '/');
  const stored = await page.evaluate(() => {
    sessionStorage.setItem('scroll_positions', JSON.stringify({ other: 500 }));
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    return { positions: sessionStorage.getItem('scroll_positions'), key: window.history.state.key };
  });
  expect(JSON.parse(stored.positions ?? '')).toEqual({ other: 500, [stored.key]: 0 });
});

test('a double click on a link adds one entry to the history', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Whimbrel' });
  await visit(page, '/?q=whimbrel');
  const clickTwice = (link: string) =>
    page.getByRole('link', { name: link, exact: true }).evaluate((element: HTMLElement) => {
      element.click();
      element.click();
    });
  await clickTwice('Whimbrel');
  await expect(page.getByRole('heading', { level: 1, name: 'Whimbrel' })).toBeFocused();
  await page.goBack();
  await expect(page).toHaveURL('/?q=whimbrel');
  await page.goForward();
  await clickTwice('Back to products');
  await expect(page).toHaveURL('/?q=whimbrel');
  await page.goBack();
  await expect(page).toHaveURL(`/product/${product.id}`);
});

test('Previous and Next follow the order of the list that the visitor came from', async ({ page, site }) => {
  const [first, second] = await site.addProducts(3, (index) => ({ name: `Turnstone ${index}` }));
  await site.addUpvotes(first?.id ?? '', 2);
  await site.addUpvotes(second?.id ?? '', 1);
  await visit(page, '/?q=turnstone&sort=top');
  await page.getByRole('link', { name: 'Turnstone 0', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 0' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Previous', exact: true })).toBeDisabled();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Turnstone 2' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Next', exact: true })).toBeDisabled();
});

test('Next leads to the end of a list in which a product moved to a later page', async ({ page, site }) => {
  const [last, , moved] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Redshank ${index}` }));
  await page.route(/\/api\/products\?.*cursor=/, async (route) => {
    const response = await route.fetch();
    const json = await response.json();
    await route.fulfill({ response, json: { ...json, items: [moved, ...json.items] } });
  });
  await visit(page, '/?q=redshank');
  await page.getByRole('link', { name: 'Redshank 1', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Redshank 1' })).toBeVisible();
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await expect(page).toHaveURL(`/product/${last?.id}`);
  await expect(page.getByRole('button', { name: 'Next', exact: true })).toBeDisabled();
});

test.describe('Previous and Next', () => {
  const previous = (page: Page) => page.getByRole('button', { name: 'Previous', exact: true });
  const next = (page: Page) => page.getByRole('button', { name: 'Next', exact: true });
  /** Opens the first product with this name without scrolling, which could load the next page of the list. */
  async function open(page: Page, name: string): Promise<void> {
    await page.getByRole('link', { name, exact: true }).first().dispatchEvent('click');
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
  }

  const listed = async (page: Page, query: string) =>
    (await page.request.get(`/api/products?limit=${LIMITS.listedProducts}${query}`)).json();

  for (const [list, name, query] of [
    ['the default list', 'Smew', ''],
    ['a search', 'Scoter', '&q=scoter'],
  ] as const) {
    test(`Previous is enabled on the first product of a later page of ${list}`, async ({ page, site }) => {
      await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `${name} ${index}` }));
      await expect.poll(async () => (await listed(page, `&q=${name}`)).items.at(-1)?.name).toBe(`${name} 1`);
      const { items, nextCursor } = await listed(page, query);
      await visit(page, `/?cursor=${encodeURIComponent(nextCursor)}${query}`);
      await open(page, await cardNames(page).first().innerText());
      await previous(page).click();
      await expect(page).toHaveURL(`/product/${items.at(-1).id}`);
    });
  }

  test('Previous is disabled on the first product of a later page of a sorted list', async ({ page, site }) => {
    await site.addProducts(LIMITS.listedProducts + 2, (index) => ({ name: `Goosander ${index}` }));
    const query = '&q=goosander&sort=top';
    await expect.poll(async () => (await listed(page, query)).nextCursor).not.toBeNull();
    const { nextCursor } = await listed(page, query);
    await visit(page, `/?cursor=${encodeURIComponent(nextCursor)}${query}`);
    const name = await cardNames(page).first().innerText();
    await open(page, name);
    await next(page).click();
    await previous(page).click();
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible();
    await expect(previous(page)).toBeDisabled();
  });

  test('Previous leads to a newer product from a list whose URL has only unknown parameters', async ({
    page,
    site,
  }) => {
    await visit(page, '/?utm_source=mail');
    const name = await cardNames(page).first().innerText();
    const newer = await site.addProduct({ name: 'Gadwall', createdAt: new Date().toISOString() });
    const { id } = (await listed(page, '')).items.find((product: Product) => product.name === name);
    const detail = async () => (await page.request.get(`/api/products/${id}`)).json();
    await expect.poll(async () => (await detail()).previousId).toBe(newer.id);
    await open(page, name);
    await previous(page).click();
    await expect(page).toHaveURL(`/product/${newer.id}`);
  });

  test('Next loads further pages of a search until one has a product', async ({ page, site }) => {
    const [last] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Garganey ${index}` }));
    let body: unknown;
    await page.route(/\/api\/products\?.*cursor=/, async (route) => {
      if (route.request().url().includes('cursor=later')) return route.fulfill({ json: body });
      body = await (await route.fetch()).json();
      return route.fulfill({ json: { items: [], nextCursor: 'later' } });
    });
    await visit(page, '/?q=garganey');
    await open(page, 'Garganey 1');
    await next(page).click();
    await expect(page).toHaveURL(`/product/${last?.id}`);
  });

  test('Next leads to an older product if the next page of a search cannot be loaded', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/Failed to fetch products/);
    const [last] = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Pintail ${index}` }));
    await failResponses(page, /\/api\/products\?.*cursor=/);
    await visit(page, '/?q=pintail');
    await open(page, 'Pintail 1');
    await next(page).click();
    await expect(page).toHaveURL(`/product/${last?.id}`);
  });
});

submissionTest(
  'after a submission, ‘Back to products’ leads to the list, and so does closing the dialog after Back',
  async ({ page, expectConsoleError }) => {
    // The product is not visible before its approval.
    expectConsoleError(/404/);
    const dialog = page.getByRole('dialog');
    await page.goto('/?submit');
    await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('Tunicate');
    await dialog.getByRole('button', { name: 'Submit for review' }).click();
    await dialog.getByRole('link', { name: 'See your launch' }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Tunicate' })).toBeFocused();
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
    await expect(dialog).toHaveCount(0);
    await page.goBack();
    await page.goBack();
    await expect(dialog).toBeVisible();
    await page.keyboard.press('Escape');
    await expect(page).toHaveURL('/');
  },
);
