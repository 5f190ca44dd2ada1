import type { Page } from '@playwright/test';
import { elapseUntil } from '../support/clock.ts';
import { expect, test, visit } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests } from '../support/network.ts';
import {
  commentArticles,
  commentBox,
  commentTexts,
  commentWith,
  discussion,
  discussionTitle,
  failureToast,
  postButton,
} from '../support/screen.ts';

const READ = /\/api\/products\/[^/]+\/comments/;

const sortBy = (page: Page) => page.getByRole('combobox', { name: 'Sort comments' });

const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

test.describe('§2: the discussion', () => {
  test('without comments it invites the first one', async ({ page, site }) => {
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

  test('a comment shows author, avatar, badge, time, text, likes and Reply, which does nothing', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Beech' });
    await site.addComments(product.id, [
      { authorName: 'Grace', authorBadge: 'Maker', content: 'A tall tree', likes: 12, createdAt: ago(3 * HOUR) },
      // Old enough that what is said of its age stays the same for a day.
      { authorName: 'Linus', content: 'A green tree', createdAt: ago(3 * DAY) },
    ]);
    await visit(page, `/product/${product.id}`);
    await expect(discussionTitle(page)).toHaveText('Discussion (2)');
    const comment = page.getByRole('article', { name: 'Comment by Grace' });
    await expect(comment.locator('.badge')).toHaveText('Maker');
    await expect(comment.getByText('3 hours ago', { exact: true })).toBeVisible();
    await expect(comment.getByText('A tall tree', { exact: true })).toBeVisible();
    await expect(comment.getByRole('button', { name: 'Like 12' })).toBeVisible();
    await expect(page.locator('.comment .avatar img').first()).toHaveAttribute('src', '/pictures/avatar-default.svg');
    await expect(page.getByRole('article', { name: 'Comment by Linus' }).locator('.badge')).toHaveCount(0);

    const requests = recordRequests(page, /\/api\/(?!upvotes)/);
    const before = await discussion(page).innerHTML();
    await comment.getByRole('button', { name: 'Reply' }).click();
    expect(await discussion(page).innerHTML()).toBe(before);
    await expect(page).toHaveURL(`/product/${product.id}`);
    expect(requests).toEqual([]);
  });

  test('is sorted by Best, the most likes first, until one asks for Newest or Oldest', async ({ page, site }) => {
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

  test('a long one pages on, each comment once', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Douglas' });
    const all = Array.from({ length: 65 }, (_, index) => ({ content: `Cone ${index}.`, likes: 100 - index }));
    await site.addComments(product.id, all);
    await visit(page, `/product/${product.id}`);
    await expect(discussionTitle(page)).toHaveText('Discussion (65)');
    await expect(commentArticles(page)).toHaveCount(30);
    await page.getByRole('link', { name: 'Show more comments' }).click();
    await expect(commentArticles(page)).toHaveCount(60);
    await page.getByRole('link', { name: 'Show more comments' }).click();
    await expect(commentTexts(page)).toHaveText(all.map(({ content }) => content));
    await expect(page.getByRole('link', { name: 'Show more comments' })).toHaveCount(0);
    await expect(page).toHaveURL(`/product/${product.id}`);
  });

  test('line breaks are kept, links get no credit, and HTML is text', async ({ page, site }) => {
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
    const links = commentArticles(page).nth(1).getByRole('link');
    await expect(links).toHaveText(['https://example.org/a?b=1&c=2', 'http://example.com']);
    for (const link of await links.all()) await expect(link).toHaveAttribute('rel', 'nofollow ugc noopener');
    await expect(links.first()).toHaveAttribute('href', 'https://example.org/a?b=1&c=2');
    expect(await commentTexts(page).nth(2).textContent()).toBe(html);
    await expect(commentArticles(page).nth(2).locator('img, script, b')).toHaveCount(0);
    await expect(commentArticles(page).nth(3).getByRole('link')).toHaveCount(0);
    await expect(page).toHaveTitle('Elm · Groundswell');
  });

  test('the text of a new comment is text, too', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Fir' });
    await visit(page, `/product/${product.id}`);
    const html = '<img src=x onerror="document.title=\'hit\'">\nand https://example.org/';
    await commentBox(page).fill(html);
    await postButton(page).click();
    await expect(commentTexts(page)).toHaveText(html, { useInnerText: true });
    await expect(commentArticles(page).getByRole('link')).toHaveAttribute('rel', 'nofollow ugc noopener');
    await page.reload();
    await expect(commentTexts(page)).toHaveText(html, { useInnerText: true });
    await expect(page).toHaveTitle('Fir · Groundswell');
  });
});

test.describe('§9: timestamps', () => {
  test('say how long ago a comment was written', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ginkgo' });
    const ages: [string, number][] = [
      ['Just now', 1_000],
      ['1 minute ago', MINUTE + 5_000],
      ['5 minutes ago', 5 * MINUTE + 5_000],
      ['59 minutes ago', 59 * MINUTE + 5_000],
      ['1 hour ago', HOUR + 5_000],
      ['3 hours ago', 3 * HOUR + 5_000],
      ['23 hours ago', 23 * HOUR + 5_000],
      ['1 day ago', DAY + 5_000],
      ['9 days ago', 9 * DAY + 5_000],
    ];
    const comments = ages.map(([text, age]) => ({ content: text, createdAt: ago(age) }));
    await site.addComments(product.id, comments);
    await visit(page, `/product/${product.id}`);
    await sortBy(page).selectOption('Newest');
    await expect(commentTexts(page)).toHaveText(ages.map(([text]) => text));
    await expect(commentArticles(page).locator('time')).toHaveText(ages.map(([text]) => text));
  });

  test('go on while one reads', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Hazel' });
    await site.addComments(product.id, [{ content: 'Nuts' }]);
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    const time = commentWith(page, 'Nuts').locator('time');
    await expect(time).toHaveText('Just now');
    await page.clock.fastForward(60_000);
    await expect(time).toHaveText('1 minute ago');
  });

  test('a time that is missing or invalid is ‘Recently’', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Iroko' });
    await site.addComments(product.id, [{ content: 'one', likes: 2 }, { content: 'two' }]);
    await visit(page, '/?q=iroko');
    await page.route(READ, async (route) => {
      const response = await route.fetch();
      const body = await response.json();
      body.items[0].createdAt = 'no time at all';
      body.items[1].createdAt = null;
      await route.fulfill({ response, json: body });
    });
    await page.getByRole('link', { name: 'Iroko', exact: true }).click();
    await expect(commentArticles(page).locator('time')).toHaveText(['Recently', 'Recently']);
  });
});

