import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import {
  commentBox,
  commentTexts,
  expectUpvote,
  failureToast,
  postButton,
  searchBox,
  sortBy,
  toast,
  upvoteOf,
} from '../support/screen.ts';

const UPVOTE = /\/api\/products\/[^/]+\/upvote$/;

/** Records the states of an upvote button. @returns a function that reads the distinct states since this call. */
async function recordStates(page: Page, name: string): Promise<() => Promise<unknown>> {
  const button = await upvoteOf(page, name).elementHandle();
  const states = await button?.evaluateHandle((element) => {
    const pressed = [element.getAttribute('aria-pressed')];
    new MutationObserver((records) => {
      pressed.push(...records.map(({ oldValue }) => oldValue), element.getAttribute('aria-pressed'));
    }).observe(element, { attributeFilter: ['aria-pressed'], attributeOldValue: true });
    return pressed;
  });
  return async () => [...new Set(await states?.jsonValue())];
}

test.describe('§4 and §8: upvotes before the app has loaded', () => {
  test('an upvote is shown and sent immediately, and the app later confirms it without sending it again', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Early Bird' });
    await site.addUpvotes(product.id, 99);
    const puts = recordRequests(page, UPVOTE, 'PUT');
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await upvoteOf(page, 'Early Bird').click();
    await expectUpvote(page, 'Early Bird', { upvoted: true, count: 100 });
    const stored = () => site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
    await expect.poll(async () => (await stored()).length, 'the upvote is stored without the app').toBe(100);
    const states = await recordStates(page, 'Early Bird');
    scripts.release();
    // A focused toast does not time out.
    const undo = toast(page).getByRole('button', { name: 'Undo' });
    await undo.focus();
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
    expect(await states()).toEqual(['true']);
    await expectUpvote(page, 'Early Bird', { upvoted: true, count: 100 });
    await expect(upvoteOf(page, 'Early Bird')).toHaveAttribute('title', 'Remove upvote');
    await requestsReported(page);
    expect(puts).toHaveLength(1);
    expect(await page.evaluate(() => sessionStorage.getItem('write_pending')), 'no write is pending').toBeNull();
    await undo.click();
    await expectUpvote(page, 'Early Bird', { upvoted: false, count: 99 });
    await expect.poll(async () => (await stored()).length).toBe(99);
  });

  test('a click whose request fails is rolled back with a destructive toast', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    await site.addProduct({ name: 'Early Crab' });
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    const failed = await failResponses(page, UPVOTE, { method: 'PUT' });
    await page.goto('/?q=early+crab', { waitUntil: 'domcontentloaded' });
    await upvoteOf(page, 'Early Crab').click();
    await expect.poll(() => failed.requests.length).toBe(1);
    await expectUpvote(page, 'Early Crab', { upvoted: true, count: 1 });
    scripts.release();
    await expect(failureToast(page).locator('.toast-description')).toHaveText(
      'Failed to update upvote: Failed to add upvote: The database cannot be reached',
    );
    await expectUpvote(page, 'Early Crab', { upvoted: false, count: 0 });
    await expect(upvoteOf(page, 'Early Crab')).toHaveAttribute('title', 'Upvote this product');
    await requestsReported(page);
    expect(failed.requests).toHaveLength(1);
  });

  test('a page that is reloaded after a click shows the vote once', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Carp' });
    await site.addUpvotes(product.id, 4);
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    const puts = recordRequests(page, UPVOTE, 'PUT');
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await upvoteOf(page, 'Early Carp').click();
    const remembered = () => page.evaluate(() => localStorage.getItem('upvoted'));
    await expect.poll(remembered).toBe(JSON.stringify([product.id]));
    await page.reload({ waitUntil: 'domcontentloaded' });
    await expect(upvoteOf(page, 'Early Carp')).toHaveAccessibleName('Upvote Early Carp, 5');
    await expect(upvoteOf(page, 'Early Carp')).toHaveAttribute('data-voted');
    const states = await recordStates(page, 'Early Carp');
    scripts.release();
    await expect(upvoteOf(page, 'Early Carp')).not.toHaveAttribute('data-voted');
    await expectUpvote(page, 'Early Carp', { upvoted: true, count: 5 });
    await requestsReported(page);
    expect(await states()).toEqual(['true']);
    expect(puts).toHaveLength(1);
  });

  test('a vote that is taken back is withdrawn even if the visitor leaves before the app runs', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Early Conger' });
    await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    const votes = await holdResponses(page, UPVOTE, { method: 'PUT' });
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await upvoteOf(page, 'Early Conger').click();
    await upvoteOf(page, 'Early Conger').click();
    await expect.poll(() => votes.requests.length).toBe(1);
    votes.release();
    const stored = () => site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
    const remembered = () => page.evaluate(() => localStorage.getItem('upvoted'));
    await expect.poll(remembered).toBe('[]');
    expect(await stored()).toEqual([]);
    await page.goto('about:blank');
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await expect(upvoteOf(page, 'Early Conger')).not.toHaveAttribute('data-voted');
    expect(await stored()).toEqual([]);
  });

  test('three clicks leave one vote, both before and after the app runs', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Dab' });
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    const puts = recordRequests(page, UPVOTE, 'PUT');
    const removals = recordRequests(page, UPVOTE, 'DELETE');
    const writes = () => `${puts.length} PUT, ${removals.length} DELETE`;
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    for (let click = 0; click < 3; click += 1) await upvoteOf(page, 'Early Dab').click();
    const stored = () => site.database.query('SELECT 1 FROM upvotes WHERE product_id = $1', [product.id]);
    await expect.poll(writes).toBe('2 PUT, 1 DELETE');
    await expect.poll(async () => (await stored()).length).toBe(1);
    scripts.release();
    await expect.poll(writes, 'the app repeats the second and third click').toBe('3 PUT, 2 DELETE');
    await expectUpvote(page, 'Early Dab', { upvoted: true, count: 1 });
    await expect.poll(async () => (await stored()).length).toBe(1);
  });

  test('two clicks leave no vote', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Dulse' });
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    const removals = recordRequests(page, UPVOTE, 'DELETE');
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await upvoteOf(page, 'Early Dulse').click();
    await upvoteOf(page, 'Early Dulse').click();
    scripts.release();
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvote removed');
    await expectUpvote(page, 'Early Dulse', { upvoted: false, count: 0 });
    await requestsReported(page);
    expect(removals, 'one sent before the app runs, and one by the app').toHaveLength(2);
  });

  test('a click while the page hydrates counts once', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Eel' });
    // React adds its listeners to the root when hydration starts, and hydrates in a later task.
    await page.addInitScript(() => {
      const { addEventListener } = EventTarget.prototype;
      let isClicked = false;
      EventTarget.prototype.addEventListener = function (this: EventTarget, type: string, ...others: unknown[]) {
        if (type === 'click' && this instanceof Element && this.id === 'root' && !isClicked) {
          isClicked = true;
          queueMicrotask(() => document.querySelector<HTMLElement>('.upvote')?.click());
        }
        return Reflect.apply(addEventListener, this, [type, ...others]);
      };
    });
    const writes = recordRequests(page, UPVOTE, 'PUT');
    await page.goto(`/product/${product.id}`);
    await expect(toast(page).locator('.toast-title')).toHaveText('Upvoted!');
    await expectUpvote(page, 'Early Eel', { upvoted: true, count: 1 });
    await requestsReported(page);
    expect(writes).toHaveLength(1);
  });
});

