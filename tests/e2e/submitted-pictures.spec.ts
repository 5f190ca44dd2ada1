import type { Page } from '@playwright/test';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { expect } from '../support/e2e-test.ts';
import { failResponses, holdResponses } from '../support/network.ts';
import { failureToast, toast } from '../support/screen.ts';
import {
  closeWhileSending,
  dayAhead,
  dialog,
  noiseFile,
  openDialog,
  pictureFile,
  sendButton,
  submit,
  submissionTest as test,
} from '../support/submission-site.ts';

const name = (page: Page) => dialog(page).getByLabel('Name', { exact: true });

async function choosePicture(page: Page): Promise<void> {
  const file = await pictureFile('mark.png', '#c2410c');
  await dialog(page).getByLabel('Choose a picture').setInputFiles(file);
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
}

const NOT_A_PICTURE = 'notes.txt is not a PNG, JPEG, WebP, AVIF or GIF picture.';
const PICTURE = { name: 'shell.png', background: '#0c5a68' };

test('the remaining pictures are sent after the server refuses one', async ({ page, expectConsoleError }) => {
  expectConsoleError(/415/);
  await openDialog(page);
  await name(page).fill('Shell');
  await page.reload();
  await openDialog(page);
  const startOver = dialog(page).getByRole('button', { name: 'Start over' });
  await expect(startOver).toBeVisible();
  const picture = await pictureFile(PICTURE.name, PICTURE.background);
  // The form accepts this picture, because browsers decode it by its bytes. The site refuses it, because its media type
  // is wrong.
  const lying = { ...picture, name: 'lying.jpg', mimeType: 'image/jpeg' };
  await dialog(page).getByLabel('Add screenshots').setInputFiles([lying, picture]);
  await expect(dialog(page).getByRole('img', { name: 'Your screenshot 2' })).toBeVisible();
  await sendButton(page).click();
  await expect(dialog(page).getByRole('alert')).toContainText('A picture was not accepted');
  await expect(startOver, 'it would change the created submission').toBeHidden();
  await expect(dialog(page).locator('.submission-picture-name')).toHaveText(['lying.jpg', 'On the site']);
  await dialog(page).getByRole('button', { name: 'Remove screenshot 1' }).click();
  await expect(dialog(page).getByLabel('Add screenshots')).toBeFocused();
  await sendButton(page).click();
  await expect(dialog(page).getByRole('heading', { name: 'Shell is on its way' })).toBeVisible();
  await dialog(page).getByRole('link', { name: 'See your launch' }).click();
  await expect(page.getByRole('img', { name: 'Screenshot 1 of Shell' })).toBeVisible();
  await expect(page.getByRole('img', { name: 'Screenshot 2 of Shell' })).toHaveCount(0);
  expectConsoleError(/404/);
});

test('screen readers are told which picture was removed, each time', async ({ page }) => {
  await openDialog(page);
  await choosePicture(page);
  const files = await Promise.all(['one.png', 'two.png'].map((file) => pictureFile(file, '#075e68')));
  await dialog(page).getByLabel('Add screenshots').setInputFiles(files);
  await expect(dialog(page).getByRole('img', { name: 'Your screenshot 2' })).toBeVisible();
  const status = (text: string) => dialog(page).getByRole('status').filter({ hasText: text });
  const textOf = async (text: string) => (await status(text).textContent()) ?? '';
  await dialog(page).getByRole('button', { name: 'Remove picture' }).click();
  await expect(status('Removed picture')).toHaveCount(1);
  const remove = dialog(page).getByRole('button', { name: 'Remove screenshot 1' });
  await remove.click();
  const first = await textOf('Removed screenshot 1');
  await remove.click();
  await expect(remove).toHaveCount(0);
  expect(await textOf('Removed screenshot 1')).not.toBe(first);
});

test('closing the submission dialog after a picture is refused shows the maker link first', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/415/);
  await openDialog(page);
  await name(page).fill('Conch');
  const picture = await pictureFile(PICTURE.name, PICTURE.background);
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles({ ...picture, name: 'lying.jpg', mimeType: 'image/jpeg' });
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  // Closes the dialog as soon as the refusal is in the document.
  await dialog(page).evaluate((element) => {
    new MutationObserver((_, observer) => {
      if (!element.textContent?.includes('A picture was not accepted')) return;
      observer.disconnect();
      (element as HTMLDialogElement).close();
    }).observe(element, { childList: true, subtree: true });
  });
  await sendButton(page).click();
  await expect(dialog(page).getByRole('heading', { name: 'Conch is on its way' })).toBeVisible();
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/conch#maker=/);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
});

