import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import { isStorableText } from '../../src/contract/text.ts';
import { HOSTILE } from '../hostile/corpus.ts';
import { MARKER } from '../hostile/programs.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { cardNames, commentTexts, discussion } from '../support/screen.ts';

const TEXTS = HOSTILE.map(({ text }) => text.trim()).filter(
  (text) => text !== '' && isStorableText(text) && [...text].length <= 2_000,
);

/** As many as a page shows at once. */
const PAGE = LIMITS.pageSize.default;

/** HTML knows one kind of line break, into which its parser turns the others. */
const asParsed = (text: string) => text.replaceAll(/\r\n?/g, '\n');

/** Whatever a text does beside being read: a dialog, a script that ran, another page. */
async function watchEffects(page: Page): Promise<() => Promise<void>> {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return async () => {
    expect(dialogs).toEqual([]);
    expect(await page.evaluate((marker) => marker in window, MARKER)).toBe(false);
    expect(await page.evaluate(() => document.querySelectorAll('iframe, object, embed, base').length)).toBe(0);
    const links = await page.evaluate(() => [...document.links].map((link) => link.protocol));
    expect(links.filter((protocol) => !/^https?:$/.test(protocol))).toEqual([]);
  };
}

test.describe('hostile texts are texts and nothing else', () => {
  for (let start = 0; start < TEXTS.length; start += PAGE) {
    const texts = TEXTS.slice(start, start + PAGE);
    test(`as comments ${start + 1} to ${start + texts.length}`, async ({ page, site }) => {
      const product = await site.addProduct({ name: 'Rowan' });
      await site.addComments(
        product.id,
        texts.map((content) => ({ content, authorName: content.slice(0, 50), authorBadge: content.slice(0, 20) })),
      );
      const expectNothing = await watchEffects(page);
      await visit(page, `/product/${product.id}`);
      const shown = () => commentTexts(page).evaluateAll((all) => all.map((each) => each.textContent ?? ''));
      expect((await shown()).sort()).toEqual(texts.map(asParsed).sort());
      await expectNothing();
      // Drawn once more by the browser alone, from what the API answers.
      await discussion(page).getByRole('combobox').selectOption('oldest');
      await expect.poll(async () => (await shown()).sort()).toEqual(texts.map(asParsed).sort());
      await expectNothing();
    });
  }

  test('as products, on the list, in a search and on their own pages', async ({ page, site }) => {
    const texts = TEXTS.filter((text) => /[<"'`{]/.test(text) && text.length <= 150).slice(0, LIMITS.listedProducts);
    const products = await site.addProducts(LIMITS.listedProducts, (index) => {
      const text = texts[index] ?? '';
      return {
        name: text,
        description: text,
        tags: ['hostile', text],
        maker: text,
        category: text,
        launchDate: text,
        team: [{ name: text, role: text, avatar: '/pictures/avatar-default.svg' }],
      };
    });
    const expectNothing = await watchEffects(page);
    await visit(page, '/?tag=hostile');
    const names = await cardNames(page).evaluateAll((all) => all.map((each) => each.textContent ?? ''));
    expect(names.sort()).toEqual(products.map(({ name }) => asParsed(name)).sort());
    await expectNothing();
    for (const { id, name } of products.slice(0, 8)) {
      await visit(page, `/product/${id}`);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(asParsed(name));
      await expectNothing();
      await page.goto(`/?q=${encodeURIComponent(name)}`);
      expect(await page.getByRole('searchbox').inputValue()).toBe(name.replaceAll(/[\r\n]/g, ''));
      await expectNothing();
    }
  });
});

test.describe('a comment that is held', () => {
  test('is still there for its author after a reload, and for nobody else', async ({ page, newVisitor, site }) => {
    const product = await site.addProduct({ name: 'Elder' });
    await visit(page, `/product/${product.id}`);
    const box = page.getByPlaceholder('What do you think about this product?');
    const trap = page.locator('input[name="website"]');
    await expect(trap).toHaveAttribute('tabindex', '-1');
    await expect(trap).toHaveAttribute('aria-hidden', 'true');
    await expect(trap).toHaveAttribute('autocomplete', 'off');
    await expect(trap).toHaveCSS('clip-path', 'inset(50%)');
    await trap.evaluate((input: HTMLInputElement) => {
      input.value = 'https://spam.example';
    });
    await box.fill('Mine alone');
    await page.getByRole('button', { name: 'Post Comment' }).click();
    await expect(commentTexts(page)).toHaveText(['Mine alone']);
    await expect(page.getByText('Your comment has been posted successfully.')).toBeVisible();

    await visit(page, `/product/${product.id}`);
    await expect(commentTexts(page)).toHaveText(['Mine alone']);
    await page.getByRole('button', { name: 'Like' }).click();
    await expect
      .poll(() => site.database.query('SELECT likes FROM comments WHERE product_id = $1', [product.id]))
      .toEqual([{ likes: 1 }]);

    const other = await newVisitor();
    await visit(other, `/product/${product.id}`);
    await expect(other.getByText('No comments yet. Be the first to share your thoughts!')).toBeVisible();
    await expect(discussion(other).getByRole('heading', { level: 2 })).toHaveText('Discussion (0)');
  });

  test('is not asked for by a browser that has posted nothing here', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Hazel' });
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await visit(page, `/product/${product.id}`);
    await page.waitForLoadState('networkidle');
    expect(asked.filter((url) => url.endsWith('/comments/held'))).toEqual([]);
  });
});
