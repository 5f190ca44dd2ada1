import { expect, test, visit } from '../support/e2e-test.ts';
import { visitFully } from '../support/offline-page.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { cardOf, commentTexts, discussion, expectUpvote, toast, upvoteOf } from '../support/screen.ts';
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
