import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import { isStorableText } from '../../src/contract/text.ts';
import { HOSTILE } from '../hostile/corpus.ts';
import { MARKER, RUN } from '../hostile/interpreted-texts.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import {
  cardNames,
  commentBox,
  commentTexts,
  commentWith,
  discussion,
  discussionTitle,
  postButton,
  sortBy,
  toast,
} from '../support/screen.ts';

const TEXTS = HOSTILE.map(({ text }) => text.trim()).filter(
  (text) => text !== '' && isStorableText(text) && [...text].length <= 2_000,
);

/** The number of comments on one page. */
const PAGE = LIMITS.pageSize.default;

const HELD = /\/comments\/held$/;

/** Returns a text as an HTML parser reads it, with every line break normalized to a line feed. */
const asParsed = (text: string) => text.replaceAll(/\r\n?/g, '\n');

/** Returns a text as a comment displays it: without the backticks around code. */
const asComment = (text: string) => asParsed(text).replaceAll(/`([^`\n]+)`/g, '$1');

/**
 * Watches for the effects of unescaped text: a dialog, a script that ran, a frame or a link to a script.
 * @returns a function that fails if there are any.
 */
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

/** Scripts that each cause one of the effects of unescaped text. */
const EFFECTS = [
  'alert(1)',
  RUN,
  'document.body.append(document.createElement("iframe"))',
  `document.body.append(Object.assign(document.createElement('a'), { href: 'javascript:1' }))`,
];

test.describe('hostile texts', () => {
  for (let start = 0; start < TEXTS.length; start += PAGE) {
    const texts = TEXTS.slice(start, start + PAGE);
    test(`hostile texts in comments ${start + 1} to ${start + texts.length} are shown as plain text and have no effect`, async ({
      page,
      site,
    }) => {
      const product = await site.addProduct({ name: 'Dogwood' });
      await site.addComments(
        product.id,
        texts.map((content) => ({ content, authorName: content.slice(0, 50), authorBadge: content.slice(0, 20) })),
      );
      const expectNothing = await watchEffects(page);
      await visit(page, `/product/${product.id}`);
      const shown = () => commentTexts(page).evaluateAll((all) => all.map((each) => each.textContent ?? ''));
      expect((await shown()).sort()).toEqual(texts.map(asComment).sort());
      await expectNothing();
      // Renders the comments again in the browser, from the response of the API.
      await discussion(page).getByRole('combobox').selectOption('oldest');
      await expect.poll(async () => (await shown()).sort()).toEqual(texts.map(asComment).sort());
      await expectNothing();
    });
  }

  test('the checks detect a dialog, a script that ran, a frame and a link to a script', async ({ page }) => {
    for (const effect of EFFECTS) {
      const expectNothing = await watchEffects(page);
      await visit(page, '/');
      await expectNothing();
      await page.evaluate(effect);
      await expect(expectNothing()).rejects.toThrow();
    }
  });

  test('hostile texts of products have no effect in the list, in a search and on product pages', async ({
    page,
    site,
  }) => {
    const texts = TEXTS.filter((text) => /[<"'`{]/.test(text) && text.length <= 150).slice(0, LIMITS.listedProducts);
    expect(texts).toHaveLength(LIMITS.listedProducts);
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

test.describe('a held comment', () => {
  /** Posts a comment that the site holds, because it fills in the field that only bots see. */
  async function postHeld(page: Page, text: string): Promise<void> {
    await page.locator('input[name="website"]').evaluate((input: HTMLInputElement) => {
      input.value = 'https://spam.example';
    });
    await commentBox(page).fill(text);
    await postButton(page).click();
    await expect(page.getByText('Your comment has been posted successfully.')).toBeVisible();
  }

  test('remains visible to its author after a reload, but to no other visitor', async ({ page, newVisitor, site }) => {
    const product = await site.addProduct({ name: 'Mullein' });
    await visit(page, `/product/${product.id}`);
    const trap = page.locator('input[name="website"]');
    await expect(trap).toHaveAttribute('tabindex', '-1');
    await expect(trap).toHaveAttribute('aria-hidden', 'true');
    await expect(trap).toHaveAttribute('autocomplete', 'off');
    await expect(trap).toHaveCSS('clip-path', 'inset(50%)');
    await postHeld(page, 'Mine alone');
    await expect(commentTexts(page)).toHaveText(['Mine alone']);

    const held = page.waitForRequest(HELD);
    await visit(page, `/product/${product.id}`);
    await held;
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

  test('is found by its link in its author’s browser, and counted in the title of the discussion', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Spindle tree' });
    await site.addComments(product.id, [{ content: 'For all' }]);
    await visit(page, `/product/${product.id}`);
    await postHeld(page, 'Mine alone');
    const own = discussion(page).getByRole('listitem').filter({ hasText: 'Mine alone' });
    const fragment = `#${await own.getAttribute('id')}`;
    await visit(page, '/');
    const held = await holdResponses(page, HELD);
    await visit(page, `/product/${product.id}${fragment}`);
    await expect(toast(page)).toHaveText('Loading comments...');
    await expect.poll(() => held.received).toBe(1);
    held.release();
    await expect(own).toBeFocused();
    await expect(toast(page)).toHaveCount(0);
    await expect(discussionTitle(page)).toHaveText('Discussion (2)');
  });

  test('appears below the other comments after a reload, and further comments get the focus as usual', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Hornbeam' });
    const timeOf = (minute: number) => new Date(Date.UTC(2026, 0, 1, 10, 59 - minute)).toISOString();
    await site.addComments(
      product.id,
      Array.from({ length: 31 }, (_, index) => ({ createdAt: timeOf(index) })),
    );
    await visit(page, `/product/${product.id}`);
    await postHeld(page, 'Mine alone');
    await expect(commentTexts(page).first()).toHaveText('Mine alone');
    await visit(page, `/product/${product.id}`);
    await expect(commentTexts(page).nth(30)).toHaveText('Mine alone');
    await expect(commentTexts(page).first()).toHaveText('Comment 1');
    await sortBy(page).selectOption('Newest');
    await expect(commentTexts(page).first(), 'the order Newest').toHaveText('Mine alone');
    await sortBy(page).selectOption('Best');
    await expect(commentTexts(page).first()).toHaveText('Comment 1');
    await page.getByRole('link', { name: 'Show more comments' }).press('Enter');
    await expect(commentWith(page, 'Comment 31').locator('..')).toBeFocused();
    await expect(commentTexts(page).last()).toHaveText('Mine alone');
  });

  test.describe('with live updates', () => {
    test.use({ live: true });

    test('stays when the order changes, and does not hide that others have commented', async ({ page, site }) => {
      const product = await site.addProduct({ name: 'Alder' });
      const stream = page.waitForResponse(/\/api\/events\?/);
      await visit(page, `/product/${product.id}`);
      await stream;
      await postHeld(page, 'Mine alone');
      await otherVisitor(page).comment(product.id, 'From afar');
      await expect(page.getByRole('button', { name: '1 new comment' })).toBeVisible();
      await discussion(page).getByRole('combobox').selectOption('newest');
      await expect(commentTexts(page)).toHaveText(['From afar', 'Mine alone']);
    });
  });

  test('is not requested by a browser that has not commented on the product', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Teasel' });
    const requests = recordRequests(page, HELD);
    await visit(page, `/product/${product.id}`);
    await requestsReported(page);
    expect(requests).toEqual([]);
  });
});
