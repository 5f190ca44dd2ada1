import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { waitForAssets } from '../support/page-assets.ts';

const shareButton = (page: Page) => page.getByRole('button', { name: 'Share', exact: true });
const dialog = (page: Page) => page.getByRole('dialog', { name: /^Share / });

async function openShare(page: Page, path: string): Promise<void> {
  await visit(page, path);
  await shareButton(page).click();
  await expect(dialog(page)).toBeVisible();
}

test('copying the link by keyboard copies the product’s URL, confirms it and keeps the focus', async ({
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
  const badge = dialog(page).locator('.share-badge');
  // A font that loads may change the dialog's height.
  await waitForAssets(page);
  const before = await badge.boundingBox();
  await copy.focus();
  await page.keyboard.press('Enter');
  await expect(dialog(page).getByRole('status').first()).toHaveText('Link copied');
  expect(await badge.boundingBox(), 'the confirmation does not move the badge').toEqual(before);
  await expect(copy).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.address}/product/${product.id}`);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await expect(shareButton(page)).toBeFocused();
});

test('without clipboard access, the link is selected and a message says so', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Narwhal' });
  await page.addInitScript(() => {
    Object.defineProperty(navigator, 'clipboard', { value: undefined });
    document.execCommand = () => false;
  });
  await openShare(page, `/product/${product.id}`);
  await dialog(page).getByRole('button', { name: 'Copy link' }).click();
  await expect(dialog(page).getByRole('status').first()).toHaveText(/^The text is selected: copy it/);
  const selected = () =>
    page.evaluate(() => {
      const { activeElement: field } = document;
      if (!(field instanceof HTMLInputElement)) return '';
      return field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
    });
  expect(await selected()).toBe(`${site.address}/product/${product.id}`);
});

test('the share dialog offers the system share sheet only if the browser supports it', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Octopus' });
  await page.addInitScript(() => Object.defineProperty(navigator, 'share', { value: undefined, configurable: true }));
  await openShare(page, `/product/${product.id}`);
  await expect(dialog(page).getByRole('button', { name: 'Share with an app' })).toHaveCount(0);
  const given: unknown[] = [];
  await page.exposeFunction('reportShare', (data: unknown) => given.push(data));
  await page.addInitScript(() => {
    const { reportShare } = window as unknown as { reportShare(data: unknown): Promise<void> };
    // Closing the system's share sheet rejects the promise.
    const share = (data: unknown) => reportShare(data).then(() => Promise.reject(new DOMException('', 'AbortError')));
    Object.defineProperty(navigator, 'share', { value: share });
  });
  await openShare(page, `/product/${product.id}`);
  await dialog(page).getByRole('button', { name: 'Share with an app' }).click();
  await expect.poll(() => given).toEqual([{ title: 'Octopus', url: `${site.address}/product/${product.id}` }]);
});

test('the badge preview and its code follow the chosen theme and format', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'Pilot "whale" & co' });
  const address = `${site.address}/product/${product.id}`;
  await openShare(page, `/product/${product.id}`);
  const code = dialog(page).getByRole('textbox', { name: 'Badge code' });
  const picture = `${site.address}/badge/${product.id}.svg`;
  const words = 'Pilot &quot;whale&quot; &amp; co on Groundswell';
  const preview = dialog(page).getByRole('img', { name: 'Preview of the light badge' });
  await expect(preview).toHaveAttribute('src', `/badge/${product.id}.svg`);
  const widthOf = () => preview.evaluate((image: HTMLImageElement) => image.naturalWidth);
  await expect.poll(widthOf).toBeGreaterThan(0);
  const size = `width="${await widthOf()}" height="54"`;
  await expect(code).toHaveValue(`<a href="${address}"><img src="${picture}" alt="${words}" ${size}></a>`);
  await dialog(page).getByRole('radio', { name: 'Light' }).press('ArrowRight');
  await dialog(page).getByRole('radio', { name: 'Markdown' }).check();
  await expect(code).toHaveValue(`[![Pilot "whale" & co on Groundswell](${picture}?theme=dark)](${address})`);
  await expect(dialog(page).getByRole('img', { name: 'Preview of the dark badge' })).toBeVisible();
});

test('‘Copy link’ stays visible for a product name of 300 characters', async ({ page, site }) => {
  const product = await site.addProduct({ name: 'V'.repeat(300) });
  await page.setViewportSize({ width: 320, height: 640 });
  await visit(page, `/product/${product.id}`);
  await page.getByRole('button', { name: 'Share' }).click();
  await expect(page.getByRole('button', { name: 'Copy link' })).toBeInViewport({ ratio: 1 });
});
