import type { Page } from '@playwright/test';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { expect } from '../support/e2e-test.ts';
import { toast } from '../support/screen.ts';
import { dayAhead, decide, openLink, pictureFile, submit, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

// A product is not visible before its approval.
test.beforeEach(({ expectConsoleError }) => expectConsoleError(/404|net::ERR_FAILED/));

test('an edit that was saved, but whose response was lost, no longer counts as unsaved after a reload', async ({
  page,
  site,
}) => {
  const made = await submit(site, { name: 'Limpkin', description: 'Old' });
  await openLink(page, made);
  const note = dialog(page).getByText(/^Your draft is as you left it/);
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page).getByLabel('Description').fill('Wades.');
  await page.route(/\/api\/submissions\/[^/]+$/, async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page).getByRole('alert')).toContainText('The site cannot be reached');
  await page.reload();
  await expect(page.getByText('Wades.').first()).toBeVisible();
  await expect.poll(() => page.evaluate(() => localStorage.getItem('submission_edits'))).toBeNull();
  await page.getByRole('button', { name: 'Edit' }).click();
  await expect(dialog(page).getByLabel('Description')).toHaveValue('Wades.');
  await expect(note).toHaveCount(0);
});

test('unsaved changes in an edit dialog reappear after it was closed and after a reload, until the maker starts over or saves them', async ({
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
  await dialog(page).getByLabel('Tags').first().fill('sea');
  await page.reload();
  await edit();
  await expect(note).toBeVisible();
  await expect(description).toHaveValue('Grazes at night.');
  await expect(dialog(page).getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText(['sea']);
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Grazes at night.')).toHaveCount(2);
  for (const openAgain of [edit, () => page.reload().then(edit)]) {
    await openAgain();
    await expect(description).toHaveValue('Grazes at night.');
    await expect(note).toHaveCount(0);
  }
});

test('a message says that the launch time has changed only if the maker has changed it', async ({
  page,
  site,
  pauseClock,
}) => {
  const day = dayAhead(120);
  await openLink(page, await submit(site, { name: 'Turritella', launchAt: `${day}T10:00:00.000Z` }));
  // Messages disappear after a time.
  await pauseClock();
  for (const time of [`${day}T10:00`, `${day}T12:00`]) {
    await page.getByRole('button', { name: 'Reschedule' }).click();
    await dialog(page).getByLabel('Launch time').fill(time);
    await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
    await expect(dialog(page)).toHaveCount(0);
  }
  await expect(toast(page)).toHaveText([/The launch time has changed\.$/]);
});

test('if an approved launch is moved to a time that has passed, nothing is saved, not even a new picture', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/422/);
  const launchAt = `${dayAhead(120)}T10:00:00.000Z`;
  const made = await submit(site, { name: 'Cerith', launchAt });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog(page)
    .getByLabel('Choose a picture')
    .setInputFiles(await pictureFile('cerith.png', '#7d3c98'));
  await dialog(page)
    .getByLabel('Launch time')
    .fill(`${dayAhead(-1)}T10:00`);
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog(page).getByText('Choose a launch time in the future.')).toBeVisible();
  const response = await page.request.get(submissionPaths.submission(made.id), {
    headers: { Authorization: `Bearer ${made.key}` },
  });
  const { image } = made.submission.product;
  expect((await response.json()).submission).toMatchObject({ status: 'scheduled', launchAt, product: { image } });
});
