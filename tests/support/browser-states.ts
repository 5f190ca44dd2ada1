import { randomUUID } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { SESSION_HEADER } from '../../src/contract/api.ts';
import * as paths from '../../src/contract/paths.ts';
import { visit } from './e2e-test.ts';
import { EVENTS, newItemsButton } from './live-page.ts';
import { failResponses, setOnline } from './network.ts';
import type { ScreenState } from './screen-state.ts';

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });

/** Opens a page with these entries in local storage, as after an earlier visit. */
async function visitWithStorage(page: Page, path: string, stored: Record<string, unknown>): Promise<void> {
  await page.goto(paths.robots);
  await page.evaluate((entries) => {
    for (const [key, value] of entries) localStorage.setItem(key, JSON.stringify(value));
  }, Object.entries(stored));
  await visit(page, path);
}

/** Opens a page and waits for its event stream, which the page opens after 3 s. */
async function visitLive(page: Page, path: string): Promise<void> {
  await page.clock.install();
  const stream = page.waitForResponse(EVENTS);
  await visit(page, path);
  await page.clock.fastForward(3_500);
  expect((await stream).status()).toBe(200);
}

/** States that depend on browser storage, live updates or the network. */
export const BROWSER_STATES: ScreenState[] = [
  {
    name: 'home, products new since the last visit',
    async open(page) {
      await visitWithStorage(page, '/?q=zz', { visits: { seenAt: 1, lastEndedAt: 1 } });
      await expect(page.getByText('New since your last visit').first()).toBeVisible();
    },
  },
  {
    name: 'home, new launches behind their button',
    async open(page, { site }) {
      await visitLive(page, '/?q=zz');
      await site.addProduct({ name: 'Zz launch' });
      await expect(newItemsButton(page)).toHaveText('1 new launch');
    },
  },
  {
    name: 'product, new comments behind their button',
    async open(page, { rich }) {
      await visitLive(page, paths.product(rich.id));
      await page.request.post(paths.api.comments, {
        headers: { [SESSION_HEADER]: `session-${randomUUID()}` },
        data: { productId: rich.id, content: 'From afar' },
      });
      await expect(newItemsButton(page)).toHaveText('1 new comment');
    },
  },
  {
    name: 'product, more comments that could not be loaded',
    consoleErrors: [/503/],
    async open(page, { discussed }) {
      await page.clock.install();
      await visit(page, paths.product(discussed.id));
      const failed = await failResponses(page, /\/comments\?.*cursor=/);
      await page.getByRole('link', { name: 'Show more comments' }).click();
      await expect.poll(() => failed.requests.length).toBeGreaterThan(0);
      await page.clock.fastForward(1_000);
      await expect(page.getByText('More comments could not be loaded.')).toBeVisible();
    },
  },
  {
    name: 'saved products, empty',
    async open(page) {
      await visit(page, '/?q=zz');
      await page.getByRole('button', { name: 'Saved products' }).click();
      await expect(dialog(page, 'Saved products').getByText(/^Nothing saved yet/)).toBeVisible();
    },
  },
  {
    name: 'saved products, one unsaved and one removed from the site',
    consoleErrors: [/404/],
    async open(page, { rich }) {
      const gone = { id: 'zz-gone', name: 'Zz gone', image: '' };
      await visitWithStorage(page, paths.product(rich.id), {
        saved_products: [rich, { ...rich, id: 'zz-bare' }, gone],
      });
      await page.getByRole('button', { name: /^Saved products/ }).click();
      await expect(dialog(page, 'Saved products').getByText('No longer on the site')).toBeVisible();
      const taken = dialog(page, 'Saved products').getByRole('button', { name: 'Save Zz bare' });
      await taken.click();
      await expect(taken).toHaveAttribute('aria-pressed', 'false');
    },
  },
  {
    name: 'keyboard shortcuts',
    async open(page, { rich }) {
      await visit(page, paths.product(rich.id));
      await page.keyboard.press('?');
      await expect(dialog(page, 'Keyboard shortcuts')).toBeVisible();
    },
  },
  {
    name: 'keyboard shortcuts, turned off',
    async open(page, { rich }) {
      // Uses a product page, because the home page loads more products on scrolling, which moves its footer away.
      await visit(page, paths.product(rich.id));
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
      const toggle = page.getByRole('checkbox', { name: 'Single-key shortcuts' });
      await toggle.press('Space');
      await expect(toggle).not.toBeChecked();
    },
  },
  {
    name: 'product, offline, with a comment that the server refused',
    async open(page, { rich }) {
      const comment = {
        kind: 'comment',
        productId: rich.id,
        content: 'Too late',
        website: '',
        idempotencyKey: 'key',
      };
      await visitWithStorage(page, paths.product(rich.id), { outbox: [{ ...comment, refused: 'Product not found' }] });
      await setOnline(page, false);
      await expect(page.getByText(/^You are offline/)).toBeVisible();
      await expect(page.getByRole('region', { name: 'Comment that was not posted' })).toBeVisible();
    },
  },
];
