import { LIMITS } from '../../src/contract/limits.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, recordRequests } from '../support/network.ts';
import { cardNames, searchBox } from '../support/screen.ts';

test.describe('§2 and §5: search', () => {
  test('the list narrows as one types, asks the server, and the term is in the address', async ({ page, site }) => {
    await site.addProducts(2, (index) => ({ name: `Nasturtium ${index + 1}` }));
    await visit(page, '/');
    const asked = recordRequests(page, /\/api\/products\?/);
    await searchBox(page).pressSequentially('nasturtium');
    await expect(cardNames(page)).toHaveText(['Nasturtium 2', 'Nasturtium 1']);
    await expect(page).toHaveURL('/?q=nasturtium');
    await expect(page).toHaveTitle('“nasturtium” · Groundswell');
    expect(asked.map((request) => new URL(request.url()).searchParams.get('q'))).toContain('nasturtium');
    await searchBox(page).pressSequentially(' 2');
    await expect(cardNames(page)).toHaveText(['Nasturtium 2']);
    await expect(page).toHaveURL('/?q=nasturtium+2');
  });

  test('case does not matter, and both name and description are searched', async ({ page, site }) => {
    await site.addProduct({ name: 'ÄRMELKANAL Ferry', description: 'Crosses over.' });
    await site.addProduct({ name: 'Tunnel', description: 'Goes under the Ärmelkanal instead.' });
    await site.addProduct({ name: 'Bridge', description: 'Is not there.', tags: ['ärmelkanal'] });
    for (const term of ['ärmelkanal', 'ÄRMELKANAL', 'rmelKan']) {
      await page.goto(`/?q=${encodeURIComponent(term)}`);
      await expect(cardNames(page)).toHaveText(['Tunnel', 'ÄRMELKANAL Ferry']);
    }
  });

  test('percent, underscore and backslash are what they are, and no pattern', async ({ page, site }) => {
    await site.addProduct({ name: 'Qed 100%_sure\\really' });
    await site.addProduct({ name: 'Qed 100 is surely real' });
    await visit(page, '/');
    for (const term of ['Qed 100%', '0%_s', '%_sure\\', '\\really']) {
      await searchBox(page).fill(term);
      await expect(cardNames(page)).toHaveText(['Qed 100%_sure\\really']);
    }
    await searchBox(page).fill('Qed_100');
    await expect(page.getByText('Nothing on the horizon for “Qed_100”')).toBeVisible();
  });

  test('Escape clears the search and shows every product again', async ({ page, site }) => {
    await site.addProduct({ name: 'Gladiolus' });
    await visit(page, '/?q=gladiolus');
    await expect(searchBox(page)).toHaveValue('gladiolus');
    await searchBox(page).press('Escape');
    await expect(searchBox(page)).toHaveValue('');
    await expect(page).toHaveURL('/');
    await expect(cardNames(page).nth(LIMITS.listedProducts - 1)).toBeAttached();
  });

  test('the key / focuses the search from anywhere but a text field', async ({ page }) => {
    await visit(page, '/product/git');
    await page.keyboard.press('/');
    await expect(searchBox(page)).toBeFocused();
    await expect(searchBox(page)).toHaveValue('');
    const comment = page.getByRole('textbox', { name: 'Your comment' });
    await comment.focus();
    await page.keyboard.press('/');
    await expect(comment).toBeFocused();
    await expect(comment).toHaveValue('/');
  });

  test('a search from a product’s page leads to the list', async ({ page, site }) => {
    await site.addProduct({ name: 'Hollyhock' });
    await visit(page, '/product/git');
    await searchBox(page).pressSequentially('hollyhock');
    await expect(page).toHaveURL('/?q=hollyhock');
    await expect(cardNames(page)).toHaveText(['Hollyhock']);
    await expect(searchBox(page)).toBeFocused();
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1, name: 'Git' })).toBeVisible();
  });

  test('reloading keeps the search, and Back returns to it from a product', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Delphinium' });
    await visit(page, '/?q=delphinium');
    await page.reload();
    await expect(searchBox(page)).toHaveValue('delphinium');
    await expect(cardNames(page)).toHaveText(['Delphinium']);
    await page.getByRole('link', { name: 'Delphinium', exact: true }).click();
    await expect(page).toHaveURL(`/product/${product.id}`);
    await page.goBack();
    await expect(searchBox(page)).toHaveValue('delphinium');
    await expect(cardNames(page)).toHaveText(['Delphinium']);
    await page.goForward();
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page).toHaveURL('/?q=delphinium');
  });

  test('a search that finds nothing says so, and leads back to every product', async ({ page }) => {
    await visit(page, '/');
    await searchBox(page).fill('zzz-nothing-zzz');
    await expect(page.getByText('Nothing on the horizon for “zzz-nothing-zzz”')).toBeVisible();
    await expect(cardNames(page)).toHaveCount(0);
    await page.getByRole('link', { name: 'Show all products' }).click();
    await expect(page).toHaveURL('/');
    await expect(cardNames(page).nth(LIMITS.listedProducts - 1)).toBeAttached();
  });

  test('the number of products found is announced, politely', async ({ page, site }) => {
    await site.addProducts(3, (index) => ({ name: `Snapdragon ${index}` }));
    await visit(page, '/');
    await searchBox(page).fill('snapdragon');
    await expect(page.getByRole('status').filter({ hasText: '3 products' })).toBeAttached();
  });

  test('an answer that comes late does not replace the list of a newer search', async ({ page, site }) => {
    await site.addProduct({ name: 'Larkspur Early' });
    await site.addProduct({ name: 'Larkspur Later' });
    await visit(page, '/');
    const early = await holdResponses(page, /q=larkspur\+e/);
    await searchBox(page).fill('larkspur e');
    await expect.poll(() => early.requests.length).toBe(1);
    await searchBox(page).fill('larkspur l');
    await expect(cardNames(page)).toHaveText(['Larkspur Later']);
    early.release();
    await expect(page).toHaveURL('/?q=larkspur+l');
    await expect(cardNames(page)).toHaveText(['Larkspur Later']);
  });

  test('what is typed before an answer is kept: nothing is echoed over it', async ({ page }) => {
    await visit(page, '/');
    const held = await holdResponses(page, /\/api\/products\?/);
    await searchBox(page).pressSequentially('gi');
    await expect(page).toHaveURL('/?q=gi');
    await searchBox(page).pressSequentially('t');
    held.release();
    await expect(page).toHaveURL('/?q=git');
    await expect(searchBox(page)).toHaveValue('git');
    await expect(cardNames(page).first()).toBeVisible();
  });

  test('a click on a product right after typing leads to the product, and stays there', async ({ page }) => {
    await page.clock.install();
    await visit(page, '/');
    const name = await cardNames(page).first().innerText();
    await page.clock.pauseAt(Date.now() + 60_000);
    await searchBox(page).fill('something else');
    await cardNames(page).first().click();
    await expect(page).toHaveURL(/\/product\//);
    const address = page.url();
    await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeAttached();
    await expect(searchBox(page)).toHaveValue('');
    await page.clock.fastForward(5_000);
    await expect(page).toHaveURL(address);
  });
});
