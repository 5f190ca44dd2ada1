import { expect, test } from '../support/e2e-test.ts';
import { cardNames, cardOf, commentArticles, commentTexts, searchBox, upvoteOf } from '../support/screen.ts';

test.use({ javaScriptEnabled: false });

test.describe('§2: without JavaScript', () => {
  test('the list, a product and its comments can be read', async ({ page, site }) => {
    const product = await site.addProduct({
      name: 'Quiet Lantern',
      screenshots: ['/pictures/git/tile.svg'],
      team: [{ name: 'Ada', avatar: '', role: 'Maker' }],
    });
    await site.addComments(product.id, [{ content: 'Shines without a script' }]);
    await page.goto('/?q=quiet+lantern');
    await cardOf(page, 'Quiet Lantern').click({ position: { x: 8, y: 8 } });
    await expect(page).toHaveURL(`/product/${product.id}`);
    await expect(page.getByRole('heading', { level: 1, name: 'Quiet Lantern' })).toBeVisible();
    await expect(upvoteOf(page, 'Quiet Lantern')).toBeVisible();
    await expect(commentTexts(page)).toHaveText(['Shines without a script']);
    await expect(page.getByText('Ada', { exact: true })).toBeVisible();
    const screenshot = page.getByRole('link', { name: 'Screenshot 1 of Quiet Lantern' });
    await expect(screenshot).toHaveAttribute('href', '/pictures/git/tile.svg');
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page).toHaveURL('/');
  });

  test('Previous and Next are links, and a notice says that votes and comments need JavaScript', async ({
    page,
    site,
  }) => {
    const [first, middle, last] = await site.addProducts(3, (index) => ({ name: `Willow ${index}` }));
    await page.goto(`/product/${middle?.id}`);
    await expect(page.getByRole('button', { name: /^(Previous|Next|Share|Post Comment|Reply)/ })).toHaveCount(0);
    await expect(page.getByText('Upvoting, saving and sharing need JavaScript.', { exact: true })).toBeVisible();
    await expect(page.getByText('Writing and liking comments need JavaScript.', { exact: true })).toBeVisible();
    await page.getByRole('link', { name: 'Next', exact: true }).click();
    await expect(page).toHaveURL(`/product/${first?.id}`);
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await page.getByRole('link', { name: 'Previous', exact: true }).click();
    await expect(page).toHaveURL(`/product/${last?.id}`);
    await page.goto('/?q=willow');
    await expect(page.getByText('Upvoting and saving need JavaScript.', { exact: true })).toBeVisible();
  });

  test('the search works as a plain form', async ({ page, site }) => {
    await site.addProduct({ name: 'Plain Pencil & Co' });
    await page.goto('/');
    await searchBox(page).fill('pencil & co');
    await searchBox(page).press('Enter');
    await expect(page).toHaveURL('/?q=pencil+%26+co');
    await expect(searchBox(page)).toHaveValue('pencil & co');
    await expect(cardNames(page)).toHaveText(['Plain Pencil & Co']);
  });

  test('links lead to all pages of the list, with consecutive ranks', async ({ page, site }) => {
    await site.addProducts(50, (index) => ({ name: `Gorse ${index}` }));
    await page.goto('/?q=gorse');
    await expect(cardNames(page)).toHaveCount(20);
    await page.getByRole('link', { name: 'Show more products' }).click();
    await expect(page.getByText('Rank 21', { exact: true })).toBeVisible();
    await page.getByRole('link', { name: 'Show more products' }).click();
    await expect(cardNames(page)).toHaveCount(10);
    await expect(cardNames(page).last()).toHaveText('Gorse 0');
    await expect(page.locator('.product-card-rank').first()).toHaveText('Rank 41');
    await expect(page.locator('.product-card-rank').last()).toHaveText('Rank 50');
    await expect(page.getByRole('link', { name: 'Show more products' })).toHaveCount(0);
  });

  test('links lead to all pages of a long discussion, and back to the first', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Talkative Parrot' });
    await site.addComments(
      product.id,
      Array.from({ length: 35 }, (_, index) => ({ content: `Squawk ${index + 1}.`, likes: 100 - index })),
    );
    await page.goto(`/product/${product.id}`);
    await expect(page.getByRole('heading', { name: 'Discussion (35)' })).toBeVisible();
    await expect(commentArticles(page)).toHaveCount(30);
    await page.getByRole('link', { name: 'Show more comments' }).click();
    await expect(commentTexts(page)).toHaveText(['Squawk 31.', 'Squawk 32.', 'Squawk 33.', 'Squawk 34.', 'Squawk 35.']);
    await expect(page.getByRole('heading', { name: 'Discussion (35)' })).toBeVisible();
    await page.getByRole('link', { name: 'Start from the first page' }).click();
    await expect(commentArticles(page)).toHaveCount(30);
    await expect(page.getByRole('link', { name: 'Start from the first page' })).toHaveCount(0);
  });

  test('a page that failed to load has a link that loads it again', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    await site.addProduct({ name: 'Sunken Bell' });
    await site.database.query('ALTER TABLE product_counts RENAME TO hidden_counts');
    await page.goto('/?q=sunken+bell');
    await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
    await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0);
    await site.database.query('ALTER TABLE hidden_counts RENAME TO product_counts');
    await page.getByRole('link', { name: 'Try again' }).click();
    await expect(page).toHaveURL('/?q=sunken+bell');
    await expect(cardNames(page)).toHaveText(['Sunken Bell']);
  });
});
