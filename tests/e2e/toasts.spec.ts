import { expect, test, visit } from '../support/e2e-test.ts';
import { setTabVisibility } from '../support/live-page.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { toast, upvoteOf } from '../support/screen.ts';

test.describe('§8: screen readers announce messages', () => {
  test('the live regions exist before the first message, which is announced as a whole, without other visible messages', async ({
    page,
    site,
  }) => {
    const product = await site.addProduct({ name: 'Birman' });
    await visit(page, `/product/${product.id}`);
    const messages = page.getByRole('region', { name: 'Messages' });
    for (const role of ['status', 'alert'] as const) await expect(messages.getByRole(role)).toHaveCount(1);
    await upvoteOf(page, 'Birman').click();
    await expect(toast(page)).toHaveAttribute('aria-atomic', 'true');
    for (const role of ['status', 'alert'] as const)
      await expect(messages.getByRole(role)).toHaveAttribute('aria-atomic', 'false');
  });

  test('a message closes after a timeout, except while the pointer is over it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ragdoll' });
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Ragdoll').click();
    await expect(toast(page)).toHaveCount(1);
    await toast(page).hover();
    await turnEventLoop(page);
    await page.clock.fastForward(60_000);
    await expect(toast(page)).toHaveCount(1);
    await page.mouse.move(0, 0);
    await page.clock.fastForward(6_000);
    await expect(toast(page)).toHaveCount(0);
  });

  test('a message stays while its button has the focus, even after the pointer leaves it', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Chartreux' });
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Chartreux').click();
    await toast(page).getByRole('button', { name: 'Undo' }).focus();
    await toast(page).hover();
    await page.mouse.move(0, 0);
    await turnEventLoop(page);
    await page.clock.fastForward(11_000);
    await expect(toast(page)).toHaveCount(1);
    await upvoteOf(page, 'Chartreux').focus();
    await turnEventLoop(page);
    await page.clock.fastForward(11_000);
    await expect(toast(page)).toHaveCount(0);
  });

  test('a message stays while a dialog covers it, and closes after the dialog has closed', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Nebelung' });
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Nebelung').click();
    await expect(toast(page)).toHaveCount(1);
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
    await page.clock.fastForward(11_000);
    await turnEventLoop(page);
    await expect(toast(page)).toHaveCount(1);
    await page.keyboard.press('Escape');
    await expect(page.getByRole('dialog')).toHaveCount(0);
    await page.clock.fastForward(11_000);
    await expect(toast(page)).toHaveCount(0);
  });

  test('a message stays in a hidden tab, and closes after the tab is visible again', async ({ page, site }) => {
    const product = await site.addProduct({ name: 'Ragamuffin' });
    await page.clock.install();
    await visit(page, `/product/${product.id}`);
    await upvoteOf(page, 'Ragamuffin').click();
    await expect(toast(page)).toHaveCount(1);
    await setTabVisibility(page, 'hidden');
    await turnEventLoop(page);
    await page.clock.fastForward(60_000);
    await expect(toast(page)).toHaveCount(1);
    await setTabVisibility(page, 'visible');
    await turnEventLoop(page);
    await page.clock.fastForward(6_000);
    await expect(toast(page)).toHaveCount(0);
  });
});
