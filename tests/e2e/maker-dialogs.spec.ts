import type { Page } from '@playwright/test';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { expect } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { waitUntilHandled } from '../support/page-clock.ts';
import { closeDialogLate, failureToast, toast } from '../support/screen.ts';
import { dayAhead, decide, openLink, pictureFile, submit, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

// The page requests the product, which does not exist before its approval.
test.beforeEach(({ expectConsoleError }) => expectConsoleError(/404/));

test('a maker’s edit dialog stays open if a text selection is dragged out of it, and closes on a click outside', async ({
  page,
  site,
}) => {
  const made = await submit(site, { name: 'Limpet' });
  await openLink(page, made);
  await page.getByRole('button', { name: 'Edit' }).click();
  const description = dialog(page).getByLabel('Description');
  await description.fill('Clings to rocks.');
  await description.hover();
  await page.mouse.down();
  await page.mouse.move(2, 2);
  await page.mouse.up();
  await expect(description).toHaveValue('Clings to rocks.');
  await page.mouse.click(2, 2);
  await expect(dialog(page)).toHaveCount(0);
});

test('a maker can open a dialog again before the browser has reported that it was closed', async ({ page, site }) => {
  await openLink(page, await submit(site, { name: 'Cyclamen' }));
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog(page)).toBeVisible();
  const reportClose = await closeDialogLate(page);
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog(page)).toBeVisible();
  await reportClose();
  await expect(dialog(page)).toBeVisible();
});

test('changes in an edit dialog reappear after the maker has navigated away from it', async ({ page, site }) => {
  await openLink(page, await submit(site, { name: 'Wentletrap' }));
  await page.getByRole('link', { name: 'Groundswell, home' }).click();
  await page.goBack();
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Looks like a staircase.');
  await page.goForward();
  await expect(dialog(page)).toHaveCount(0);
  await page.goBack();
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Looks like a staircase.');
});

test('a change is completed after its dialog was closed, and leaves the next dialog open', async ({ page, site }) => {
  const made = await submit(site, { name: 'Chiton' });
  await openLink(page, made);
  const held = await holdResponses(page, /\/api\/submissions\//, { method: 'PATCH' });
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await dialog(page).getByLabel('At a time that I choose').check();
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Grazes.');
  held.release();
  await expect(page.getByText('The launch time has changed.')).toBeVisible();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Grazes.');
});

for (const [action, button, status, title] of [
  ['Reschedule', 'Save launch time', 422, 'This was rejected'],
  ['Reschedule', 'Save launch time', 409, 'The submission has changed'],
  ['Withdraw', 'Withdraw', 503, 'The site is busy'],
] as const) {
  test(`a message reports that ‘${action}’ failed with ${status} after its dialog was closed`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(new RegExp(`${status}`));
    await openLink(page, await submit(site, { name: 'Slipper shell' }));
    await page.route(/\/api\/submissions\//, async (route) => {
      if (route.request().method() === 'GET') return route.fallback();
      await page.keyboard.press('Escape');
      await expect(dialog(page)).toHaveCount(0);
      const errors = status === 422 ? [{ field: 'launchAt', detail: 'The time has passed' }] : [];
      await route.fulfill({ status, json: { code: status === 409 ? 'submission_changed' : 'failed', errors } });
    });
    await page.getByRole('button', { name: action }).click();
    if (action === 'Reschedule') await dialog(page).getByLabel('At a time that I choose').check();
    await dialog(page).getByRole('button', { name: button, exact: true }).click();
    await expect(failureToast(page).locator('.toast-title')).toHaveText(title);
  });
}

test('a reopened edit dialog has its unsaved changes and the launch time that the maker has saved in the meantime', async ({
  page,
  site,
}) => {
  const day = dayAhead(120);
  const made = await submit(site, { name: 'Bistort', launchAt: `${day}T10:00:00.000Z` });
  await openLink(page, made);
  const time = dialog(page).getByLabel('Launch time');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Grazes on rocks.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await time.fill(`${day}T12:00`);
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(time).toHaveValue(`${day}T12:00`);
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Grazes on rocks.');
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Grazes on rocks.')).toHaveCount(2);
});

test('changes that were saved while a second edit dialog was open do not reappear as unsaved', async ({
  page,
  site,
}) => {
  const made = await submit(site, { name: 'Vetch' });
  await openLink(page, made);
  const held = await holdResponses(page, /\/api\/submissions\//, { method: 'PATCH' });
  const edit = () => page.getByRole('button', { name: 'Edit' }).click();
  await edit();
  await dialog(page).getByLabel('Description').fill('Shines.');
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.keyboard.press('Escape');
  await edit();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Shines.');
  held.release();
  await expect(toast(page)).toContainText('Changes savedA person will review your submission.');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  await edit();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Shines.');
  await expect(dialog(page).getByText(/^Your draft is as you left it/)).toHaveCount(0);
});

test('the response to an earlier save does not delete the changes of a second edit dialog', async ({ page, site }) => {
  const made = await submit(site, { name: 'Triton' });
  await openLink(page, made);
  const held = await holdResponses(page, /\/image$/, { method: 'PUT' });
  const edit = () => page.getByRole('button', { name: 'Edit' }).click();
  const description = dialog(page).getByLabel('Description');
  await edit();
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await pictureFile('shell.png', '#0c5a68'));
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.keyboard.press('Escape');
  await edit();
  await description.fill('Sounds like a horn.');
  await page.keyboard.press('Escape');
  await expect(dialog(page)).toHaveCount(0);
  held.release();
  await waitUntilHandled(page, held.requests[0]);
  await edit();
  await expect(dialog(page).getByText('On the site')).toBeVisible();
  await expect(description).toHaveValue('Sounds like a horn.');
  await expect(dialog(page).getByText(/^Your draft is as you left it/)).toBeVisible();
});