test.describe('input before the app has loaded', () => {
  test('a typed comment becomes the draft, and can be posted', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Finch' });
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await commentBox(page).pressSequentially('Typed early.');
    scripts.release();
    await expect(postButton(page)).toBeEnabled();
    await expect(commentBox(page)).toHaveValue('Typed early.');
    await postButton(page).click();
    await expect(commentTexts(page)).toHaveText(['Typed early.']);
    await page.reload();
    await expect(commentBox(page)).toHaveValue('');
  });

  test('a typed comment is added to the saved draft, which the text box did not show yet', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Egret' });
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('Saved before.');
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.reload({ waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await commentBox(page).pressSequentially('Typed early.');
    scripts.release();
    await expect(postButton(page)).toBeEnabled();
    await expect(commentBox(page)).toHaveValue('Saved before.\n\nTyped early.');
  });

  test('a comment that is being typed keeps the focus on a page loaded with #comments', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Fulmar', description: 'Glides.\n'.repeat(40) });
    await page.clock.install();
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto(`/product/${product.id}#comments`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await commentBox(page).pressSequentially('Typed');
    scripts.release();
    await expect(postButton(page)).toBeEnabled();
    await page.clock.fastForward(1_000);
    await expect(commentBox(page)).toBeFocused();
  });

  for (const [what, code] of [
    ['the app', /\/assets\/app-[^/]+\.js$/],
    ['the code of the page', /\/assets\/product-[\w-]{8}\.js$/],
  ] as const) {
    test(`if ${what} cannot be loaded, the next click loads it, and a comment can be posted`, async ({
      page,
      site,
      expectConsoleError,
    }) => {
      expectConsoleError(/ERR_FAILED/);
      const product = await site.addProduct({ name: `Early Auk without ${what}` });
      await page.route(code, (route) => route.abort());
      const failed = page.waitForEvent('requestfailed', (request) => code.test(request.url()));
      await page.goto(`/product/${product.id}`);
      await failed;
      // The browser may request the code twice: to preload it and to run it.
      await page.waitForLoadState('networkidle');
      await page.unroute(code);
      await commentBox(page).fill('Written in a tunnel.');
      // The first click may come before the page has noticed the failure.
      await expect(async () => {
        await commentBox(page).click();
        await expect(postButton(page)).toBeEnabled({ timeout: 1_000 });
      }).toPass({ timeout: 60_000 });
      await postButton(page).click();
      await expect(commentTexts(page)).toHaveText(['Written in a tunnel.']);
    });
  }

  test('a typed search term starts a search', async ({ page, site }) => {
    await site.addProduct({ name: 'Early Gull' });
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto('/', { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await searchBox(page).pressSequentially('early gull');
    scripts.release();
    await expect(page).toHaveURL('/?q=early+gull');
    await expect(searchBox(page)).toHaveValue('early gull');
  });

  test('a chosen order of the comments is applied', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Early Heron' });
    await site.addComments(product.id, [{ content: 'Older', likes: 9, createdAt: '2026-01-01T00:00:00.000Z' }]);
    await site.addComments(product.id, [{ content: 'Newer' }]);
    const scripts = await holdResponses(page, /\/assets\/app-[^/]+\.js$/);
    await page.goto(`/product/${product.id}`, { waitUntil: 'domcontentloaded' });
    await expect.poll(() => scripts.requests.length).toBe(1);
    await expect(commentTexts(page)).toHaveText(['Older', 'Newer']);
    await sortBy(page).selectOption('Newest');
    scripts.release();
    await expect(commentTexts(page)).toHaveText(['Newer', 'Older']);
    await expect(sortBy(page)).toHaveValue('newest');
  });
});

test('a reload or Back resets the order of the comments, and the menu that shows it, to Best', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Early Skimmer' });
  await site.addComments(product.id, [{ content: 'Older', likes: 9, createdAt: '2026-01-01T00:00:00.000Z' }]);
  await site.addComments(product.id, [{ content: 'Newer' }]);
  await visit(page, `/product/${product.id}`);
  for (const restore of [() => page.reload(), () => visit(page, '/').then(() => page.goBack())]) {
    await sortBy(page).selectOption('Newest');
    await expect(commentTexts(page)).toHaveText(['Newer', 'Older']);
    await restore();
    await expect(sortBy(page)).toHaveValue('best');
    await expect(commentTexts(page)).toHaveText(['Older', 'Newer']);
  }
});
