import { LIMITS } from '../../src/contract/limits.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { visitFully } from '../support/offline-page.ts';
import { elapseUntil } from '../support/page-clock.ts';
import {
  commentArticles,
  commentBox,
  commentTexts,
  commentWith,
  discussion,
  discussionTitle,
  failureToast,
  postButton,
  sortBy,
} from '../support/screen.ts';

const READ = /\/api\/products\/[^/]+\/comments/;

const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.describe('§2: comments', () => {
  test('a comment of 500 lines is collapsed until the visitor expands it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Tower' });
    const content = Array.from({ length: 500 }, (_, index) => index).join('\n');
    await site.addComments(product.id, [{ content }, { content: `Above.${'\n'.repeat(999)}Below.` }]);
    await visit(page, `/product/${product.id}`);
    const collapsed = page.getByRole('article').filter({ has: page.getByRole('group') });
    const height = async () => (await collapsed.boundingBox())?.height ?? 0;
    await expect(collapsed).toHaveCount(1);
    expect(await height()).toBeLessThan(600);
    await collapsed.getByText('Show more').click();
    await expect(collapsed.getByText('Show less')).toBeVisible();
    expect(await height()).toBeGreaterThan(5_000);
    await collapsed.getByText('Show less').click();
    expect(await height()).toBeLessThan(600);
  });

  test('a product without comments invites visitors to write the first one', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Acorn' });
    await visit(page, `/product/${product.id}`);
    await expect(discussionTitle(page)).toHaveText('Discussion (0)');
    await expect(
      discussion(page).getByText('No comments yet. Be the first to share your thoughts!', { exact: true }),
    ).toBeVisible();
    await expect(commentBox(page)).toBeVisible();
    await expect(
      discussion(page).getByText('Be constructive and specific in your feedback', { exact: true }),
    ).toBeVisible();
    await expect(commentBox(page)).toHaveAccessibleDescription('Be constructive and specific in your feedback');
  });

  test('a comment shows author, avatar, badge, time, text and likes, and its Reply button does nothing', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Beech' });
    await site.addComments(product.id, [
      { authorName: 'Grace', authorBadge: 'Maker', content: 'A tall tree', likes: 12, createdAt: ago(3 * HOUR) },
      // Old enough that its displayed age stays the same for a day.
      { authorName: 'Linus', content: 'A green tree', createdAt: ago(3 * DAY) },
    ]);
    await visitFully(page, `/product/${product.id}`);
    await expect(discussionTitle(page)).toHaveText('Discussion (2)');
    const comment = page.getByRole('article', { name: 'Comment by Grace' });
    await expect(comment.locator('.badge')).toHaveText('Maker');
    await expect(comment.getByText('3 hours ago', { exact: true })).toBeVisible();
    await expect(comment.getByText('A tall tree', { exact: true })).toBeVisible();
    await expect(comment.getByRole('button', { name: 'Like 12' })).toBeVisible();
    await expect(page.locator('.comment .avatar img').first()).toHaveAttribute('src', '/pictures/avatar-default.svg');
    await expect(page.getByRole('article', { name: 'Comment by Linus' }).locator('.badge')).toHaveCount(0);

    // Records only POST requests, because the page sends GET requests in the background.
    const writes = recordRequests(page, /\/api\//, 'POST');
    const before = await discussion(page).innerHTML();
    await comment.getByRole('button', { name: 'Reply' }).click();
    expect(await discussion(page).innerHTML()).toBe(before);
    await expect(page).toHaveURL(`/product/${product.id}`);
    await requestsReported(page);
    expect(writes).toEqual([]);
  });

  test('comments are sorted by Best until the visitor chooses Newest or Oldest', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Cedar' });
    await site.addComments(product.id, [
      { content: 'liked', likes: 5, createdAt: ago(3 * HOUR) },
      { content: 'loved', likes: 9, createdAt: ago(2 * HOUR) },
      { content: 'late', likes: 1, createdAt: ago(1 * HOUR) },
      { content: 'later', likes: 1, createdAt: ago(1 * MINUTE) },
    ]);
    await visit(page, `/product/${product.id}`);
    await expect(sortBy(page).getByRole('option')).toHaveText(['Best', 'Newest', 'Oldest']);
    await expect(sortBy(page)).toHaveValue('best');
    await expect(commentTexts(page)).toHaveText(['loved', 'liked', 'later', 'late']);
    await sortBy(page).selectOption('Newest');
    await expect(commentTexts(page)).toHaveText(['later', 'late', 'loved', 'liked']);
    await sortBy(page).selectOption('Oldest');
    await expect(commentTexts(page)).toHaveText(['liked', 'loved', 'late', 'later']);
    await sortBy(page).selectOption('Best');
    await expect(commentTexts(page)).toHaveText(['loved', 'liked', 'later', 'late']);
  });

  test('choosing an order takes the visitor’s own comment and likes into account', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Hemlock' });
    await site.addComments(product.id, [
      { content: 'overtaken', likes: 1, createdAt: ago(1 * HOUR) },
      { content: 'overtaking', likes: 0, createdAt: ago(1 * MINUTE) },
    ]);
    await visit(page, `/product/${product.id}`);
    await commentBox(page).fill('own');
    await postButton(page).click();
    await expect(commentTexts(page)).toHaveText(['own', 'overtaken', 'overtaking']);
    for (const likes of [1, 2]) {
      const liked = page.waitForResponse(/\/like$/);
      await commentWith(page, 'overtaking')
        .getByRole('button', { name: `Like ${likes - 1}` })
        .click();
      await liked;
    }
    await expect(commentTexts(page)).toHaveText(['own', 'overtaken', 'overtaking']);
    await sortBy(page).selectOption('Oldest');
    await expect(commentTexts(page)).toHaveText(['overtaken', 'overtaking', 'own']);
    await sortBy(page).selectOption('Best');
    await expect(commentTexts(page)).toHaveText(['overtaking', 'overtaken', 'own']);
  });

  test('‘Show more comments’ adds each further comment once', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Douglas' });
    const all = Array.from({ length: 135 }, (_, index) => ({ content: `Cone ${index}.`, likes: 200 - index }));
    await site.addComments(product.id, all);
    await visit(page, `/product/${product.id}`);
    await expect(discussionTitle(page)).toHaveText('Discussion (135)');
    await expect(commentArticles(page)).toHaveCount(30);
    await page.getByRole('link', { name: 'Show more comments' }).click();
    await expect(commentArticles(page)).toHaveCount(130);
    await page.getByRole('link', { name: 'Show more comments' }).click();
    await expect(commentTexts(page)).toHaveText(all.map(({ content }) => content));
    await expect(page.getByRole('link', { name: 'Show more comments' })).toHaveCount(0);
    await expect(page).toHaveURL(`/product/${product.id}`);
  });

  test('comments show line breaks, links with rel=nofollow, and HTML as plain text', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Elm' });
    const html = '<img src=x onerror="document.title=\'hit\'"><script>document.title="hit"</script><b>bold</b>';
    await site.addComments(product.id, [
      { content: 'first line\n\n  third line', likes: 3 },
      { content: 'See https://example.org/a?b=1&c=2. And (http://example.com)!', likes: 2 },
      { content: html, likes: 1 },
      { content: 'javascript:alert(1) ftp://example.org </script><!-- {"a":1}' },
    ]);
    await visit(page, `/product/${product.id}`);
    await expect(commentTexts(page).first()).toHaveText('first line\n\n  third line', { useInnerText: true });
    const links = commentTexts(page).nth(1).getByRole('link');
    await expect(links).toHaveText(['https://example.org/a?b=1&c=2', 'http://example.com']);
    for (const link of await links.all()) await expect(link).toHaveAttribute('rel', 'nofollow ugc noopener');
    await expect(links.first()).toHaveAttribute('href', 'https://example.org/a?b=1&c=2');
    expect(await commentTexts(page).nth(2).textContent()).toBe(html);
    await expect(commentArticles(page).nth(2).locator('img, script, b')).toHaveCount(0);
    await expect(commentTexts(page).nth(3).getByRole('link')).toHaveCount(0);
    await expect(page).toHaveTitle('Elm · Groundswell');
  });

  test('HTML in a comment that the visitor has just posted is shown as plain text', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Fir' });
    await visit(page, `/product/${product.id}`);
    const html = '<img src=x onerror="document.title=\'hit\'">\nand https://example.org/';
    await commentBox(page).fill(html);
    await postButton(page).click();
    await expect(commentTexts(page)).toHaveText(html, { useInnerText: true });
    await expect(commentTexts(page).getByRole('link')).toHaveAttribute('rel', 'nofollow ugc noopener');
    await page.reload();
    await expect(commentTexts(page)).toHaveText(html, { useInnerText: true });
    await expect(page).toHaveTitle('Fir · Groundswell');
  });
});

