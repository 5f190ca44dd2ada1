import type { Page } from '@playwright/test';
import { expect, test, visit } from '../support/e2e-test.ts';
import { cardOf } from '../support/screen.ts';

const HOUR_MS = 60 * 60_000;
const marker = (page: Page, name: string) => cardOf(page, name).getByText('New since your last visit', { exact: true });
const storedVisits = (page: Page) => page.evaluate(() => JSON.parse(localStorage.getItem('visits') ?? 'null'));

test('products launched since the last visit are marked, even after a reload', async ({ page, site }) => {
  const now = Date.now();
  await site.addProduct({ name: 'Fjord old', createdAt: new Date(now - 3 * HOUR_MS).toISOString() });
  await site.addProduct({ name: 'Fjord new', createdAt: new Date(now - HOUR_MS).toISOString() });
  await page.clock.install();
  await visit(page, '/?q=fjord');
  await page.clock.runFor(5_000);
  await expect.poll(() => storedVisits(page), 'the visit is recorded').toMatchObject({ lastEndedAt: null });
  await expect(page.getByText('since your last visit')).toHaveCount(0);

  // Simulates a visit two hours ago.
  await page.evaluate(
    (seenAt) => localStorage.setItem('visits', JSON.stringify({ seenAt, lastEndedAt: null })),
    now - 2 * HOUR_MS,
  );
  await page.reload();
  await expect(marker(page, 'Fjord new')).toBeVisible();
  await expect(marker(page, 'Fjord old')).toHaveCount(0);
  await page.clock.runFor(5_000);
  await expect.poll(() => storedVisits(page)).toMatchObject({ lastEndedAt: now - 2 * HOUR_MS });
  await page.reload();
  await expect(marker(page, 'Fjord new'), 'still the same visit').toBeVisible();
});

test('the marker of a new product does not change the size of its card', async ({ page, site }) => {
  await site.addProduct({ name: 'Geyser' });
  const boxes = () => cardOf(page, 'Geyser').boundingBox();
  await visit(page, '/?q=geyser');
  const plain = await boxes();
  await page.evaluate(() => localStorage.setItem('visits', '{"seenAt":1,"lastEndedAt":1}'));
  await page.reload();
  await expect(marker(page, 'Geyser')).toBeVisible();
  expect(await boxes()).toEqual(plain);
});
