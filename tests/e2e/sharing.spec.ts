import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';

const shareButton = (page: Page) => page.getByRole('button', { name: 'Share', exact: true });
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Share / });

/** Opens the ways to share a product. */
async function openShare(page: Page, path: string): Promise<void> {
  await visit(page, path);
  await shareButton(page).click();
  await expect(dialog(page)).toBeVisible();
}

test('a link to the product is copied, said to be, and complete without the keyboard leaving its place', async ({
  page,
  site,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const product = await site.addProduct({ name: 'Manatee' });
  await visit(page, `/product/${product.id}?ref=mail`);
  await shareButton(page).focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page)).toBeVisible();
  const field = dialog(page).getByRole('textbox', { name: 'Link to this page' });
  await expect(field).toHaveValue(`${site.address}/product/${product.id}`);
  const copy = dialog(page).getByRole('button', { name: 'Copy link' });
  await copy.focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByRole('status').first()).toHaveText('Link copied');
  await expect(copy).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.address}/product/${product.id}`);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(shareButton(page)).toBeFocused();
});

test('where the browser lets no script copy, the link is selected, and that is said', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Narwhal' });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;
  });
  await openShare(page, `/product/${product.id}`);
  await dialog(page).getByRole('button', { name: 'Copy link' }).click();
  await expect(dialog(page).getByRole('status').first()).toHaveText(/^Selected: copy it/);
  const selected = () =>
    page.evaluate(() => {
      const { activeElement: field } = document;
      if (!(field instanceof HTMLInputElement)) return '';
      return field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
    });
  expect(await selected()).toBe(`${site.address}/product/${product.id}`);
});

test('the system’s own way is offered where there is one, and nowhere else', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Octopus' });
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined, configurable: true }));
  await openShare(page, `/product/${product.id}`);
  await expect(dialog(page).getByRole('button', { name: 'Share with an app' })).toHaveCount(0);
  const given: unknown[] = [];
  await page.exposeFunction('reportShare', (data: unknown) => given.push(data));
  await page.addInitScript(() => {
    const { reportShare } = window as unknown as { reportShare(data: unknown): Promise<void> };
    // Whoever closes the system's sheet refuses the promise.
    const share = (data: unknown) => reportShare(data).then(() => Promise.reject(new DOMException('', 'AbortError')));
    Object.defineProperty(navigator, 'share', { value: share });
  });
  await openShare(page, `/product/${product.id}`);
  await dialog(page).getByRole('button', { name: 'Share with an app' }).click();
  await expect.poll(() => given).toEqual([{ title: 'Octopus', url: `${site.address}/product/${product.id}` }]);
});

test('the badge is shown as it will look, and its code follows what is chosen', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Pilot "whale" & co' });
  const address = `${site.address}/product/${product.id}`;
  await openShare(page, `/product/${product.id}`);
  const code = dialog(page).getByRole('textbox', { name: 'Code of the badge' });
  const picture = `${site.address}/badge/${product.id}.svg`;
  const words = 'Pilot &quot;whale&quot; &amp; co on Groundswell';
  await expect(code).toHaveValue(`<a href="${address}"><img src="${picture}" alt="${words}"></a>`);
  const preview = dialog(page).getByRole('img', { name: 'Preview of the light badge' });
  await expect(preview).toHaveAttribute('src', `/badge/${product.id}.svg`);
  await expect.poll(() => preview.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBeGreaterThan(0);
  await dialog(page).getByRole('radio', { name: 'Light' }).press('ArrowRight');
  await dialog(page).getByRole('radio', { name: 'Markdown' }).check();
  await expect(code).toHaveValue(`[![Pilot "whale" & co on Groundswell](${picture}?theme=dark)](${address})`);
  await expect(dialog(page).getByRole('img', { name: 'Preview of the dark badge' })).toBeVisible();
});

test('a name of 300 characters leaves room for what the menu offers', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'W'.repeat(300) });
  await page.setViewportSize({ width: 320, height: 640 });
  await visit(page, `/product/${product.id}`);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByRole('button', { name: 'Copy link' })).toBeInViewport({ ratio: 1 });
});
