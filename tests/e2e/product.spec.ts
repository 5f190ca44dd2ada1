import { deleteProduct } from '../support/delete-products.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, requestsReported } from '../support/network.ts';
import { turnEventLoop, waitUntilHandled } from '../support/page-clock.ts';
import { discussion, failureToast, upvoteOf } from '../support/screen.ts';

test.describe('§2: a product’s page', () => {
  test('shows the image, name, description, upvotes, comment count, all tags, screenshots, team and stats', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({
      name: 'Cormorant',
      description: 'Dives deep.\nComes up again.',
      image: '/pictures/git/tile.svg',
      tags: ['diving', 'birds', 'fishing', 'sea', 'black'],
      category: 'Water birds',
      maker: 'Nature',
      launchDate: 'March 2021',
      team: [
        { name: 'Ada Lovelace', avatar: '/pictures/avatar-default.svg', role: 'Maker' },
        { name: 'Blaise Pascal', avatar: '', role: 'Designer' },
      ],
      screenshots: ['/pictures/git/tile.svg', '/pictures/vim/tile.svg'],
    });
    await site.addUpvotes(product.id, 2);
    await site.addComments(product.id, [{}]);
    await visit(page, `/product/${product.id}`);
    await expect(page).toHaveTitle('Cormorant · Groundswell');
    await expect(page.getByRole('heading', { level: 1, name: 'Cormorant' })).toBeVisible();
    await expect(page.locator('.product-hero-picture')).toHaveAttribute('src', '/pictures/git/tile.svg');
    const description = page.locator('.product-description');
    await expect(description).toHaveText('Dives deep.\nComes up again.', { useInnerText: true });
    await expect(upvoteOf(page, 'Cormorant')).toHaveAccessibleName('Upvote Cormorant, 2');
    await expect(page.getByRole('link', { name: '1 comment', exact: true })).toBeVisible();
    await expect(page.getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText(product.tags);
    await expect(page.getByRole('button', { name: 'Visit Website (Demo)' })).toBeDisabled();

    const screenshots = page.getByRole('region', { name: 'Screenshots' });
    await expect(screenshots.getByRole('heading', { level: 2, name: 'Screenshots' })).toBeVisible();
    for (const number of [1, 2]) {
      const picture = screenshots.getByRole('img', { name: `Screenshot ${number} of Cormorant` });
      await picture.scrollIntoViewIfNeeded();
      await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
    }

    const team = page.getByRole('region', { name: 'Meet the team' });
    await expect(team.getByRole('listitem')).toHaveCount(2);
    const [ada, blaise] = [team.getByRole('listitem').nth(0), team.getByRole('listitem').nth(1)];
    await expect(ada.locator('.team-list-name')).toHaveText('Ada Lovelace');
    await expect(ada.locator('.team-list-role')).toHaveText('Maker');
    await expect(ada.locator('.avatar img')).toHaveAttribute('src', '/pictures/avatar-default.svg');
    await expect(blaise.locator('.avatar'), 'initials instead of a missing picture').toHaveText('BP');

    const stats = page.getByRole('region', { name: 'Product Stats' });
    await expect(stats.getByRole('term')).toHaveText(['Launched', 'Category', 'Maker']);
    await expect(stats.getByRole('definition')).toHaveText(['March 2021', 'Water birds', 'Nature']);
  });

  test('links ‘Back to products’ to the home page', async ({ page }) => {
    await visit(page, '/product/git');
    await page.getByRole('link', { name: 'Back to products', exact: true }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  });

  test('links ‘Back to products’ to the home page even if the visitor came from a leaderboard', async ({ page }) => {
    const { product } = await (await page.request.get('/api/products/lua')).json();
    await visit(page, `/?board=${product.createdAt.slice(0, 10)}`);
    await page.getByRole('link', { name: 'Lua', exact: true }).click();
    await expect(page.getByRole('heading', { level: 1, name: 'Lua' })).toBeVisible();
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page).toHaveURL('/');
    await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
  });
});

