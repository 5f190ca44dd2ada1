import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { openConsole, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Products' }).getByRole('listitem');

test('the buttons of a comment are described by its text', async ({ page, site }) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'Rides the tide.' }, { content: 'Buy my coins.' }]);
  await signInAndOpen(page, site, `/console/comments?product=${id}`);
  for (const content of ['Rides the tide.', 'Buy my coins.']) {
    const row = page.getByRole('listitem').filter({ hasText: content });
    for (const name of ['Hold', 'Hide'])
      await expect(row.getByRole('button', { name })).toHaveAccessibleDescription(content);
  }
});

test('screen readers get the word ‘upvote’ after the number of upvotes', async ({ page, site }) => {
  const { id, tags } = await site.addProduct({ tags: [randomUUID()] });
  await site.addUpvotes(id, 1);
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  await expect(rowsOf(page)).toMatchAriaSnapshot('- text: 1 upvote');
  await openConsole(page, `/console/products?edit=${id}`);
  await expect(page.getByRole('complementary', { name: 'Preview' })).toMatchAriaSnapshot('- paragraph: 1 upvote');
});

test('the main landmark gets the focus when Back, Forward or the removal of a filter removes the focused element', async ({
  page,
  site,
}) => {
  const { tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  const main = page.getByRole('main');
  const search = page.getByRole('searchbox');
  await page.getByRole('navigation').getByRole('link', { name: 'Comments' }).press('Enter');
  for (const [title, go] of [
    ['Comments', () => page.goBack()],
    ['Products', () => page.goForward()],
  ] as const) {
    await expect(page.getByRole('heading', { level: 1, name: title })).toBeVisible();
    await search.focus();
    await go();
    await expect(main, `from ${title}`).toBeFocused();
  }
  await page.goBack();
  await page.getByRole('button', { name: 'show products with any tag' }).press('Enter');
  await expect(page).toHaveURL('/console/products');
  await expect(main, 'without the filter').toBeFocused();
});

for (const [what, key] of [
  ['palette', 'Control+k'],
  ['list of shortcuts', '?'],
] as const) {
  test(`Back closes the ${what}, and the main landmark gets the focus if the focused element is gone`, async ({
    page,
    site,
  }) => {
    await signInAndOpen(page, site, '/console/products');
    await page.getByRole('navigation').getByRole('link', { name: 'Backup' }).click();
    await page.getByRole('main').getByRole('link').first().focus();
    await page.keyboard.press(key);
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.goBack();
    await expect(page.getByRole('heading', { level: 1, name: 'Products' })).toBeVisible();
    await expect(page.locator('dialog')).toHaveCount(0);
    await expect(page.getByRole('main')).toBeFocused();
  });
}

test('the main landmark gets the focus when an editor that was opened by its URL is closed', async ({ page, site }) => {
  const { id } = await site.addProduct();
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  await expect(page.getByRole('dialog').getByLabel('Maker')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL('/console/products');
  await expect(page.getByRole('main')).toBeFocused();
});

test('screen readers get the number of items that a search or another filter has found', async ({ page, site }) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(3, (index) => ({ name: `Tallied ${index} ${tag}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  await expect(rowsOf(page)).toHaveCount(3);
  const status = page.getByRole('main').getByRole('status');
  await expect(status).toBeEmpty();
  await page.getByLabel(`Select Tallied 1 ${tag}`).check();
  await expect(status).toHaveText('1 selected');
  for (const [term, text] of [
    ['Tallied 1', '1 found'],
    ['Nowhere', 'Nothing found'],
    ['', '3 found'],
  ] as const) {
    await page.getByRole('searchbox').fill(term);
    await expect(status).toHaveText(text);
  }
  await page.getByRole('radio', { name: 'Scheduled' }).press('Space');
  await expect(status).toHaveText('Nothing found');
});