test('in Arabic text, code and URLs keep their order, and do not decide the direction of the text', async ({
  page,
  site,
}) => {
  const text = '`npm i -D` ثم https://example.com/?a=1 وبعدها';
  const product = await site.addProduct({ name: 'Palm', description: text });
  await site.addComments(product.id, [{ content: text }]);
  await visit(page, `/product/${product.id}`);
  for (const paragraph of [page.locator('.product-description'), commentTexts(page)]) {
    await expect(paragraph).toHaveCSS('direction', 'rtl');
    for (const part of ['code', 'a']) {
      await expect(paragraph.locator(part)).toHaveCSS('direction', 'ltr');
      await expect(paragraph.locator(part)).toHaveCSS('unicode-bidi', 'isolate');
    }
  }
});

test.describe('§9: timestamps', () => {
  test('the displayed age of a comment increases while the page is open', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Hazel' });
    await site.addComments(product.id, [{ content: 'Nuts' }]);
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    const time = commentWith(page, 'Nuts').locator('time');
    await expect(time).toHaveText('Just now');
    await page.clock.fastForward(60_000);
    await expect(time).toHaveText('1 minute ago');
  });
});

test.describe('§8 and §9: loading comments', () => {
  test('if comments fail to load twice, 500 ms apart, an empty list, a notice and ‘Try again’ appear', async ({
    page,
    site,
    expectConsoleError,
    pauseClock,
  }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Teak' });
    await site.addComments(product.id, [{ content: 'Hard wood' }]);
    await page.clock.install();
    await visit(page, '/?q=teak');
    const failed = await failResponses(page, READ, { times: 2, held: true });
    await pauseClock();
    await page.getByRole('link', { name: 'Teak', exact: true }).click();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.deliver();
    await expect(page.getByText('The comments cannot be loaded right now.')).toHaveCount(0);
    await elapseUntil(page, () => failed.requests.length === 2);
    expect(await failed.delays()).toEqual([expect.closeTo(500, -1)]);
    await failed.deliver();
    await page.clock.resume();
    await expect(discussion(page).getByRole('alert')).toContainText('The comments cannot be loaded right now.');
    await expect(commentArticles(page)).toHaveCount(0);
    await expect(failureToast(page)).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 1, name: 'Teak' })).toBeVisible();
    await discussion(page).getByRole('button', { name: 'Try again' }).press('Enter');
    await expect(commentTexts(page)).toHaveText(['Hard wood']);
    await expect(commentWith(page, 'Hard wood').locator('..')).toBeFocused();
    await expect(page.getByText('The comments cannot be loaded right now.')).toHaveCount(0);
  });

  test('every failed attempt to load more comments is announced', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Guelder rose' });
    await site.addComments(
      product.id,
      Array.from({ length: LIMITS.pageSize.default + 1 }, () => ({})),
    );
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    const failed = await failResponses(page, /\/comments\?.*cursor=/, { times: 2 });
    const more = discussion(page).getByRole('link', { name: 'Show more comments' });
    await more.click();
    await elapseUntil(page, () => failed.requests.length === 2);
    const failure = discussion(page).getByRole('alert');
    await expect(failure).toHaveText('More comments could not be loaded.');
    const held = await holdResponses(page, /\/comments\?.*cursor=/);
    await more.click();
    await expect(failure, 'a text that stays would not be announced again').toHaveCount(0);
    held.release();
    await expect(commentArticles(page)).toHaveCount(LIMITS.pageSize.default + 1);
  });

  test('‘Loading comments...’ is shown while comments load', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ulmus' });
    await site.addComments(product.id, [{ content: 'Bark' }]);
    await visit(page, '/?q=ulmus');
    const held = await holdResponses(page, READ);
    await page.getByRole('link', { name: 'Ulmus', exact: true }).click();
    await expect(discussion(page).getByRole('status').filter({ hasText: 'Loading comments...' })).toBeAttached();
    held.release();
    await expect(commentTexts(page)).toHaveText(['Bark']);
  });
});
