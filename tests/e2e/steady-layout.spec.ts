import type { BrowserContextOptions, Locator } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { PHONE } from '../support/screen.ts';

const TOUCH: BrowserContextOptions = { viewport: PHONE, hasTouch: true, isMobile: true };

async function topOf(element: Locator): Promise<number | undefined> {
  return (await element.boundingBox())?.y;
}

test('on a phone, a product opened from its card stays in place when its standing arrives', async ({
  newVisitor,
  site,
}) => {
  const { id, name } = await site.addProduct({ name: 'Steady heron', description: 'Stands still.' });
  const page = await newVisitor(TOUCH);
  await visit(page, '/?q=steady+heron');
  const held = await holdResponses(page, new RegExp(`/api/.*${id}/standing`));
  await page.getByRole('link', { name, exact: true }).tap();
  const description = page.locator('.product-description');
  await expect(description).toHaveText('Stands still.');
  await expect.poll(() => held.requests.length).toBe(1);
  const before = await topOf(description);
  held.release();
  await expect(page.getByRole('region', { name: 'Launch result' })).toBeVisible();
  expect(await topOf(description)).toBe(before);
});
