import type { Page } from '@playwright/test';
import { expect } from '../support/e2e-test.ts';
import { openLink, submit, submissionTest as test } from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

// A product is not visible before its approval.
test.beforeEach(({ expectConsoleError }) => expectConsoleError(/404/));

test('the text and the note of an unsaved edit are there after a reload, until the maker saves it', async ({
  page,
  site,
}) => {
  await openLink(page, await submit(site, { name: 'Cowry', description: 'Old' }));
  const [description, tags] = [dialog(page).getByLabel('Description'), dialog(page).getByLabel('Tags').first()];
  const note = dialog(page).getByText(/^Your draft is as you left it/);
  const edit = () => page.getByRole('button', { name: 'Edit' }).click();
  await edit();
  await description.fill('Shines.');
  await tags.fill('sea');
  await page.reload();
  await edit();
  await expect(note).toBeVisible();
  await expect(description).toHaveValue('Shines.');
  await expect(dialog(page).getByRole('list', { name: 'Tags' }).getByRole('listitem')).toHaveText(['sea']);
  await dialog(page).getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByText('Shines.')).toHaveCount(2);
  await page.reload();
  await edit();
  await expect(description).toHaveValue('Shines.');
  await expect(note).toHaveCount(0);
});
