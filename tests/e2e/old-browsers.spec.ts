import type { Page } from '@playwright/test';
import { LIMITS } from '../../src/contract/limits.ts';
import { signInAndOpen } from '../support/console-page.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { visitWithLiveUpdates } from '../support/live-page.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { cardNames, commentWith, searchBox, upvoteOf } from '../support/screen.ts';
import { submissionTest } from '../support/submission-site.ts';

test.use({ live: true });

/** Removes features that the oldest supported browsers (`OLDEST_BROWSERS` in vite.config.ts) lack. */
async function removeNewFeatures(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const names: [object, string[]][] = [
      [window, ['requestIdleCallback', 'scheduler', 'navigation']],
      [Document.prototype, ['startViewTransition']],
      [Navigator.prototype, ['userActivation', 'connection']],
      [Element.prototype, ['checkVisibility']],
      [HTMLElement.prototype, ['showPopover', 'hidePopover', 'togglePopover']],
      [HTMLDialogElement.prototype, ['requestClose']],
      [AbortSignal, ['any']],
      [URL, ['canParse', 'parse']],
      [URLSearchParams.prototype, ['size']],
      [Response, ['json']],
      [Promise, ['withResolvers', 'try']],
      [Object, ['groupBy']],
      [Map, ['groupBy']],
      [Array, ['fromAsync']],
      [Array.prototype, ['toSorted', 'toReversed', 'toSpliced', 'with']],
      [Set.prototype, ['union', 'intersection', 'difference', 'symmetricDifference', 'isSubsetOf', 'isSupersetOf']],
      [String.prototype, ['isWellFormed', 'toWellFormed']],
      [Intl, ['Segmenter', 'DurationFormat']],
      [RegExp, ['escape']],
      [
        Object.getPrototypeOf(Object.getPrototypeOf([].values())),
        ['map', 'filter', 'take', 'drop', 'flatMap', 'reduce', 'toArray', 'forEach', 'some', 'every', 'find'],
      ],
    ];
    for (const [owner, properties] of names) for (const name of properties) Reflect.deleteProperty(owner, name);
  });
}

test('visitors can search, read, vote and get live updates in old browsers', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Galleon' });
  const link = 'https://example.com/galleon';
  await site.addComments(product.id, [{ content: `See ${link}` }]);
  await removeNewFeatures(page);
  await page.goto('/');
  await searchBox(page).fill('galleon');
  await expect(cardNames(page)).toHaveText(['Galleon']);
  await visitWithLiveUpdates(page, `/product/${product.id}`);
  await expect(commentWith(page, 'See').getByRole('link', { name: link })).toBeVisible();
  await upvoteOf(page, 'Galleon').click();
  await expect(upvoteOf(page, 'Galleon')).toHaveAccessibleName('Upvote Galleon, 1');
  await otherVisitor(page).upvote(product.id);
  await expect(upvoteOf(page, 'Galleon')).toHaveAccessibleName('Upvote Galleon, 2');
});

test('visitors can page through the list in old browsers', async ({ page, site }) => {
  const products = await site.addProducts(LIMITS.listedProducts + 1, (index) => ({ name: `Caravel ${index}` }));
  await removeNewFeatures(page);
  await page.goto('/?q=caravel');
  await cardNames(page).last().scrollIntoViewIfNeeded();
  await expect(cardNames(page)).toHaveCount(products.length);
});

test('operators can hold comments and dry-run an import in old browsers', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Old hat' }]);
  await removeNewFeatures(page);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await page.getByRole('link', { name: 'Import' }).first().click();
  await page
    .getByLabel('Drop a file here, or choose one')
    .setInputFiles({ name: 'old.csv', mimeType: 'text/csv', buffer: Buffer.from('id,name\nold,Old\n') });
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByRole('button', { name: 'Import 1 product' })).toBeVisible();
});

/** Makes the browser reject the time zone of the site. */
const removeTimeZone = (page: Page) =>
  page.addInitScript(() => {
    Intl.DateTimeFormat = new Proxy(Intl.DateTimeFormat, {
      construct(format, [locale, options]) {
        if (options?.timeZone === 'Asia/Tokyo') throw new RangeError('Invalid time zone specified: Asia/Tokyo');
        return new format(locale, options);
      },
    });
  });

submissionTest('a browser that does not know the site’s time zone shows the list', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Junk' });
  await removeTimeZone(page);
  await visit(page, '/?q=junk');
  await upvoteOf(page, product.name).click();
  await expect(upvoteOf(page, product.name)).toHaveAccessibleName('Upvote Junk, 1');
});

submissionTest(
  'a browser that does not know the site’s time zone does not link to the leaderboard of a day that may not have begun',
  async ({ page, site }) => {
    const { id } = await site.addProduct({ name: 'Sampan', createdAt: new Date().toISOString() });
    // The product launches a moment later if the site's clock is slow.
    await expect.poll(async () => (await page.request.get(`/api/products/${id}`)).status()).toBe(200);
    await removeTimeZone(page);
    await page.clock.install();
    await visitWithLiveUpdates(page, '/?q=sampan');
    const links = [
      page.getByRole('main').getByRole('link', { name: 'Leaderboards' }),
      page.getByRole('link', { name: 'Today’s ranking' }),
    ];
    const addresses = await Promise.all(links.map((link) => link.getAttribute('href')));
    // Reaches at least the next day, both in UTC and in the site's time zone.
    await page.clock.fastForward('48:00:00');
    await expect(page.getByRole('article').getByText('2 days ago')).toBeVisible();
    for (const [index, link] of links.entries()) await expect(link).toHaveAttribute('href', addresses[index] ?? '');
  },
);