test.describe('§2: Previous and Next', () => {
  const button = (name: 'Previous' | 'Next') => ({ name, exact: true }) as const;

  test('open the neighbours in list order and show their names as tooltips', async ({ page, site }) => {
    const [older, middle, newer] = await site.addProducts(3, (index) => ({ name: `Petrel ${index + 1}` }));
    await visit(page, `/product/${middle?.id}`);
    await expect(page.getByRole('button', button('Previous'))).toHaveAttribute('title', 'Petrel 3');
    await expect(page.getByRole('button', button('Next'))).toHaveAttribute('title', 'Petrel 1');
    await page.getByRole('button', button('Previous')).click();
    await expect(page).toHaveURL(`/product/${newer?.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Petrel 3' })).toBeVisible();
    await expect(page).toHaveTitle('Petrel 3 · Groundswell');
    await page.getByRole('button', button('Next')).click();
    await expect(page).toHaveURL(`/product/${middle?.id}`);
    // The URL changes before the button leads to another product.
    await expect(page.getByRole('heading', { level: 1, name: 'Petrel 2' })).toBeVisible();
    await page.getByRole('button', button('Next')).click();
    await expect(page).toHaveURL(`/product/${older?.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Petrel 1' })).toBeVisible();
  });

  test('are disabled at the beginning and the end of the list', async ({ page, site }) => {
    const [newest] = await site.database.query<{ id: string }>(
      'SELECT id FROM products WHERE created_at <= now() ORDER BY created_at DESC, id DESC LIMIT 1',
    );
    const oldest = await site.addProduct({ createdAt: '1999-01-01T00:00:00.000Z' });
    await visit(page, `/product/${newest?.id}`);
    await expect(page.getByRole('button', button('Previous'))).toBeDisabled();
    await expect(page.getByRole('button', button('Next'))).toBeEnabled();
    await page.keyboard.press('ArrowLeft');
    await expect(page).toHaveURL(`/product/${newest?.id}`);
    await visit(page, `/product/${oldest.id}`);
    await expect(page.getByRole('button', button('Next'))).toBeDisabled();
    await expect(page.getByRole('button', button('Previous'))).toBeEnabled();
    await page.keyboard.press('ArrowRight');
    await expect(page).toHaveURL(`/product/${oldest.id}`);
    await deleteProduct(site.database, oldest.id);
  });

  test('have arrow keys as shortcuts, except in the text area and the sort menu', async ({ page, site }) => {
    const [older, newer] = await site.addProducts(2, (index) => ({ name: `Guillemot ${index + 1}` }));
    await visit(page, `/product/${older?.id}`);
    await page.keyboard.press('ArrowLeft');
    await expect(page).toHaveURL(`/product/${newer?.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Guillemot 2' })).toBeVisible();
    await page.keyboard.press('ArrowRight');
    await expect(page).toHaveURL(`/product/${older?.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Guillemot 1' })).toBeVisible();
    const comment = page.getByRole('textbox', { name: 'Your comment' });
    await comment.fill('ab');
    await comment.press('ArrowLeft');
    await comment.press('ArrowLeft');
    await comment.press('x');
    await expect(comment).toHaveValue('xab');
    await page.getByRole('combobox', { name: 'Sort comments' }).press('ArrowRight');
    await expect(page).toHaveURL(`/product/${older?.id}`);
  });
});

test.describe('§2 and §9: #comments', () => {
  test('following a card’s comment link scrolls to the comments after about 100 ms', async ({
    page,
    site,
    pauseClock,
  }) => {
    const product = await site.addProduct({ name: 'Kittiwake', description: 'Calls its name.\n'.repeat(40) });
    await page.clock.install();
    await visit(page, '/?q=kittiwake');
    await expect(page.getByRole('link', { name: /^View Comments.*Kittiwake/ })).toBeVisible();
    await pauseClock();
    await page.getByRole('link', { name: /^View Comments.*Kittiwake/ }).click();
    await expect(page).toHaveURL(`/product/${product.id}#comments`);
    const title = page.getByRole('heading', { name: /^Discussion/ });
    await expect(title).toBeAttached();
    await turnEventLoop(page);
    await page.clock.runFor(80);
    await expect(title).not.toBeInViewport();
    expect(await page.evaluate(() => scrollY)).toBe(0);
    await page.clock.runFor(40);
    await expect(title).toBeInViewport();
    await expect(title).toBeFocused();
  });

  test('a card’s comment link scrolls smoothly', async ({ page, site }) => {
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    const product = await site.addProduct({ name: 'Razorbill', description: 'Dives.\n'.repeat(40) });
    await page.addInitScript(() => {
      const calls: unknown[] = [];
      const { scrollIntoView } = Element.prototype;
      Object.assign(window, { scrollCalls: calls });
      Element.prototype.scrollIntoView = function (options) {
        calls.push({ id: this.id, options });
        scrollIntoView.call(this, options);
      };
    });
    await visit(page, '/?q=razorbill');
    await page.getByRole('link', { name: /^View Comments.*Razorbill/ }).click();
    await expect(page).toHaveURL(`/product/${product.id}#comments`);
    await expect(page.getByRole('heading', { name: /^Discussion/ })).toBeInViewport();
    expect(await page.evaluate(() => (window as unknown as { scrollCalls: unknown }).scrollCalls)).toEqual([
      { id: 'comments', options: { behavior: 'smooth' } },
    ]);
  });

  test('a page loaded with #comments shows and focuses the comments', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Puffin', description: 'Flies.\n'.repeat(40) });
    await page.goto(`/product/${product.id}#comments`);
    const title = page.getByRole('heading', { name: /^Discussion/ });
    await expect(title).toBeFocused();
    await expect(title).toBeInViewport();
  });

  test('each click on the comment count scrolls to the comments', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Auk', description: 'Swims.\n'.repeat(40) });
    await visit(page, `/product/${product.id}`);
    const title = discussion(page).getByRole('heading', { level: 2 });
    for (const _time of ['once', 'again']) {
      await page.evaluate(() => window.scrollTo(0, 0));
      await expect(title).not.toBeInViewport();
      // The click focuses the link, and a timer then moves the focus to the heading.
      await page.getByRole('link', { name: '0 comments', exact: true }).click();
      await expect(title).toBeFocused();
      await expect(title).toBeInViewport();
    }
  });

  test('Back to a page with #comments restores its scroll position, and a typed fragment scrolls again', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Murre', description: 'Stands upright.\n'.repeat(80) });
    await page.clock.install();
    await visit(page, `/product/${product.id}#comments`);
    const title = discussion(page).getByRole('heading', { level: 2 });
    await expect(title).toBeFocused();
    await page.evaluate(() => window.scrollTo({ top: 300, behavior: 'instant' }));
    await expect(title).not.toBeInViewport();
    // A dispatched click does not scroll to the link.
    await page.getByRole('link', { name: 'Groundswell, home' }).dispatchEvent('click');
    await expect(page.getByRole('heading', { level: 1, name: 'Welcome to Groundswell' })).toBeVisible();
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1, name: 'Murre' })).toBeVisible();
    await page.clock.fastForward(1_000);
    await expect(title).not.toBeFocused();
    expect(await page.evaluate(() => Math.round(scrollY))).toBe(300);

    await page.evaluate(() => {
      window.location.hash = '';
      window.location.hash = '#comments';
    });
    await expect(title).toBeFocused();
    await expect(title).toBeInViewport();
  });

  test('a message appears if the code that finds a comment cannot be loaded', async ({ page, expectConsoleError }) => {
    expectConsoleError(/ERR_FAILED.*\/assets\/show-comment-/);
    await page.route(/\/assets\/show-comment-.*\.js$/, (route) => route.abort());
    await visit(page, '/product/git#comment-1');
    await expect(failureToast(page)).toContainText('Loading failed. Please try again.');
  });
});

