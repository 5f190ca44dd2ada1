import { LIMITS } from '../../src/contract/limits.ts';
import { PRODUCT_FIELDS } from '../../src/contract/products/fields.ts';
import { deleteProduct } from '../support/delete-products.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { setOnline } from '../support/network.ts';
import { cardNames, cardOf, PHONE, searchBox, upvoteOf } from '../support/screen.ts';

const TAGLINE = 'The place to discover and launch innovative tech products. Explore the wave.';

test.describe('§1 and §2: the home page', () => {
  test('on the home page, the home link in the footer scrolls to the top', async ({ page }) => {
    await visit(page, '/');
    const link = page.getByRole('contentinfo').getByRole('link', { name: 'Groundswell' });
    const scrolledBy = () => page.evaluate(() => scrollY);
    await link.focus();
    await expect.poll(scrolledBy).toBeGreaterThan(0);
    await link.press('Enter');
    await expect.poll(scrolledBy).toBe(0);
    await expect(page).toHaveURL('/');
  });

  test('the links that sort the list are on one line, at widths from 390 to 1280 px', async ({ page }) => {
    await visit(page, '/');
    for (const width of [390, 768, 1024, 1216, 1250, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const tops = await Promise.all(
        ['Newest', 'Discussed'].map(
          async (name) => (await page.getByRole('link', { name, exact: true }).boundingBox())?.y,
        ),
      );
      expect(tops[0], `at ${width} px`).toBe(tops[1]);
    }
  });

  test('the header shows the brand and the tagline, and a banner welcomes the visitor', async ({ page }) => {
    await visit(page, '/');
    const header = page.getByRole('banner');
    await expect(header.getByRole('link', { name: 'Groundswell, home' })).toBeVisible();
    await expect(header.getByText(TAGLINE, { exact: true })).toBeVisible();
    await expect(header.getByPlaceholder('Search products...', { exact: true })).toBeVisible();
    const banner = page.getByRole('region', { name: 'Welcome' });
    await expect(banner.getByRole('heading', { level: 1 })).toHaveText(/^Welcome/);
    await expect(banner.locator('.waves')).toBeVisible();
    await expect(page).toHaveTitle('Top Products Launching Today · Groundswell');
  });

  test('the logo links to the home page from a product and from the 404 page', async ({ page, expectConsoleError }) => {
    expectConsoleError(/404 \(Not Found\).*\/nowhere/);
    for (const path of ['/product/git', '/nowhere']) {
      await page.goto(path);
      await page.getByRole('link', { name: 'Groundswell, home' }).click();
      await expect(page).toHaveURL('/');
      await expect(page.getByRole('heading', { name: 'Top Products Launching Today' })).toBeVisible();
    }
  });

  test('the logo leads from a search to the whole list, and empties the search box', async ({ page, site }) => {
    await site.addProduct({ name: 'Lodestar' });
    await visit(page, '/?q=lodestar');
    await expect(cardNames(page)).toHaveText(['Lodestar']);
    await page.getByRole('link', { name: 'Groundswell, home' }).click();
    await expect(page).toHaveURL('/');
    await expect(searchBox(page)).toHaveValue('');
    await expect(cardNames(page).nth(1)).toBeVisible();
  });

  test('Demo placeholders are disabled and do nothing', async ({ page }) => {
    await visit(page, '/');
    const address = page.url();
    const labels = ['Sign in', 'Subscribe', 'Launches', 'Products', 'Community', 'Notifications', 'View more articles'];
    for (const label of labels) {
      const button = page.getByRole('button', { name: `${label} (Demo)`, exact: true });
      await expect(button).toBeVisible();
      await expect(button).toBeDisabled();
      await button.click({ force: true });
    }
    const visits = page.getByRole('button', { name: 'Visit Website (Demo)', exact: true });
    expect(await visits.count()).toBeGreaterThanOrEqual(LIMITS.listedProducts);
    for (const button of await visits.all()) await expect(button).toBeDisabled();
    // A click on the disabled button must not reach the link that covers the card.
    await visits.first().click({ force: true });
    expect(page.url()).toBe(address);
  });

  test('the newest products come first, ranked from 1', async ({ page, site }) => {
    const newest = await site.database.query<{ name: string }>(
      'SELECT name FROM products WHERE created_at <= now() ORDER BY created_at DESC, id DESC LIMIT $1',
      [LIMITS.listedProducts],
    );
    // The cache may still serve a page that was rendered before the writes of earlier tests.
    await expect(async () => {
      await visit(page, '/');
      const names = (await cardNames(page).allTextContents()).slice(0, LIMITS.listedProducts);
      expect(names).toEqual(newest.map(({ name }) => name));
    }).toPass();
    await expect(page.getByRole('heading', { level: 2, name: 'Top Products Launching Today' })).toBeVisible();
    const ranks = await page.locator('.product-card-rank').allTextContents();
    expect(ranks.slice(0, LIMITS.listedProducts)).toEqual(
      Array.from({ length: LIMITS.listedProducts }, (_, index) => `Rank ${index + 1}`),
    );
  });

  test('a card shows the rank, image, name, description, comment count, upvotes and only the first 3 tags', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({
      name: 'Periwinkle Editor',
      description: 'Edits periwinkles.',
      image: '/pictures/git/tile.svg',
      tags: ['first-tag', 'second-tag', 'third-tag', 'fourth-tag', 'fifth-tag'],
    });
    await site.addComments(product.id, [{}, {}]);
    await site.addUpvotes(product.id, 3);
    await visit(page, '/?q=periwinkle');
    const card = cardOf(page, 'Periwinkle Editor');
    await expect(card.getByText('Rank 1', { exact: true })).toBeVisible();
    const image = card.locator('img');
    await expect(image).toHaveAttribute('src', '/pictures/git/tile.svg');
    expect(await image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBeGreaterThan(0);
    await expect(card.getByText('Edits periwinkles.', { exact: true })).toBeVisible();
    await expect(card.getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText([
      'first-tag',
      'second-tag',
      'third-tag',
    ]);
    const comments = card.getByRole('link', { name: /^View Comments, 2/ });
    await expect(comments).toHaveAttribute('title', 'View Comments');
    const upvote = upvoteOf(page, 'Periwinkle Editor');
    await expect(upvote).toHaveAccessibleName('Upvote Periwinkle Editor, 3');
    await expect(card.getByRole('button', { name: 'Visit Website (Demo)' })).toBeDisabled();
  });

  test('a long description is clamped to 2 lines', async ({ page, site }) => {
    await site.addProduct({ name: 'Verbose Umbrella', description: 'Keeps the rain away from you. '.repeat(40) });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await visit(page, '/?q=verbose+umbrella');
      const lines = await cardOf(page, 'Verbose Umbrella')
        .locator('.product-card-description')
        .evaluate((element) => ({
          shown: element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight),
          hidden: element.scrollHeight > element.clientHeight,
        }));
      expect(lines.shown).toBeCloseTo(2, 1);
      expect(lines.hidden).toBe(true);
    }
  });

  test('a click anywhere on a card, or Enter on its name, opens the product', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Marigold Clock', description: 'Tells the time of marigolds.' });
    await visit(page, '/?q=marigold+clock');
    const title = page.getByRole('heading', { level: 1, name: 'Marigold Clock' });
    await cardOf(page, 'Marigold Clock').click({ position: { x: 8, y: 8 } });
    await expect(page).toHaveURL(`/product/${product.id}`);
    await expect(title).toBeVisible();
    await page.goBack();
    const text = await cardOf(page, 'Marigold Clock').getByText('Tells the time of marigolds.').boundingBox();
    // Uses mouse coordinates, because the name's link covers the whole card and would intercept locator.click().
    await page.mouse.click((text?.x ?? 0) + 20, (text?.y ?? 0) + 10);
    await expect(page).toHaveURL(`/product/${product.id}`);
    await expect(title).toBeVisible();
    await page.goBack();
    await page.getByRole('link', { name: 'Marigold Clock', exact: true }).press('Enter');
    await expect(title).toBeVisible();
  });

  test('the comment button of a card opens the product at its comments', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Foxglove Router' });
    await visit(page, '/?q=foxglove');
    await cardOf(page, 'Foxglove Router')
      .getByRole('link', { name: /^View Comments/ })
      .click();
    await expect(page).toHaveURL(`/product/${product.id}#comments`);
    await expect(page.getByRole('heading', { name: 'Discussion (0)' })).toBeInViewport();
  });

  test('the sidebar Product Landscapes shows three fixed articles with title, excerpt, author, avatar and subtitle', async ({
    page,
  }) => {
    await visit(page, '/');
    const sidebar = page.getByRole('complementary', { name: 'Product Landscapes' });
    await expect(sidebar.getByRole('heading', { level: 2, name: 'Product Landscapes' })).toBeVisible();
    const articles = sidebar.getByRole('article');
    await expect(articles).toHaveCount(3);
    for (const article of await articles.all()) {
      await expect(article.getByRole('heading', { level: 3 })).toHaveText(/\S/);
      await expect(article.locator('.article-card-excerpt')).toHaveText(/\S{3}/);
      await expect(article.locator('.article-card-name')).toHaveText(/\S/);
      await expect(article.locator('.article-card-subtitle')).toHaveText(/\S/);
      await expect(article.locator('.avatar')).toBeVisible();
    }
    const before = await sidebar.textContent();
    await page.goto('/?q=nothing-has-this-name');
    expect(await sidebar.textContent(), 'the articles do not depend on the products').toBe(before);
  });

  test('an image that fails to load is replaced by a placeholder', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/404 \(Not Found\).*\/pictures\/missing\.svg/);
    await site.addProduct({ name: 'Pictureless Thing', image: '/pictures/missing.svg' });
    await page.goto('/?q=pictureless');
    const card = cardOf(page, 'Pictureless Thing');
    await expect(card.locator('.picture-placeholder')).toBeVisible();
    await expect(card.locator('img')).toHaveCount(0);
  });

  test('an image that fails without a network is loaded when the network returns', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_INTERNET_DISCONNECTED/);
    await site.addProduct({ name: 'Seaward Thing', image: '/pictures/git/tile.svg' });
    await page.route('**/pictures/git/tile.svg', (route) => route.abort('internetdisconnected'));
    await page.goto('/?q=seaward');
    const card = cardOf(page, 'Seaward Thing');
    await expect(card.locator('.picture-placeholder')).toBeVisible();
    await page.unrouteAll();
    await setOnline(page, false);
    await setOnline(page, true);
    const width = () => card.locator('img').evaluate((image: HTMLImageElement) => image.naturalWidth);
    await expect.poll(width).toBeGreaterThan(0);
  });
});