test('pictures can be dropped, and pasted unless they come with formatted text, and a message names files of other types', async ({
  page,
}) => {
  await openDialog(page);
  const { buffer } = await pictureFile(PICTURE.name, PICTURE.background);
  const transfer = (name: string, type: string, text = '') =>
    page.evaluateHandle(
      ({ bytes, name, type, text }) => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(bytes)], name, { type }));
        if (text) data.setData(text, 'Shell');
        return data;
      },
      { bytes: [...buffer], name, type, text },
    );
  const paste = async (clipboardData: ReturnType<typeof transfer>) =>
    name(page).evaluate(
      (element, data) =>
        element.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })),
      await clipboardData,
    );
  const zone = dialog(page).getByRole('group', { name: /^Screenshots/ });
  await zone.dispatchEvent('drop', { dataTransfer: await transfer('dropped.png', 'image/png') });
  await expect(dialog(page).getByRole('img', { name: 'Your screenshot 1' })).toBeVisible();
  expect(await paste(transfer('copied.png', 'image/png', 'text/html')), 'the browser pastes the text').toBe(true);
  expect(await paste(transfer('pasted.png', 'image/png', 'text/plain'))).toBe(false);
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  await zone.dispatchEvent('drop', { dataTransfer: await transfer('notes.txt', 'text/plain') });
  await expect(dialog(page).locator('.submission-error')).toHaveText(NOT_A_PICTURE);
  await zone.dispatchEvent('drop', { dataTransfer: await transfer('broken.gif', 'image/gif') });
  await expect(dialog(page).locator('.submission-picture')).toHaveCount(4);
  // Without a handler, a browser would replace the page with a file dropped outside both drop zones.
  await name(page).dispatchEvent('drop', { dataTransfer: await transfer('beside.png', 'image/png') });
  await expect(dialog(page).locator('.submission-picture')).toHaveCount(5);
});

test('screen readers announce each added picture and each rejected file, and an error describes the field', async ({
  page,
}) => {
  await openDialog(page);
  const field = dialog(page).getByLabel('Add screenshots');
  const said = (text: string) => dialog(page).getByRole('status').filter({ hasText: text });
  await field.setInputFiles(await pictureFile(PICTURE.name, PICTURE.background));
  await expect(said('Added shell.png')).toBeAttached();
  await field.setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') });
  await expect(said(NOT_A_PICTURE)).toHaveText(NOT_A_PICTURE);
  await expect(field).toHaveAccessibleDescription(new RegExp(`${NOT_A_PICTURE}$`));
});

test('a picture shows its upload progress, also in forced colours', async ({ page, context }) => {
  await openDialog(page);
  await name(page).fill('Nacre');
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await noiseFile('pearl.png'));
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  const browser = await context.newCDPSession(page);
  const limits = { offline: false, latency: 0, downloadThroughput: -1 };
  const throttle = (uploadThroughput: number) =>
    browser.send('Network.emulateNetworkConditions', { ...limits, uploadThroughput });
  await throttle(30_000);
  await sendButton(page).click();
  const sent = dialog(page).getByRole('progressbar', { name: 'Sending picture' });
  await expect(dialog(page).getByText('Sending picture 1 of 1')).toBeVisible();
  const share = () => sent.evaluate((element: HTMLProgressElement) => element.value);
  await expect.poll(share).toBeGreaterThan(0);
  const before = await share();
  expect(before).toBeLessThan(1);
  await expect.poll(share).toBeGreaterThan(before);
  await expect(dialog(page).getByRole('progressbar', { name: 'Pictures sent' })).toBeVisible();
  await page.emulateMedia({ forcedColors: 'active' });
  await expect(sent).toHaveCSS('border-top-width', '1px');
  await throttle(-1);
  await expect(dialog(page).getByRole('heading', { name: 'Nacre is on its way' })).toBeVisible();
});