test('the dialogs of an approved launch offer ‘Now’, unless a change requires another review', async ({
  page,
  site,
}) => {
  const made = await submit(site, { name: 'Abalone', launchAt: `${dayAhead(120)}T10:00:00.000Z` });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  const now = dialog(page).getByLabel('Now', { exact: true });
  const later = dialog(page).getByLabel('As soon as it is approved');
  await page.getByRole('button', { name: 'Edit' }).click();
  await now.check();
  await dialog(page).getByLabel('Description').fill('Grazes.');
  await expect(later).toBeChecked();
  await dialog(page).getByLabel('Description').fill('');
  await expect(now).toBeChecked();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await now.check();
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect(page.getByRole('heading', { name: 'Your launch', exact: true })).toBeVisible();
});

test('an approved launch does not go live before its new picture is reviewed, whatever launch time is saved with it', async ({
  page,
  site,
}) => {
  const made = await submit(site, { name: 'Celandine', launchAt: `${dayAhead(120)}T10:00:00.000Z` });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET' && request.url().includes('/api/submissions/')) changes.push(request.method());
  });
  await page.getByRole('button', { name: 'Edit' }).click();
  const picture = await pictureFile('celandine.png', '#7d3c98');
  await dialog(page).getByLabel('Choose a picture').setInputFiles(picture);
  await dialog(page).getByLabel('As soon as it is approved').check();
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect(changes).toEqual(['PATCH', 'PUT', 'PATCH']);
  const response = await page.request.get(submissionPaths.submission(made.id), {
    headers: { Authorization: `Bearer ${made.key}` },
  });
  expect((await response.json()).submission).toMatchObject({ status: 'waiting', launchAt: null });
});

test('a later launch time of an approved launch is saved before its new picture is sent', async ({ page, site }) => {
  const later = dayAhead(121);
  const made = await submit(site, { name: 'Tulip shell', launchAt: `${dayAhead(120)}T10:00:00.000Z` });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  const changes: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET' || !request.url().includes('/api/submissions/')) return;
    changes.push(`${request.method()} ${request.method() === 'PATCH' ? request.postDataJSON().launchAt : ''}`);
  });
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await pictureFile('tulip.png', '#7d3c98'));
  await dialog(page).getByLabel('Launch time').fill(`${later}T10:00`);
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page)).toHaveCount(0);
  expect(changes).toEqual([`PATCH ${later}T10:00:00.000Z`, 'PUT ']);
});

test('a refused picture of an approved launch leaves its launch time unchanged', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/422/);
  const launchAt = `${dayAhead(120)}T10:00:00.000Z`;
  const made = await submit(site, { name: 'Whelk', launchAt });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  await page.getByRole('button', { name: 'Edit' }).click();
  const chosen = dialog(page).getByLabel('Choose a picture');
  await chosen.setInputFiles(await pictureFile('whelk.png', '#7d3c98'));
  await page.route(/\/image$/, (route) => route.fulfill({ status: 422, json: { code: 'picture_invalid' } }));
  await dialog(page).getByLabel('As soon as it is approved').check();
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Remove this file or choose another one.');
  const response = await page.request.get(submissionPaths.submission(made.id), {
    headers: { Authorization: `Bearer ${made.key}` },
  });
  expect((await response.json()).submission).toMatchObject({ status: 'scheduled', launchAt });
});

test('removing a newly chosen picture restores the stored one', async ({ page, site }) => {
  const made = await submit(site, { name: 'Tellin' });
  await openLink(page, made);
  const edit = () => page.getByRole('button', { name: 'Edit' }).click();
  await edit();
  const stored = await pictureFile('stored.png', '#0c5a68');
  await dialog(page).getByLabel('Choose a picture').setInputFiles(stored);
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await edit();
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Notes') };
  await dialog(page).getByLabel('Choose another').setInputFiles(notes);
  await expect(dialog(page).getByText('On the site')).toHaveCount(0);
  await dialog(page).getByRole('button', { name: 'Remove picture' }).click();
  await expect(dialog(page).getByText('On the site')).toBeVisible();
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page)).toHaveCount(0);
});

test('of several files dropped on the picture, the first is the picture, and the others are screenshots', async ({
  page,
  site,
}) => {
  await openLink(page, await submit(site, { name: 'Auger' }));
  await page.getByRole('button', { name: 'Edit' }).click();
  const { buffer } = await pictureFile('auger.png', '#0c5a68');
  const dataTransfer = await page.evaluateHandle(
    (bytes) => {
      const data = new DataTransfer();
      for (const file of ['one.png', 'two.png', 'three.png'])
        data.items.add(new File([new Uint8Array(bytes)], file, { type: 'image/png' }));
      return data;
    },
    [...buffer],
  );
  await dialog(page)
    .getByRole('group', { name: /^Picture/ })
    .dispatchEvent('drop', { dataTransfer });
  await expect(dialog(page).locator('.submission-picture-name')).toHaveText(['one.png', 'two.png', 'three.png']);
  await expect(dialog(page).getByRole('img', { name: /^Your screenshot/ })).toHaveCount(2);
});
