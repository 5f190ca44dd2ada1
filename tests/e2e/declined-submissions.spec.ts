import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { expect } from '../support/e2e-test.ts';
import { decide, openLink, pictureFile, submit, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

test('the maker reads why a submission was declined, changes it and submits it again', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  const made = await submit(site, { name: 'Barnacle' });
  await decide(site, 'decline', made.id, '--reason', 'Please say what it does.');
  await openLink(page, made);
  await expect(page.getByRole('blockquote')).toHaveText('Please say what it does.');
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await dialog(page).getByLabel('Description').fill('It holds on.');
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Waiting for review')).toBeVisible();
});

test('a declined submission can be submitted again unchanged, even if it was declined again in the meantime', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  expectConsoleError(/409/);
  const made = await submit(site, { name: 'Periwinkle' });
  await decide(site, 'decline', made.id, '--reason', 'Not yet.');
  await openLink(page, made);
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await decide(site, 'undo', made.id);
  await decide(site, 'decline', made.id, '--reason', 'Not this year.');
  const save = dialog(page).getByRole('button', { name: 'Save changes' });
  await save.click();
  await expect(dialog(page).getByRole('alert')).toContainText(/^Declined.*Not this year\.$/);
  await save.click();
  await expect(page.getByText('Waiting for review')).toBeVisible();
  await expect(page.getByText('No further review is needed.')).toHaveCount(0);
});

test('saving a launch time does not resubmit a submission that was declined in the meantime, and shows the reason', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  expectConsoleError(/409/);
  const made = await submit(site, { name: 'Dosinia' });
  await openLink(page, made);
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await dialog(page).getByLabel('At a time that I choose').check();
  await decide(site, 'decline', made.id, '--reason', 'Not yet.');
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.getByRole('blockquote')).toHaveText('Not yet.');
  await expect(page.getByRole('heading', { level: 1, name: 'Dosinia' })).toBeFocused();
});

test('a picture that arrives after a decline does not undo the decline, and is stored once the maker sends the form again', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/404/);
  expectConsoleError(/409/);
  const made = await submit(site, { name: 'Murex' });
  await openLink(page, made);
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page)
    .getByLabel('Add screenshots')
    .setInputFiles(await pictureFile('shell.png', '#0c5a68'));
  await expect(dialog(page).getByRole('img', { name: 'Your screenshot 1' })).toBeVisible();
  await page.route(
    /\/screenshots$/,
    async (route) => {
      await decide(site, 'decline', made.id, '--reason', 'Not yet.');
      await route.continue();
    },
    { times: 1 },
  );
  const save = dialog(page).getByRole('button', { name: 'Save changes' });
  await save.click();
  await expect(dialog(page).getByRole('alert')).toContainText(/^Declined.*Not yet\.$/);
  const address = site.address + submissionPaths.submission(made.id);
  const stored = await fetch(address, { headers: { Authorization: `Bearer ${made.key}` } });
  expect(await stored.json()).toMatchObject({ submission: { status: 'declined', reason: 'Not yet.' } });
  await save.click();
  await expect(page.getByText('Waiting for review')).toBeVisible();
  await expect(page.getByRole('img', { name: 'Screenshot 1 of Murex' })).toBeVisible();
});

test('closing the submission dialog after a decline during the upload shows the reason and the maker link', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/409/);
  await page.goto(paths.submit);
  await dialog(page).getByLabel('Name', { exact: true }).fill('Charonia');
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await pictureFile('shell.png', '#0c5a68'));
  await expect(dialog(page).getByRole('img', { name: 'Your picture' })).toBeVisible();
  await page.route(/\/image$/, async (route) => {
    await decide(site, 'decline', 'charonia', '--reason', 'Not yet.');
    await route.continue();
  });
  await dialog(page).getByRole('button', { name: 'Submit for review' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('Not yet.');
  await page.keyboard.press('Escape');
  await expect(dialog(page).getByLabel('Your maker link')).toHaveValue(/\/product\/charonia#maker=/);
  await expect(dialog(page).getByRole('blockquote')).toHaveText('Not yet.');
  await expect(dialog(page).getByText(/is on its way|A person reviews it/)).toHaveCount(0);
});

test('the maker reads why a submission was declined even if another product has its id', async ({ page, site }) => {
  const made = await submit(site, { name: 'Cowrie' });
  await decide(site, 'decline', made.id, '--reason', 'It is already listed.');
  await site.addProduct({ id: made.id, name: 'Sea snail' });
  await page.goto(made.link);
  await expect(page.getByRole('heading', { level: 1, name: 'Sea snail' })).toBeVisible();
  await expect(page.getByRole('blockquote')).toHaveText('It is already listed.');
  await expect(page.getByRole('button', { name: 'Edit and send again' })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
  await expect(page).toHaveTitle(/^Sea snail/);
});