test.describe('the layout of the list', () => {
  test('has the sort order next to the heading, a line per day, and the age and maker on each card', async ({
    page,
    site,
  }) => {
    const times = ['2020-03-02T10:00:00Z', '2020-03-02T09:00:00Z', '2020-03-01T23:00:00Z'];
    await site.addProducts(3, (index) => ({
      name: `Mallow ${index}`,
      tags: ['mallow'],
      maker: 'Studio Mallow',
      createdAt: String(times[index]),
    }));
    await visit(page, '/?tag=mallow');
    await expect(page.getByText('Newest first', { exact: true })).toBeVisible();
    await expect(page.locator('.list-day')).toHaveText([/^Monday,? 2 March 2020$/, /^Sunday,? 1 March 2020$/]);
    await expect(cardOf(page, 'Mallow 1').locator('.product-card-origin')).toHaveText(/^Studio Mallow · \d+ days ago$/);
    await visit(page, '/?tag=mallow&sort=top');
    await expect(page.getByText('Most upvotes first', { exact: true })).toBeVisible();
    await expect(page.locator('.list-day')).toHaveCount(0);
  });

  test('on a phone, the first product of the home page begins in the upper half of the screen', async ({ page }) => {
    await page.setViewportSize(PHONE);
    await visit(page, '/');
    const box = await page.locator('.product-card').first().boundingBox();
    expect(box?.y).toBeLessThanOrEqual(380);
  });

  test('at 1280 px, all Demo items of the header are in one row', async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await visit(page, '/');
    const items = page.locator('.site-header .demo-row .demo-button');
    await expect(items).toHaveCount(6);
    const tops = await items.evaluateAll((all) => all.map((item) => Math.round(item.getBoundingClientRect().top)));
    expect(new Set(tops).size).toBe(1);
  });
});