test('a search for a linked comment does not scroll the page of a product that is opened in the meantime', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Godwit' });
  await site.addProduct({ name: 'Dunlin' });
  await site.addComments(
    product.id,
    Array.from({ length: 40 }, (_, index) => ({ content: `Peep ${index}` })),
  );
  const further = await holdResponses(page, /\/comments\?.*cursor=/);
  await visit(page, `/product/${product.id}#comment-unknown`);
  await expect.poll(() => further.requests.length).toBe(1);
  await page.getByRole('button', { name: /^Previous/ }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Dunlin' })).toBeVisible();
  further.release();
  await requestsReported(page);
  for (const request of further.requests) await waitUntilHandled(page, request);
  await page.evaluate(() => new Promise(requestAnimationFrame));
  await expect(page.locator('#comments-title')).not.toBeFocused();
  expect(await page.evaluate(() => scrollY)).toBe(0);
});

test('on a touch screen, the text of each editable field is at least 16 px, so Safari does not zoom in', async ({
  newVisitor,
  site,
}) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'Fine' }]);
  const page = await newVisitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await visit(page, `/product/${id}`);
  const fields = page.locator(
    ':is(select, textarea, input):not([readonly], [type="radio"], [type="checkbox"]):visible',
  );
  const sizes = await fields.evaluateAll((elements) =>
    elements.map((element) => [element.tagName, Number.parseFloat(getComputedStyle(element).fontSize)] as const),
  );
  expect(sizes.map(([name]) => name)).toEqual(expect.arrayContaining(['INPUT', 'SELECT', 'TEXTAREA']));
  expect(sizes.filter(([, size]) => size < 16)).toEqual([]);
});

test('a picture with an http address is shown', async ({ page, site }) => {
  const image = 'http://pictures.test/a.svg';
  const body = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>';
  await page.route(image, (route) => route.fulfill({ contentType: 'image/svg+xml', body }));
  const { id } = await site.addProduct({ name: 'Guillemot', image });
  await visit(page, `/product/${id}`);
  const picture = page.locator(`img[src="${image}"]`).first();
  await expect.poll(() => picture.evaluate((loaded: HTMLImageElement) => loaded.naturalWidth)).toBe(8);
});
