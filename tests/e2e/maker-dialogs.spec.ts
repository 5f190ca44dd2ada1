import type { Page } from '@playwright/test';
import { expect } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { dayAhead, decide, openLink, pictureFile, submit, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

// A product is not visible before its approval.
test.beforeEach(({ expectConsoleError }) => expectConsoleError(/404/));

test('a maker’s edit dialog stays open if a selection is dragged out of it, and closes on a click outside', async ({
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

test('changes in an edit dialog closed without saving reappear until the maker starts over or saves them', async ({
  page,
  site,
}) => {
  const day = dayAhead(120);
  const made = await submit(site, { name: 'Nerite', description: 'Old', launchAt: `${day}T10:00:00.000Z` });
  await openLink(page, made);
  const [description, time] = [dialog(page).getByLabel('Description'), dialog(page).getByLabel('Launch time')];
  const note = dialog(page).getByText(/^Your draft is as you left it/);
  const edit = () => page.getByRole('button', { name: 'Edit' }).click();
  const leave = async () => {
    await page.keyboard.press('Escape');
    await expect(dialog(page)).toHaveCount(0);
  };
  await edit();
  await description.fill('Grazes.');
  await time.fill(`${day}T12:00`);
  await leave();
  await edit();
  await expect(note).toBeVisible();
  await expect(description).toHaveValue('Grazes.');
  await expect(time).toHaveValue(`${day}T12:00`);
  await dialog(page).getByRole('button', { name: 'Start over' }).click();
  await expect(dialog(page).getByLabel('Name', { exact: true })).toBeFocused();
  await expect(description).toHaveValue('Old');
  await expect(time).toHaveValue(`${day}T10:00`);
  await leave();
  await edit();
  await expect(description).toHaveValue('Old');
  await expect(note).toHaveCount(0);

  await description.fill('Grazes at night.');
  await leave();
  await edit();
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Grazes at night.')).toHaveCount(2);
  await edit();
  await expect(description).toHaveValue('Grazes at night.');
  await expect(note).toHaveCount(0);
});

test('a change is completed after its dialog was closed, and leaves the next dialog open', async ({ page, site }) => {
  const made = await submit(site, { name: 'Chiton' });
  await openLink(page, made);
  const held = await holdResponses(page, /\/api\/submissions\//, { method: 'PATCH' });
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect.poll(() => held.requests.length).toBe(1);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Grazes.');
  held.release();
  await expect(page.getByText('The launch time has changed.')).toBeVisible();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Grazes.');
});

test('unsaved changes of a closed edit dialog are based on a launch time that the maker has changed since', async ({
  page,
  site,
}) => {
  const day = dayAhead(120);
  const made = await submit(site, { name: 'Periwinkle', launchAt: `${day}T10:00:00.000Z` });
  await openLink(page, made);
  const time = dialog(page).getByLabel('Launch time');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Grazes on rocks.');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Reschedule' }).click();
  await time.fill(`${day}T12:00`);
  await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
  await expect(page.getByText('The launch time has changed.')).toBeVisible();
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
  const made = await submit(site, { name: 'Cowrie' });
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
  await expect(page.getByText('Changes saved')).toBeVisible();
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
  await expect(page.getByText('Changes saved')).toBeVisible();
  await edit();
  await expect(description).toHaveValue('Sounds like a horn.');
  await expect(dialog(page).getByText(/^Your draft is as you left it/)).toBeVisible();
});

test('the dialogs of an approved launch say that it launches now, unless a change requires another review', async ({
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
  await expect(page.getByText('The launch time has changed.')).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Your launch', exact: true })).toBeVisible();
});
