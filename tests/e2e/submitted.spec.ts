import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { blockStorage, recordStoredKeys } from '../support/browser-storage.ts';
import { expect } from '../support/e2e-test.ts';
import { failResponses, holdResponses, recordRequests } from '../support/network.ts';
import { toast } from '../support/screen.ts';
import {
  closeWhileSending,
  dayAhead,
  dialog,
  openDialog,
  pictureFile,
  sendButton,
  submissionTest as test,
} from '../support/submission-site.ts';

async function enterName(page: Page, name: string): Promise<void> {
  await openDialog(page);
  await dialog(page).getByLabel('Name', { exact: true }).fill(name);
}

test('the link opens the submission dialog again while the closed dialog is still being removed', async ({ page }) => {
  await openDialog(page);
  await dialog(page).evaluate((element: HTMLDialogElement) => {
    // Runs after the page's own handler, and before the page is rendered without the dialog.
    element.addEventListener('close', () => document.querySelector<HTMLElement>('.submit-link')?.click());
    element.close();
  });
  await expect(dialog(page)).toBeVisible();
  await expect(dialog(page)).toHaveJSProperty('open', true);
});

test('the link opens the submission dialog again before the browser has reported that it was closed', async ({
  page,
}) => {
  await openDialog(page);
  await dialog(page).evaluate((element: HTMLDialogElement) => {
    element.close();
    document.querySelector<HTMLElement>('.submit-link')?.click();
    // The browser's own event may follow only after the page is rendered with the next dialog.
    element.dispatchEvent(new Event('close'));
  });
  await expect(dialog(page)).toBeVisible();
});

test('the QR code of the maker link is dark on white in a dark forced-colours theme', async ({ page }) => {
  await page.emulateMedia({ forcedColors: 'active', colorScheme: 'dark' });
  await enterName(page, 'Sargassum');
  await sendButton(page).click();
  const code = dialog(page).getByRole('img', { name: 'QR code of the maker link of Sargassum' });
  await expect(code.locator('..')).toHaveCSS('background-color', 'rgb(255, 255, 255)');
  await expect(code.locator('path')).toHaveCSS('fill', 'rgb(10, 33, 53)');
});

test('a scheduled launch can be downloaded as a calendar event', async ({ page, site }) => {
  const [day, nextDay] = [dayAhead(120), dayAhead(121)];
  await enterName(page, 'Urchin; spiny, round');
  await dialog(page).getByLabel('At a time that I choose').check();
  await dialog(page).getByLabel('Launch time').fill(`${day}T09:00`);
  await sendButton(page).click();
  const download = page.waitForEvent('download');
  await dialog(page).getByRole('button', { name: 'Add to calendar' }).click();
  const file = await readFile(await (await download).path(), 'utf8');
  const [start, end] = [day, nextDay].map((date) => `${date.replaceAll('-', '')}T090000Z`);
  expect(file).toContain(`\r\nDTSTART:${start}\r\nDTEND:${end}\r\n`);
  expect(file).toContain('SUMMARY:Launch of Urchin\\; spiny\\, round\r\n');
  expect(file).toContain(`URL:${site.address}/product/`);
  expect(file).not.toContain('maker=');
});

test('the response to a submission does not delete the draft of the product that the visitor enters next', async ({
  page,
}) => {
  await enterName(page, 'Lampshell');
  const held = await closeWhileSending(page);
  await page.getByRole('link', { name: 'Submit a product' }).click();
  await dialog(page).getByRole('button', { name: 'Start over' }).click();
  const name = dialog(page).getByLabel('Name', { exact: true });
  await name.fill('Whelk');
  held.release();
  await expect(toast(page).getByRole('button', { name: 'Your maker link' })).toBeAttached();
  await page.reload();
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/lampshell#maker=/);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Submit a product' }).click();
  await expect(name).toHaveValue('Whelk');
});

test('if the dialog is closed while the product is being sent, a message leads to the maker link, which is shown once', async ({
  page,
}) => {
  await enterName(page, 'Olive shell');
  const held = await closeWhileSending(page);
  held.release();
  await toast(page).getByRole('button', { name: 'Your maker link' }).click();
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/olive-shell#maker=/);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await page.getByRole('link', { name: 'Submit a product' }).click();
  await expect(dialog(page).getByLabel('Name', { exact: true })).toHaveValue('');
});

