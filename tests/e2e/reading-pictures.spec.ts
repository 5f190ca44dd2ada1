import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { expect } from '../support/e2e-test.ts';
import { recordRequests } from '../support/network.ts';
import { pictureFile, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

const PICTURE = { name: 'shell.png', background: '#0c5a68' };

test.beforeEach(async ({ page }) => {
  await page.goto(paths.submit);
  await expect(dialog(page)).toBeVisible();
});

/** Makes the page read a file only when the returned function is called. */
async function holdReading(page: Page, file: string): Promise<() => Promise<void>> {
  await page.evaluate((held) => {
    const { createImageBitmap } = window;
    const released = new Promise((resolve) => window.addEventListener('read-file', resolve, { once: true }));
    const read = async (source: File) => {
      if (source.name === held) await released;
      return createImageBitmap(source);
    };
    Object.assign(window, { createImageBitmap: read });
  }, file);
  return () => page.evaluate(() => void window.dispatchEvent(new Event('read-file')));
}

test('submitting waits for a picture that is still being read, and sends it', async ({ page }) => {
  await dialog(page).getByLabel('Name', { exact: true }).fill('Ctenophore');
  const release = await holdReading(page, PICTURE.name);
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await pictureFile(PICTURE.name, PICTURE.background));
  const uploads = recordRequests(page, /\/image$/, 'PUT');
  await dialog(page).getByRole('button', { name: 'Submit for review' }).click();
  await expect(dialog(page).getByRole('button', { name: 'Sending...' })).toBeFocused();
  await release();
  await expect(dialog(page).getByRole('heading', { name: 'Ctenophore is on its way' })).toBeVisible();
  expect(uploads).toHaveLength(1);
});

test('of two pictures, the one chosen last is used, even if the other takes longer to read', async ({ page }) => {
  const release = await holdReading(page, 'first.png');
  const choose = async (file: string, label: RegExp) =>
    dialog(page)
      .getByLabel(label)
      .setInputFiles(await pictureFile(file, PICTURE.background));
  await choose('first.png', /^Choose/);
  await choose('second.png', /^Choose/);
  await release();
  await choose('screenshot.png', /^Add screenshots/);
  await expect(dialog(page).getByRole('img', { name: 'Your screenshot 1' })).toBeVisible();
  await expect(dialog(page).locator('.submission-picture-name')).toHaveText(['second.png', 'screenshot.png']);
});

declare global {
  interface Window {
    /** The current and the maximum number of decoded pictures since `countDecoded` was called. */
    decoded?: { now: number; max: number };
  }
}

/** Counts the pictures that the page has decoded and not closed yet, which occupy memory. */
function countDecoded(): void {
  const { createImageBitmap } = window;
  const decoded = { now: 0, max: 0 };
  const decode = async (file: File) => {
    decoded.now += 1;
    decoded.max = Math.max(decoded.max, decoded.now);
    const bitmap = await createImageBitmap(file);
    const close = () => {
      decoded.now -= 1;
      ImageBitmap.prototype.close.call(bitmap);
    };
    return Object.assign(bitmap, { close });
  };
  Object.assign(window, { decoded, createImageBitmap: decode });
}

test('only one of several chosen pictures is decoded at a time', async ({ page }) => {
  await page.evaluate(countDecoded);
  const files = await Promise.all(['one.png', 'two.png', 'three.png'].map((file) => pictureFile(file, '#0c5a68')));
  await dialog(page).getByLabel('Add screenshots').setInputFiles(files);
  await dialog(page).getByLabel('Choose a picture').setInputFiles(files.slice(0, 1));
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  await expect(dialog(page).locator('.submission-picture-name')).toHaveText([
    'one.png',
    'one.png',
    'two.png',
    'three.png',
  ]);
  expect(await page.evaluate(() => window.decoded)).toEqual({ now: 0, max: 1 });
});