test.describe('§8 and §9: reading comments', () => {
  test('a failure is an empty list with a quiet line, after 1 retry after 500 ms; one can try again', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    const product = await site.addProduct({ name: 'Teak' });
    await site.addComments(product.id, [{ content: 'Hard wood' }]);
    await page.clock.install();
    await visit(page, '/?q=teak');
    const failed = await failResponses(page, READ, { times: 2, untold: true });
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.getByRole('link', { name: 'Teak', exact: true }).click();
    await elapseUntil(page, () => failed.requests.length === 1);
    await failed.tell();
    await expect(page.getByText('The comments are out of reach right now.')).toHaveCount(0);
    const delay = await elapseUntil(page, () => failed.requests.length === 2);
    expect(delay, 'the delay in ms').toBeGreaterThanOrEqual(500);
    expect(delay).toBeLessThan(900);
    await failed.tell();
    await page.clock.resume();
    await expect(
      page.getByRole('status').filter({ hasText: 'The comments are out of reach right now.' }),
    ).toBeVisible();
    await expect(commentArticles(page)).toHaveCount(0);
    await expect(failureToast(page)).toHaveCount(0);
    await expect(page.getByRole('heading', { level: 1, name: 'Teak' })).toBeVisible();
    await discussion(page).getByRole('button', { name: 'Try again' }).click();
    await expect(commentTexts(page)).toHaveText(['Hard wood']);
    await expect(page.getByText('The comments are out of reach right now.')).toHaveCount(0);
  });

  test('while they are read, their place says so', async ({ page, site }) => {
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
