import { expect, type Locator, type Page } from '@playwright/test';
import { BROWSER_STATES } from './browser-states.ts';
import { visit } from './e2e-test.ts';
import { failResponses, holdResponses } from './network.ts';
import { cardNames, commentBox, failureToast, postButton, searchBox, toast, upvoteOf } from './screen.ts';
import { LONG_WORD, type ScreenState, type StateContent } from './screen-state.ts';

async function openSearch(page: Page): Promise<void> {
  await visit(page, '/?q=zz');
  await expect(cardNames(page).first()).toBeVisible();
}

/** Focuses a message, so it does not time out while axe runs. */
const focusIn = (message: Locator) => message.getByRole('button').first().focus();

const openProduct = (id: 'bare' | 'rich' | 'long') => (page: Page, content: StateContent) =>
  visit(page, `/product/${content[id].id}`);

/** The states of the screens for visitors. Leaderboards and the moderation log are checked by their own tests. */
export const SCREEN_STATES: ScreenState[] = [
  { name: 'home', open: (page) => visit(page, '/') },
  { name: 'home, a search', open: openSearch },
  {
    name: 'home, an upvote with its toast',
    async open(page) {
      await openSearch(page);
      await upvoteOf(page, 'Zz bare').click();
      await focusIn(toast(page));
    },
  },
  {
    name: 'home, a failed upvote with its toast',
    consoleErrors: [/503/],
    async open(page) {
      await openSearch(page);
      await failResponses(page, /\/upvote$/, { method: 'PUT', times: 1 });
      await upvoteOf(page, 'Zz rich').click();
      await focusIn(failureToast(page));
    },
  },
  {
    name: 'home, a search without results',
    async open(page) {
      await visit(page, '/');
      await searchBox(page).fill('zzz-nothing');
      await expect(page.getByText(/^Nothing on the horizon/)).toBeVisible();
    },
  },
  {
    name: 'home, loading',
    async open(page, { rich }) {
      await visit(page, `/product/${rich.id}`);
      await holdResponses(page, /\/api\/products(\?|$)/);
      await page.getByRole('link', { name: 'Back to products' }).click();
      await expect(page.getByText('Loading products...', { exact: true })).toBeVisible();
    },
  },
  {
    name: 'home, with a list that failed to load',
    consoleErrors: [/503/, /Failed to fetch products/],
    async open(page, { rich }) {
      await page.clock.install();
      await visit(page, `/product/${rich.id}`);
      const failed = await failResponses(page, /\/api\/products(\?|$)/);
      await page.getByRole('link', { name: 'Back to products' }).click();
      for (const requests of [1, 2, 3]) {
        await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(requests);
        await page.clock.fastForward(4_000);
      }
      await expect(page.getByText('Failed to load products', { exact: true })).toBeVisible();
    },
  },
  {
    name: 'home, filtered by a tag and sorted by upvotes',
    open: (page) => visit(page, '/?tag=tools&sort=top'),
  },
  {
    name: 'home, the menu of a phone open',
    async open(page) {
      await openSearch(page);
      await page.getByLabel('Menu').click();
    },
  },
  { name: 'home, a product with long texts', open: (page) => visit(page, `/?q=${LONG_WORD.slice(0, 30)}`) },
  { name: 'product', open: openProduct('rich') },
  { name: 'product without comments, team and screenshots', open: openProduct('bare') },
  {
    name: 'product, upvoted, with its picture and its screenshots missing',
    async open(page, { rich }) {
      await page.route(/\/pictures\/(?:git|vim)\//, (route) => route.fulfill({ body: '', contentType: 'image/png' }));
      await visit(page, `/product/${rich.id}`);
      await upvoteOf(page, 'Zz rich').click();
      await expect(upvoteOf(page, 'Zz rich')).toHaveAttribute('aria-pressed', 'true');
      await expect(page.getByRole('img', { name: 'Screenshot 1 of Zz rich' })).toHaveClass(/picture-placeholder/);
    },
  },
  { name: 'product with long texts', open: openProduct('long') },
  {
    name: 'product, loading',
    async open(page, { rich, long }) {
      await holdResponses(page, new RegExp(`/api/products/${long.id}$`));
      await visit(page, `/product/${rich.id}`);
      await page.getByRole('button', { name: 'Previous', exact: true }).click();
      await expect(page.getByText('Loading product...', { exact: true })).toBeVisible();
    },
  },
  {
    name: 'product, with comments that could not be loaded',
    consoleErrors: [/503/],
    async open(page) {
      await page.clock.install();
      await openSearch(page);
      const failed = await failResponses(page, /\/comments\?/);
      await page.getByRole('link', { name: 'Zz rich', exact: true }).click();
      await expect.poll(() => failed.requests.length).toBeGreaterThan(0);
      await page.clock.fastForward(1_000);
      await expect(page.getByText('The comments cannot be loaded right now.')).toBeVisible();
    },
  },
  {
    name: 'product, posting a comment',
    async open(page, { rich }) {
      await visit(page, `/product/${rich.id}`);
      await holdResponses(page, /\/api\/comments$/, { method: 'POST' });
      await commentBox(page).fill('A comment on its way');
      await postButton(page).click();
      await expect(page.getByRole('button', { name: 'Posting...' })).toBeVisible();
    },
  },
  {
    name: 'product, a comment that failed and is now too long',
    consoleErrors: [/503/],
    async open(page, { rich }) {
      await visit(page, `/product/${rich.id}`);
      await failResponses(page, /\/api\/comments$/, { method: 'POST' });
      await commentBox(page).fill('Short');
      await postButton(page).click();
      await expect(failureToast(page)).toHaveCount(1);
      await commentBox(page).fill('x'.repeat(2_020));
      await expect(page.getByText('20 characters too many')).toBeVisible();
    },
  },
  {
    name: 'product, a screenshot in full size',
    async open(page, { rich }) {
      await visit(page, `/product/${rich.id}`);
      await page.getByRole('link', { name: 'Screenshot 1 of Zz rich' }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  {
    name: 'product, the share dialog',
    async open(page, { long }) {
      await visit(page, `/product/${long.id}`);
      await page.getByRole('button', { name: 'Share', exact: true }).click();
      await expect(page.getByRole('dialog')).toBeVisible();
    },
  },
  ...BROWSER_STATES,
  {
    name: 'an unknown product',
    consoleErrors: [/404/],
    async open(page) {
      await page.goto('/product/unknown');
      await expect(page.getByText('Product not found', { exact: true })).toBeVisible();
    },
  },
  {
    name: 'the 404 page',
    consoleErrors: [/404/],
    async open(page) {
      await page.goto('/unknown');
      await expect(page.getByText('Oops! Page not found')).toBeVisible();
    },
  },
];