test.describe('§3: the fields of a product', () => {
  test('a product with empty fields shows the defaults', async ({ page, site }) => {
    const blank = { name: '', description: '', image: '', category: '', maker: '', launchDate: '' };
    const product = await site.addProduct(blank);
    await visit(page, `/product/${product.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Untitled Product' })).toBeVisible();
    await expect(page.getByText('No description available', { exact: true })).toBeVisible();
    const { product: served } = await (await page.request.get(`/api/products/${product.id}`)).json();
    expect(served.image).toBe(PRODUCT_FIELDS.image.default);
    // The page shows the product's initial instead of the placeholder image.
    await expect(page.locator('.product-hero-picture')).toHaveAttribute('data-initial', 'U');
    const stats = page.getByRole('region', { name: 'Product Stats' });
    await expect(stats.getByRole('definition')).toHaveText(['Today', 'Uncategorized', 'Unknown Maker']);
    await expect(page.getByRole('list', { name: 'Tags' })).toHaveCount(0);
  });

  test('product and comment rows that were inserted without values show the defaults', async ({ page, site }) => {
    await site.database.query("INSERT INTO products (id, search_text) VALUES ('bare', '')");
    await site.database.query("INSERT INTO product_counts (product_id, comments) VALUES ('bare', 1)");
    await site.database.query(
      "INSERT INTO comments (id, product_id, content) VALUES (gen_random_uuid(), 'bare', 'A bare comment')",
    );
    // The launch time is the database's current time, and the site's clock may be slightly behind it.
    await expect.poll(async () => (await page.request.get('/api/products/bare')).status()).toBe(200);
    await visit(page, '/product/bare');
    await expect(page.getByRole('heading', { level: 1, name: 'Untitled Product' })).toBeVisible();
    await expect(page.getByText('No description available', { exact: true })).toBeVisible();
    const comment = page.getByRole('article', { name: 'Comment by Anonymous' });
    await expect(comment.getByRole('button', { name: 'Like 0' })).toBeVisible();
    await expect(comment.locator('.badge')).toHaveCount(0);
    await expect(page.locator('.comment .avatar img')).toHaveAttribute('src', '/pictures/avatar-default.svg');
    await deleteProduct(site.database, 'bare');
  });
});
