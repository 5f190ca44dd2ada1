import { randomUUID } from 'node:crypto';
import { expect, type Page } from '@playwright/test';
import { paths } from '../../src/contract/paths.ts';
import { SESSION_HEADER } from '../../src/contract/session.ts';
import type { StoredProduct } from '../../src/core/products/complete-product.ts';
import type { E2eSite } from './e2e-site.ts';
import { visit } from './e2e-test.ts';
import { failResponses, sayOnline } from './network.ts';
import type { ScreenState } from './screen-state.ts';

const dialog = (page: Page, name: string) => page.getByRole('dialog', { name });
const news = (page: Page) => page.locator('.news').getByRole('button');

/** Goes to a page of a browser that keeps what is given, as an earlier visit left it there. */
async function visitKeeping(page: Page, path: string, kept: Record<string, unknown>): Promise<void> {
  await page.evaluate((entries) => {
    for (const [key, value] of entries) localStorage.setItem(key, JSON.stringify(value));
  }, Object.entries(kept));
  await visit(page, path);
}

/** Opens a page and waits until it hears of what others do. Needs a page that is `live`, and its clock. */
async function visitLive(page: Page, path: string): Promise<void> {
  const stream = page.waitForResponse(/\/api\/events\?/);
  await visit(page, path);
  await page.clock.fastForward(3_500);
  expect((await stream).status()).toBe(200);
}

/** The states that come of what a browser keeps, hears from the site, or does not. */
export function browserStates(site: E2eSite, rich: StoredProduct): ScreenState[] {
  const product = paths.product(rich.id);
  return [
    {
      name: 'home, products that are new since the last visit',
      async open(page) {
        await visitKeeping(page, '/?q=zz', { visits: { seenAt: 1, lastEndedAt: 1 } });
        await expect(page.getByText('New since your last visit').first()).toBeVisible();
      },
    },
    {
      name: 'home, new launches that wait',
      async open(page) {
        await visitLive(page, '/?q=zz');
        await site.addProduct({ id: 'zz-launch', name: 'Zz launch' });
        await expect(news(page)).toHaveText('1 new launch');
      },
    },
    {
      name: 'product, new comments that wait',
      async open(page) {
        await visitLive(page, product);
        await page.request.post(paths.api.comments, {
          headers: { [SESSION_HEADER]: `session-${randomUUID()}` },
          data: { productId: rich.id, content: 'From afar' },
        });
        await expect(news(page)).toHaveText('1 new comment');
      },
    },
    {
      name: 'product, more comments that could not be loaded',
      async open(page) {
        await visit(page, product);
        const failed = await failResponses(page, /\/comments\?.*cursor=/);
        await page.getByRole('link', { name: 'Show more comments' }).click();
        await expect.poll(() => failed.requests.length).toBeGreaterThan(0);
        await page.clock.fastForward(1_000);
        await expect(page.getByText('More comments could not be loaded.')).toBeVisible();
      },
    },
    {
      name: 'saved products, none',
      async open(page) {
        await visit(page, '/');
        await page.getByRole('button', { name: 'Saved products' }).click();
        await expect(dialog(page, 'Saved products').getByText(/^Nothing saved yet/)).toBeVisible();
      },
    },
    {
      name: 'saved products, one taken off the list and one gone from the site',
      async open(page) {
        const gone = { id: 'zz-gone', name: 'Zz gone', image: '' };
        await visitKeeping(page, product, { saved_products: [rich, { ...rich, id: 'zz-bare' }, gone] });
        await page.getByRole('button', { name: /^Saved products/ }).click();
        await expect(dialog(page, 'Saved products').getByText('No longer on the site')).toBeVisible();
        const taken = dialog(page, 'Saved products').getByRole('button', { name: 'Save Zz bare' });
        await taken.click();
        await expect(taken).toHaveAttribute('aria-pressed', 'false');
      },
    },
    {
      name: 'keyboard shortcuts',
      async open(page) {
        await visit(page, product);
        await page.keyboard.press('?');
        await expect(dialog(page, 'Keyboard shortcuts')).toBeVisible();
      },
    },
    {
      name: 'keyboard shortcuts, turned off',
      async open(page) {
        // Not on the list: its end, with the button, goes away from who comes near it.
        await visit(page, product);
        await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
        const toggle = page.getByRole('checkbox', { name: 'Shortcuts of a single key' });
        await toggle.press('Space');
        await expect(toggle).not.toBeChecked();
      },
    },
    {
      name: 'product, without a network, and a comment that was refused',
      async open(page) {
        const comment = {
          kind: 'comment',
          productId: rich.id,
          content: 'Too late',
          website: '',
          idempotencyKey: 'key',
        };
        await visitKeeping(page, product, { outbox: [{ ...comment, refused: 'Product not found' }] });
        await sayOnline(page, false);
        await expect(page.getByText(/^You are offline/)).toBeVisible();
        await page.evaluate(() => localStorage.removeItem('outbox'));
        await expect(page.getByRole('region', { name: 'Comment that was not posted' })).toBeVisible();
      },
    },
  ];
}