test('closing the submission dialog during an upload shows the maker link, and a message appears when the upload ends', async ({
  page,
  expectConsoleError,
}) => {
  // The page requests the product before its launch.
  expectConsoleError(/404/);
  await openDialog(page);
  await name(page).fill('Byssus');
  await choosePicture(page);
  const held = await holdResponses(page, /\/image$/, { method: 'PUT' });
  await sendButton(page).click();
  await expect(dialog(page).getByText('Sending picture 1 of 1')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/byssus#maker=/);
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  held.release();
  await toast(page).getByRole('button', { name: 'See your launch' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Byssus' })).toBeVisible();
});

test('a reload during an upload shows the maker link', async ({ page }) => {
  await openDialog(page);
  await name(page).fill('Pen shell');
  await choosePicture(page);
  const held = await holdResponses(page, /\/image$/, { method: 'PUT' });
  await sendButton(page).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.reload();
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/pen-shell#maker=/);
  await page.reload();
  await expect(name(page)).toHaveValue('');
});

test('if an upload fails after the submission dialog was closed, a message links to the launch', async ({
  page,
  expectConsoleError,
}) => {
  expectConsoleError(/404|503/);
  await openDialog(page);
  await name(page).fill('Hydrozoan');
  await choosePicture(page);
  await failResponses(page, /\/image$/, { method: 'PUT' });
  const held = await closeWhileSending(page);
  held.release();
  await expect(failureToast(page).locator('.toast-title')).toHaveText('The site is busy');
  await failureToast(page).getByRole('button', { name: 'See your launch' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Hydrozoan' })).toBeVisible();
});

test('the site stores the text that the fields show, even if the maker types while the form is being sent', async ({
  page,
}) => {
  await openDialog(page);
  await name(page).fill('Bryozoan');
  await choosePicture(page);
  const description = dialog(page).locator('textarea');
  await description.fill('First');
  const held = await holdResponses(page, /\/image$/, { method: 'PUT' });
  await name(page).press('Enter');
  await expect(dialog(page).getByText('Sending picture 1 of 1')).toBeVisible();
  await expect(dialog(page).getByRole('button', { name: 'Sending...' })).toBeFocused();
  await description.focus();
  await page.keyboard.type('Second');
  const shown = await description.inputValue();
  const stored = page.waitForResponse(/\/image$/);
  held.release();
  const { submission } = await (await stored).json();
  await expect(dialog(page).getByRole('heading', { name: 'Bryozoan is on its way' })).toBeVisible();
  expect(submission.product.description).toBe(shown);
});

test('a form that stays open after a failed upload keeps the changes that another tab made during the uploads', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404|503/);
  const made = await submit(site, { name: 'Cuttle', description: 'Old' });
  const address = site.address + submissionPaths.submission(made.id);
  const asMaker = async (method: string, path: string, type: string, body: BodyInit) => {
    const headers = { Authorization: `Bearer ${made.key}`, 'Content-Type': type };
    expect((await fetch(address + path, { method, headers, body })).ok).toBe(true);
  };
  const launchAt = `${dayAhead(120)}T10:00:00.000Z`;
  const theirs = await pictureFile('theirs.png', '#c2410c');
  await page.route(/\/image$/, async (route) => {
    await asMaker('PATCH', '', 'application/json', JSON.stringify({ description: 'New', launchAt }));
    await asMaker('POST', '/screenshots', 'image/png', new Blob([new Uint8Array(theirs.buffer)]));
    await route.continue();
  });
  await failResponses(page, /\/screenshots$/, { method: 'POST', times: 1 });
  await page.goto(made.link);
  await page.getByRole('button', { name: 'Edit' }).click();
  const form = dialog(page);
  await form.getByLabel('Choose a picture').setInputFiles(await pictureFile('image.png', '#075e68'));
  await form.getByLabel('Add screenshots').setInputFiles(await pictureFile(PICTURE.name, PICTURE.background));
  await expect(form.getByRole('img', { name: 'Your screenshot 1' })).toBeVisible();
  const save = form.getByRole('button', { name: 'Save changes' });
  await save.click();
  await expect(form.getByRole('alert')).toContainText('The site is busy');
  await expect(form.getByLabel('Description')).toHaveValue('New');
  await expect(form.getByLabel('Launch time')).toHaveValue(launchAt.slice(0, 16));
  await save.click();
  await expect(form).toHaveCount(0);
  await expect(page.getByText('New', { exact: true }).first()).toBeVisible();
  await expect(page.getByRole('img', { name: 'Screenshot 2 of Cuttle' })).toBeVisible();
});