test('the maker links of two products that are sent at the same time are both shown', async ({ page }) => {
  await enterName(page, 'Scaphander');
  const held = await closeWhileSending(page);
  await page.getByRole('link', { name: 'Submit a product' }).click();
  await dialog(page).getByRole('button', { name: 'Start over' }).click();
  await dialog(page).getByLabel('Name', { exact: true }).fill('Cerithidea');
  await sendButton(page).click();
  await expect.poll(() => held.requests.length).toBe(2);
  held.release();
  // The response to the first form arrives while the second dialog is open.
  await expect(toast(page).getByRole('button', { name: 'Your maker link' })).toBeAttached();
  const link = dialog(page).getByLabel('Your maker link');
  await expect(link).toHaveValue(/\/product\/cerithidea#maker=/);
  await page.keyboard.press('Escape');
  await expect(link).toHaveValue(/\/product\/scaphander#maker=/);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
});

for (const [what, status, contentType] of [
  ['is replaced by a page of a proxy', 200, 'text/html'],
  ['says that the request did not arrive in time', 408, 'text/plain'],
] as const) {
  test(`a submission whose response ${what} is not reported as rejected, and creates one product if it is sent again`, async ({
    page,
    expectConsoleError,
  }) => {
    if (status === 408) expectConsoleError(/408/);
    await page.route(
      /\/api\/submissions$/,
      async (route) => {
        await route.fetch();
        await route.fulfill({ status, contentType, body: '<h1>Sign in to the network</h1>' });
      },
      { times: 1 },
    );
    await enterName(page, `Turban ${status}`);
    await sendButton(page).click();
    await expect(dialog(page).getByRole('alert')).toContainText('The site cannot be reached');
    await sendButton(page).click();
    await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(
      new RegExp(`/product/turban-${status}#maker=`),
    );
  });
}

test('a draft that is open in two tabs contains what was entered in each of them', async ({ page }) => {
  await openDialog(page);
  const second = await page.context().newPage();
  await second.goto(paths.submit);
  const field = (tab: Page, label: string) => dialog(tab).getByLabel(label);
  const storedKeys = await recordStoredKeys(page);
  await field(second, 'Description').fill('Eats algae');
  await expect(field(page, 'Description')).toHaveValue('Eats algae');
  expect(await storedKeys(), 'a late copy could replace newer text').not.toContain('submission_draft');
  await field(page, 'Category').fill('Snails');
  await expect(field(second, 'Category')).toHaveValue('Snails');
  await page.reload();
  await expect(field(page, 'Category')).toHaveValue('Snails');
  await expect(field(page, 'Description')).toHaveValue('Eats algae');
});

test.describe('a draft that was already submitted in another tab', () => {
  const submitted = (page: Page) => dialog(page).getByRole('heading', { name: /is on its way$/ });

  /** Opens the draft in a second tab, then submits it in the first one. @returns the second tab. */
  async function submitInFirstTab(page: Page, name: string, files: string[]): Promise<Page> {
    await enterName(page, name);
    const second = await page.context().newPage();
    await second.goto(paths.submit);
    await expect(dialog(second).getByLabel('Name', { exact: true })).toHaveValue(name);
    const pictures = await Promise.all(files.map((file, index) => pictureFile(file, `#07${index}e68`)));
    await dialog(page).getByLabel('Add screenshots').setInputFiles(pictures);
    await expect(dialog(page).getByRole('img', { name: /^Your screenshot/ })).toHaveCount(files.length);
    await sendButton(page).click();
    await expect(submitted(page)).toBeVisible();
    return second;
  }

  test('keeps its screenshots when it is submitted again', async ({ page, expectConsoleError }) => {
    expectConsoleError(/404/);
    const second = await submitInFirstTab(page, 'Dog whelk', ['one.png', 'two.png']);
    const removals = recordRequests(second, /\/screenshots\//, 'DELETE');
    await sendButton(second).click();
    await expect(submitted(second)).toBeVisible();
    expect(removals).toEqual([]);
    await dialog(page).getByRole('link', { name: 'See your launch' }).click();
    await expect(page.getByRole('img', { name: /^Screenshot \d of Dog whelk$/ })).toHaveCount(2);
  });

  test('becomes a new submission if the first one was withdrawn', async ({ page, site, expectConsoleError }) => {
    expectConsoleError(/404/);
    const second = await submitInFirstTab(page, 'Sundial shell', []);
    await dialog(page).getByRole('link', { name: 'See your launch' }).click();
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await dialog(page).getByRole('button', { name: 'Withdraw', exact: true }).click();
    await expect(page.getByText('You withdrew it, and it will not launch.')).toBeVisible();
    await sendButton(second).click();
    await expect(dialog(second).getByLabel('Your maker link')).toHaveValue(
      new RegExp(`^${site.address}/product/sundial-shell-2#maker=`),
    );
  });
});

test('a launch time is compared with the site’s clock, even if the browser’s clock is a day fast', async ({
  page,
  expectConsoleError,
}) => {
  for (const expected of [/422/, /404/]) expectConsoleError(expected);
  const hoursAhead = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  await page.clock.install({ time: hoursAhead(24) });
  await enterName(page, 'Moon snail');
  await dialog(page).getByLabel('At a time that I choose').check();
  const time = dialog(page).getByLabel('Launch time');
  await time.fill(hoursAhead(-2).slice(0, 16));
  await sendButton(page).click();
  await expect(time).toHaveAccessibleDescription(/Choose a launch time in the future/);
  await time.fill(hoursAhead(2).slice(0, 16));
  await expect(time).toHaveJSProperty('validity.valid', true);
  await sendButton(page).click();
  await expect(dialog(page).getByRole('heading', { name: 'Moon snail is on its way' })).toBeVisible();
  await dialog(page).getByRole('link', { name: 'See your launch' }).click();
  await expect(page.getByText('A person will review your submission.')).toContainText('Once approved, it launches on ');
});

test('a text that is corrected after a picture is refused, but not sent, appears in the edit dialog of the launch', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/404|415/);
  await enterName(page, 'Willowherb');
  const picture = await pictureFile('shell.png', '#0c5a68');
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles({ ...picture, name: 'lying.jpg', mimeType: 'image/jpeg' });
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  await sendButton(page).click();
  await expect(dialog(page).getByRole('alert')).toContainText('A picture was not accepted');
  await dialog(page).getByLabel('Description').fill('It has chambers.');
  await page.keyboard.press('Escape');
  await dialog(page).getByRole('link', { name: 'See your launch' }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog(page).getByText(/^Your draft is as you left it/)).toBeVisible();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('It has chambers.');
});

test.describe('with storage blocked', () => {
  test.beforeEach(({ page }) => blockStorage(page));
  const link = (page: Page) => dialog(page).getByLabel('Your maker link');

  test('the page does not claim that this browser stores the text or the maker link, whose key stays in the URL', async ({
    page,
    expectConsoleError,
  }) => {
    expectConsoleError(/404|503/);
    await failResponses(page, /\/api\/submissions$/, { method: 'POST', times: 1 });
    await enterName(page, 'Bivalve');
    await sendButton(page).click();
    await expect(dialog(page).getByRole('alert')).toHaveText(/^The site is busyTry again later\.$/);
    await sendButton(page).click();
    await expect(dialog(page).getByText('Scan the QR code')).toBeVisible();
    await expect(dialog(page).getByText('This browser remembers')).toHaveCount(0);
    const address = await link(page).inputValue();
    await page.goto(address);
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await expect(page).toHaveURL(address);
    await page.reload();
    await expect(page.getByText('Waiting for review')).toBeVisible();
  });

  for (const [when, url, method] of [
    ['the product', /\/api\/submissions$/, 'POST'],
    ['a picture', /\/image$/, 'PUT'],
  ] as const) {
    test(`closing the dialog while ${when} is being sent still shows the maker link`, async ({ page }) => {
      await enterName(page, 'Sainfoin');
      await dialog(page)
        .getByLabel('Choose a picture')
        .setInputFiles(await pictureFile('shell.png', '#0c5a68'));
      await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
      const held = await holdResponses(page, url, { method });
      await sendButton(page).click();
      await expect.poll(() => held.requests.length).toBe(1);
      await page.keyboard.press('Escape');
      if (method === 'POST') {
        await expect(dialog(page)).toHaveCount(0);
        held.release();
      }
      await expect(link(page)).toHaveValue(/\/product\/sainfoin(?:-\d+)?#maker=/);
      await page.keyboard.press('Escape');
      await expect(dialog(page)).toHaveCount(0);
    });
  }
});
