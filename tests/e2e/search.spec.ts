import { LIMITS } from '../../src/contract/limits.ts';
import { expect, test, visit, waitForHydration } from '../support/e2e-test.ts';
import { holdResponses, recordRequests } from '../support/network.ts';
import { turnEventLoop, waitUntilHandled } from '../support/page-clock.ts';
import { cardNames, PHONE, searchBox } from '../support/screen.ts';

test.describe('§2 and §5: search', () => {
  test('typing searches on the server and puts the term into the URL', async ({ page, site }) => {
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

  test('Escape clears the search and shows every product again', async ({ page, site }) => {
    await site.addProduct({ name: 'Gladiolus' });
    await visit(page, '/?q=gladiolus');
    await expect(searchBox(page)).toHaveValue('gladiolus');
    await searchBox(page).press('Escape');
    await expect(searchBox(page)).toHaveValue('');
    await expect(page).toHaveURL('/');
    await expect(cardNames(page).nth(LIMITS.listedProducts - 1)).toBeAttached();
  });

  test('Escape while text is being composed does not clear the search', async ({ page, site }) => {
    await site.addProduct({ name: 'Freesia' });
    await visit(page, '/?q=freesia');
    // In Safari, the key that ends a composition has `keyCode` 229, but not `isComposing`.
    for (const composing of [{ isComposing: true }, { keyCode: 229 }]) {
      const isDefault = await searchBox(page).evaluate(
        (box, init) => box.dispatchEvent(new KeyboardEvent('keydown', init)),
        { key: 'Escape', ...composing, bubbles: true, cancelable: true },
      );
      expect(isDefault, 'the browser handles the key').toBe(true);
    }
    await expect(searchBox(page)).toHaveValue('freesia');
  });

  test('on a touch screen, Enter closes the keyboard, and with a mouse, the search box keeps the focus', async ({
    newVisitor,
  }) => {
    for (const isTouch of [true, false]) {
      const page = await newVisitor({ viewport: PHONE, hasTouch: isTouch, isMobile: isTouch });
      await visit(page, '/');
      await searchBox(page).fill('git');
      await searchBox(page).press('Enter');
      await expect(page).toHaveURL('/?q=git');
      expect(await searchBox(page).evaluate((box) => box === document.activeElement)).toBe(!isTouch);
    }
  });

  test('a search on a product page shows the list', async ({ page, site }) => {
    await site.addProduct({ name: 'Hollyhock' });
    await visit(page, '/product/git');
    await searchBox(page).pressSequentially('hollyhock');
    await expect(page).toHaveURL('/?q=hollyhock');
    await expect(cardNames(page)).toHaveText(['Hollyhock']);
    await expect(searchBox(page)).toBeFocused();
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1, name: 'Git' })).toBeVisible();
  });

  test('a reload preserves the search, and Back from a product returns to it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Delphinium' });
    await visit(page, '/?q=delphinium');
    await page.reload();
    await waitForHydration(searchBox(page));
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

  test('Back from the first search returns to the list, and refining a search adds no history entry', async ({
    page,
    site,
  }) => {
    await site.addProduct({ name: 'Bluethroat One' });
    await site.addProduct({ name: 'Bluethroat Two' });
    await page.goto('/robots.txt');
    await visit(page, '/');
    const box = page.getByRole('searchbox', { name: 'Search products' });
    await box.fill('bluethroat');
    await expect(page).toHaveURL('/?q=bluethroat');
    await box.fill('bluethroat two');
    await expect(page).toHaveURL('/?q=bluethroat+two');
    await page.goBack();
    await expect(page).toHaveURL('/');
    await expect(box).toHaveValue('');
  });

  test('a search within a tag, even without JavaScript, keeps the tag and says if only the tag prevents a match', async ({
    page,
    site,
    newVisitor,
  }) => {
    await site.addProduct({ name: 'Skua Inside', tags: ['Cliffs'] });
    await site.addProduct({ name: 'Skua Outside' });
    await visit(page, '/?tag=Cliffs');
    await page.getByRole('searchbox', { name: 'Search products' }).fill('skua');
    await expect(page).toHaveURL('/?q=skua&tag=Cliffs');
    await expect(cardNames(page)).toHaveText(['Skua Inside']);
    await page.getByRole('searchbox', { name: 'Search products' }).fill('skua outside');
    await expect(page.getByText('No product tagged “Cliffs” has a matching name or description.')).toBeVisible();
    await page.goto('/?tag=no-such-tag');
    await expect(page.getByText('No product has this tag.')).toBeVisible();

    const plain = await newVisitor({ javaScriptEnabled: false });
    await plain.goto('/?tag=Cliffs');
    await plain.getByRole('searchbox', { name: 'Search products' }).fill('skua');
    await plain.keyboard.press('Enter');
    await expect(cardNames(plain)).toHaveText(['Skua Inside']);
  });

  test('a search without results says so, also to screen readers, and links to all products', async ({ page }) => {
    await visit(page, '/?q=git');
    const found = await page
      .getByRole('status')
      .filter({ hasText: / products?$/ })
      .elementHandle();
    await searchBox(page).fill('zzz-nothing-zzz');
    await expect
      .poll(() => found?.evaluate(({ isConnected, textContent }) => isConnected && textContent))
      .toContain('Nothing on the horizon for “zzz-nothing-zzz”');
    await expect(cardNames(page)).toHaveCount(0);
    await page.getByRole('link', { name: 'Show all products' }).click();
    await expect(page).toHaveURL('/');
    await expect(cardNames(page).nth(LIMITS.listedProducts - 1)).toBeAttached();
  });

  test('a search says how many products it found, also to screen readers, and marks the matches', async ({
    page,
    site,
  }) => {
    await site.addProducts(3, (index) => ({ name: `Snapdragon ${index}` }));
    await visit(page, '/');
    await searchBox(page).fill('snapdragon');
    await expect(page.getByRole('status').filter({ hasText: '3 products' })).toBeVisible();
    await expect(page.locator('.product-card mark')).toHaveText(['Snapdragon', 'Snapdragon', 'Snapdragon']);
    await page.goto('/?q=snapdr%41gon+%5B');
    await expect(page.getByText('Nothing on the horizon for “snapdrAgon [”')).toBeVisible();
  });

  test('a match is marked in decomposed letters and in the capital letter ẞ', async ({ page, site }) => {
    await site.addProduct({ name: 'Lobe\u0301lia GROẞ' });
    await visit(page, '/?q=lob\u00e9lia+groß');
    await expect(page.locator('.product-card mark')).toHaveText('Lob\u00e9lia GROẞ');
  });

  test('a marked match does not change the line breaks of a card', async ({ page, site }) => {
    const tag = 'chrysanthemum';
    await site.addProduct({ name: 'Chrysanthemum Hub', description: 'Grows a chrysanthemum per day.', tags: [tag] });
    const heights = () =>
      page
        .locator('.product-card :is(.product-card-name, .product-card-description)')
        .evaluateAll((texts) => texts.map((text) => text.getBoundingClientRect().height));
    await visit(page, `/?tag=${tag}`);
    const unmarked = await heights();
    await visit(page, `/?tag=${tag}&q=santhe`);
    await expect(page.locator('.product-card mark')).toHaveText(['santhe', 'santhe']);
    expect(await heights()).toEqual(unmarked);
  });

  test('after a search without results, the status is ‘Loading products...’ until the next response arrives', async ({
    page,
    site,
  }) => {
    await site.addProduct({ name: 'Saxifrage Spelled' });
    await visit(page, '/');
    await searchBox(page).fill('saxifrage mistyped');
    const found = await page.getByRole('status').filter({ hasText: 'Nothing on the horizon' }).elementHandle();
    const held = await holdResponses(page, /\/api\/products\?/);
    await searchBox(page).fill('saxifrage spelled');
    await expect.poll(() => held.requests.length).toBe(1);
    await expect.poll(() => found?.textContent()).toBe('Loading products...');
    held.release();
    await expect(cardNames(page)).toHaveText(['Saxifrage Spelled']);
    expect(await found?.evaluate(({ isConnected }) => isConnected)).toBe(true);
  });

  test('a late response does not replace the results of a newer search', async ({ page, site }) => {
    await site.addProduct({ name: 'Larkspur Early' });
    await site.addProduct({ name: 'Larkspur Later' });
    await visit(page, '/');
    const early = await holdResponses(page, /q=larkspur\+e/);
    await searchBox(page).fill('larkspur e');
    await expect.poll(() => early.requests.length).toBe(1);
    await searchBox(page).fill('larkspur l');
    await expect(cardNames(page)).toHaveText(['Larkspur Later']);
    early.release();
    await waitUntilHandled(page, early.requests[0]);
    await expect(page).toHaveURL('/?q=larkspur+l');
    await expect(cardNames(page)).toHaveText(['Larkspur Later']);
  });

  test('text typed before a response arrives is not overwritten', async ({ page }) => {
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

  for (const [what, key] of [
    ['typed', 'Shift'],
    ['submitted', 'Enter'],
  ] as const) {
    test(`text that is ${what} while the code of the list loads stays in the box and is searched for, without another history entry`, async ({
      page,
    }) => {
      await visit(page, '/product/git');
      const held = await holdResponses(page, /\/assets\/home-/);
      await searchBox(page).fill('gi');
      await expect(page).toHaveURL('/?q=gi');
      await searchBox(page).fill('git ');
      await searchBox(page).press(key);
      held.release();
      await expect(page).toHaveURL('/?q=git');
      await expect(cardNames(page).first()).toBeVisible();
      await expect(searchBox(page), 'a word may follow').toHaveValue('git ');
      await page.goBack();
      await expect(page).toHaveURL('/product/git');
      await expect(searchBox(page)).toHaveValue('');
    });
  }

  test('text that is typed while a link to the list is opening stays in the box and is searched for', async ({
    page,
  }) => {
    await visit(page, '/product/git');
    const held = await holdResponses(page, /\/assets\/home-/);
    await page.getByRole('link', { name: 'Back to products' }).click();
    await expect(page).toHaveURL('/');
    await searchBox(page).fill('git');
    held.release();
    await expect(page).toHaveURL('/?q=git');
    await expect(page).toHaveTitle('“git” · Groundswell');
    await expect(searchBox(page)).toHaveValue('git');
    await page.goBack();
    await expect(page).toHaveURL('/');
    await expect(searchBox(page)).toHaveValue('');
  });

  test('a click on a product right after typing opens the product, and the pending search does not replace it', async ({
    page,
    pauseClock,
  }) => {
    await page.clock.install();
    await visit(page, '/');
    const name = await cardNames(page).first().innerText();
    await pauseClock();
    await searchBox(page).fill('something else');
    await cardNames(page).first().click();
    await expect(page).toHaveURL(/\/product\//);
    const address = page.url();
    await expect(page.getByRole('heading', { level: 1, name, exact: true })).toBeAttached();
    await expect(searchBox(page)).toHaveValue('');
    await page.clock.fastForward(5_000);
    await turnEventLoop(page);
    expect(page.url()).toBe(address);
  });
});
