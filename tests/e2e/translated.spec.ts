import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { signInAndOpen } from '../support/console-page.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { visitWithLiveUpdates } from '../support/live-page.ts';
import { skipFeatureDelay } from '../support/offline-page.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { cardNames, cardOf, expectUpvote, searchBox, upvoteOf } from '../support/screen.ts';

/** Replaces every text node of a hydrated page with elements, as browsers do to translate a page. */
async function translate(page: Page): Promise<void> {
  await expect(page.getByRole('region', { name: 'Network' }), 'the deferred features have loaded').toBeAttached();
  await page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const texts: Text[] = [];
    while (walker.nextNode()) texts.push(walker.currentNode as Text);
    for (const text of texts) {
      if (!text.data.trim() || text.parentElement?.closest('script, style, textarea')) continue;
      const translated = document.createElement('font');
      translated.append(Object.assign(document.createElement('font'), { textContent: text.data }));
      text.replaceWith(translated);
    }
  });
}

test.describe('a page that the browser has translated', () => {
  test('still shows the right results when the search changes', async ({ page, site }) => {
    await site.addProducts(2, (index) => ({ name: `Translatable ${index}`, description: `Number ${index}, a number` }));
    await skipFeatureDelay(page);
    await visit(page, '/?q=number');
    await translate(page);
    await searchBox(page).fill('number 1');
    await expect(cardNames(page)).toHaveText(['Translatable 1']);
    const description = cardOf(page, 'Translatable 1').locator('.product-card-description');
    await expect(description).toHaveText('Number 1, a number');
    await expect(description.locator('mark')).toHaveText('Number 1');
    await translate(page);
    await searchBox(page).fill('translatable');
    await expect(cardNames(page)).toHaveText(['Translatable 1', 'Translatable 0']);
    await expect(description).toHaveText('Number 1, a number');
  });

  test.describe('with live updates', () => {
    test.use({ live: true });

    test('shows a changed standing and the number of new comments', async ({ page, site }) => {
      const product = await site.addProduct({
        name: 'Polyglot',
        createdAt: new Date(Date.now() - 10_000).toISOString(),
      });
      await visitWithLiveUpdates(page, paths.product(product.id));
      const standing = page.locator('.standing');
      await expect(standing).toContainText('No counted votes');
      await translate(page);
      const other = otherVisitor(page);
      await other.upvote(product.id);
      await expect(standing).not.toContainText('No counted votes');
      await expect(standing.locator('strong').first()).toHaveText(/^(?:Tied )?\d+\w\w of \d+$/);
      await expectUpvote(page, 'Polyglot', { upvoted: false, count: 1 });
      for (const count of [1, 2]) {
        await other.comment(product.id, `No. ${count}`);
        const button = page.locator('.live-updates').getByRole('button');
        await expect(button).toHaveText(count === 1 ? '1 new comment' : '2 new comments');
        await translate(page);
      }
      await upvoteOf(page, 'Polyglot').click();
      await expectUpvote(page, 'Polyglot', { upvoted: true, count: 2 });
    });
  });
});

/** Removes and inserts text as React does, after the browser has replaced it. @returns the resulting HTML. */
function changeReplacedText(page: Page): Promise<string> {
  return page.evaluate(() => {
    const parent = document.createElement('p');
    const [text, other] = [new Text('text'), new Text('other')];
    parent.append(text);
    text.replaceWith(document.createElement('font'));
    parent.removeChild(text);
    parent.insertBefore(other, text);
    return parent.innerHTML;
  });
}

test('React can change text that the browser has replaced, also in the console', async ({ page, site }) => {
  await skipFeatureDelay(page);
  await visit(page, '/');
  await translate(page);
  expect(await changeReplacedText(page)).toBe('<font></font>other');
  await signInAndOpen(page, site);
  expect(await changeReplacedText(page)).toBe('<font></font>other');
});
