import type { Page } from '@playwright/test';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import type { SubmissionResponse } from '../../src/contract/submissions/schema.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { renewMakerKey } from '../../src/core/submissions/change-submission.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { waitUntilHandled } from '../support/page-clock.ts';
import {
  dayAhead,
  decide,
  longDate,
  openLink,
  pictureFile,
  type Submitted,
  submit,
  submissionTest as test,
} from '../support/submission-site.ts';

const dialog = (page: Page) => page.getByRole('dialog');

test.describe('the maker link', () => {
  /** Reads the product as its maker sees it. */
  async function readProduct(site: E2eSite, { id, key }: Submitted) {
    const headers = { Authorization: `Bearer ${key}` };
    const response = await fetch(site.address + submissionPaths.submission(id), { headers });
    return ((await response.json()) as SubmissionResponse).submission.product;
  }

  test.beforeEach(({ expectConsoleError }) => expectConsoleError(/404/));

  test('has a key that is removed from the URL immediately, stored in this browser, and sent only in the header', async ({
    page,
    site,
  }) => {
    const made = await submit(site, { name: 'Cockle' });
    const requests: { url: string; authorization: string | undefined }[] = [];
    page.on('request', (request) =>
      requests.push({ url: request.url(), authorization: request.headers().authorization }),
    );
    await openLink(page, made);
    await expect(page).toHaveURL(`${site.address}/product/${made.id}`);
    await page.reload();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    expect(requests.filter(({ url }) => url.includes(made.key))).toEqual([]);
    const withKey = requests.filter(({ authorization }) => authorization !== undefined);
    expect(new Set(withKey.map(({ url }) => url))).toEqual(new Set([`${site.address}/api/submissions/${made.id}`]));
    await page.goto('/');
    await expect(page).not.toHaveURL(/maker/);
  });

  test('shows an error for an invalid key, which does not replace a stored valid key', async ({ page, site }) => {
    const made = await submit(site, { name: 'Valerian' });
    await openLink(page, made);
    await page.goto(`/product/${made.id}?again#maker=${'x'.repeat(43)}`);
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await expect(page).toHaveURL(`/product/${made.id}?again`);
    const other = await submit(site, { name: 'Hellebore' });
    await page.goto(`/product/${other.id}#maker=${'x'.repeat(43)}`);
    await expect(page.getByRole('alert').filter({ hasText: 'This maker link no longer works.' })).toBeVisible();
    await expect(page.getByText('Product not found', { exact: true })).toBeVisible();
  });

  test('has a key that stays in the URL until the server accepts it, if an earlier key is stored', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/ERR_FAILED/);
    const made = await submit(site, { name: 'Ormer' });
    await openLink(page, made);
    const renewed = await renewMakerKey(site.database, made.id);
    const address = `**/api/submissions/${made.id}`;
    await page.route(address, (route) => route.abort());
    await page.goto(`/product/${made.id}?renewed#maker=${renewed}`);
    await expect(page.getByText('The site cannot be reached')).toBeVisible();
    await page.unroute(address);
    await page.reload();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await expect(page).toHaveURL(`/product/${made.id}?renewed`);
  });

  test('works with a valid key even after an unrelated 404', async ({ page, site }) => {
    const made = await submit(site, { name: 'Burdock' });
    await openLink(page, made);
    const address = `**/api/submissions/${made.id}`;
    await page.route(address, (route) => route.fulfill({ status: 404, json: { code: 'not_found' } }));
    await page.reload();
    await expect(page.getByText('This was rejected')).toBeVisible();
    await page.unroute(address);
    await page.reload();
    await expect(page.getByText('Waiting for review')).toBeVisible();
  });

  test('lets the maker edit, reschedule and withdraw, with a confirmation', async ({ page, site }) => {
    const [day, later] = [dayAhead(120), dayAhead(150)];
    const made = await submit(site, { name: 'Mussel', launchAt: `${day}T10:00:00.000Z` });
    await openLink(page, made);
    await decide(site, 'approve', made.id);
    await page.reload();
    await expect(page.getByText(`It launches on ${longDate(day)} at 10:00`)).toBeVisible();

    await page.getByRole('button', { name: 'Reschedule' }).click();
    await dialog(page).getByLabel('Launch time').fill(`${later}T12:00`);
    await dialog(page).getByRole('button', { name: 'Save launch time' }).click();
    await expect(page.getByText(`It launches on ${longDate(later)} at 12:00`)).toBeVisible();
    await expect(page.getByRole('button', { name: 'Reschedule' })).toBeFocused();

    await page.getByRole('button', { name: 'Edit' }).click();
    await expect(dialog(page).getByText(/^Your launch is approved/)).toBeVisible();
    await dialog(page).getByLabel('Description').fill('Clings to what it likes.');
    await dialog(page)
      .getByLabel('Add screenshots')
      .setInputFiles(await pictureFile('one.png', '#075e68'));
    await dialog(page).getByRole('button', { name: 'Save changes' }).click();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await expect(page.getByText('Clings to what it likes.')).toHaveCount(2);
    await expect(page.getByRole('img', { name: 'Screenshot 1 of Mussel' })).toBeVisible();

    await page.getByRole('button', { name: 'Withdraw' }).click();
    await dialog(page).getByRole('button', { name: 'Keep it' }).click();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await dialog(page).getByRole('button', { name: 'Withdraw', exact: true }).click();
    await expect(page.getByText('You withdrew it, and it will not launch.')).toBeVisible();
    await expect(page.getByRole('heading', { level: 1, name: 'Mussel' })).toBeFocused();
  });

  test('keeps the changes of a maker and those of an operator, and shows the operator’s value if both changed a field', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/409/);
    const [day, later] = [dayAhead(120), dayAhead(150)];
    const made = await submit(site, { name: 'Oyster', description: 'Old', launchAt: `${day}T10:00:00.000Z` });
    await decide(site, 'approve', made.id);
    await openLink(page, made);
    await expect(page.getByText(`It launches on ${longDate(day)} at 10:00`)).toBeVisible();
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog(page).getByLabel('Description').fill('Text of the maker');
    await dialog(page).getByLabel('Maker').fill('Ada');
    const values = { description: 'Text of the operator', category: 'Sea', createdAt: `${later}T12:00:00.000Z` };
    await editProduct(site.database, made.id, { values }, { now: new Date() });
    const save = dialog(page).getByRole('button', { name: 'Save changes' });
    await save.click();
    await expect(dialog(page).getByRole('alert')).toContainText('The submission has changed');
    const description = dialog(page).getByLabel('Description');
    await expect(description).toHaveValue('Text of the maker');
    await expect(description).toHaveAccessibleDescription(/this was changed to: Text of the operator/);
    await expect(description).toBeFocused();
    await expect(dialog(page).getByLabel('Category')).toHaveValue('Sea');
    await expect(dialog(page).getByLabel('Launch time')).toHaveValue(`${later}T12:00`);
    expect((await readProduct(site, made)).description).toBe('Text of the operator');

    await save.click();
    await expect(page.getByText('Waiting for review')).toBeVisible();
    const product = { description: 'Text of the maker', category: 'Sea', maker: 'Ada', createdAt: values.createdAt };
    expect(await readProduct(site, made)).toMatchObject(product);
  });

  test('lets the maker reschedule after an operator has moved the launch', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/409/);
    const [day, later, last] = [dayAhead(120), dayAhead(150), dayAhead(180)];
    const made = await submit(site, { name: 'Spurge', launchAt: `${day}T10:00:00.000Z` });
    await decide(site, 'approve', made.id);
    await openLink(page, made);
    await page.getByRole('button', { name: 'Reschedule' }).click();
    const time = dialog(page).getByLabel('Launch time');
    await time.fill(`${last}T12:00`);
    await decide(site, 'schedule', made.id, `${later}T12:00:00.000Z`);
    const save = dialog(page).getByRole('button', { name: 'Save launch time' });
    const held = await holdResponses(page, /\/api\/submissions\//, { method: 'PATCH' });
    await time.press('Enter');
    await expect.poll(() => held.requests.length).toBe(1);
    await time.focus();
    await expect(save, 'the time cannot be changed while it is being sent').toBeFocused();
    held.release();
    await expect(time).toHaveValue(`${last}T12:00`);
    await expect(time).toHaveAccessibleDescription(new RegExp(`changed to: ${longDate(later)}`));
    await save.click();
    await expect(page.getByText(`It launches on ${longDate(last)} at 12:00`)).toBeVisible();
  });

  test('confirms changes that the site stored before the connection dropped, when the maker saves them again', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/409|ERR_FAILED/);
    const launchAt = `${dayAhead(120)}T10:00:00.000Z`;
    const made = await submit(site, { name: 'Scallop', tags: ['Sea'], team: [{ name: 'Ada', role: '' }], launchAt });
    await openLink(page, made);
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog(page).getByLabel('Description').fill(' Swims. ');
    await dialog(page)
      .getByLabel('Add screenshots')
      .setInputFiles(await pictureFile('shell.png', '#075e68'));
    await expect(dialog(page).getByRole('img', { name: 'Your screenshot 1' })).toBeVisible();
    const lost: string[] = [];
    await page.route(/\/api\/submissions\//, async (route) => {
      const method = route.request().method();
      if (method === 'GET' || lost.includes(method)) return route.fallback();
      lost.push(method);
      await route.fetch();
      await route.abort();
    });
    const save = dialog(page).getByRole('button', { name: 'Save changes' });
    for (const methods of [['PATCH'], ['PATCH', 'POST']]) {
      await save.click();
      await expect.poll(() => lost).toEqual(methods);
      await expect(dialog(page).getByRole('alert')).toContainText('The site cannot be reached');
    }
    await save.click();
    await expect(dialog(page)).toHaveCount(0);
    await expect(page.getByText('Swims.').first()).toBeVisible();
    await expect(page.getByRole('img', { name: /^Screenshot \d of Scallop$/ })).toHaveCount(1);
  });

  test('keeps showing a withdrawal when the response to an earlier read arrives after it', async ({ page, site }) => {
    const made = await submit(site, { name: 'Jingle shell' });
    await page.clock.install();
    await openLink(page, made);
    const held = await holdResponses(page, /\/api\/submissions\//);
    await page.clock.fastForward(16_000);
    await expect.poll(() => held.received).toBe(1);
    await page.getByRole('button', { name: 'Withdraw' }).click();
    await dialog(page).getByRole('button', { name: 'Withdraw', exact: true }).click();
    const status = page.locator('.maker-status-word');
    await expect(status).toHaveText('Withdrawn');
    // Holds later responses until the test ends, so none of them corrects the page.
    const later = await holdResponses(page, /\/api\/submissions\//);
    held.release();
    await waitUntilHandled(page, held.requests[0]);
    await page.clock.fastForward(16_000);
    await expect.poll(() => later.requests.length).toBe(1);
    await expect(status).toHaveText('Withdrawn');
  });

  test('opens a page that has its title again after Back', async ({ page, site }) => {
    const title = 'Dog cockle, your launch · Groundswell';
    await openLink(page, await submit(site, { name: 'Dog cockle' }));
    await expect(page).toHaveTitle(title);
    await page.getByRole('link', { name: 'Groundswell, home' }).click();
    await expect(page).not.toHaveTitle(title);
    await page.goBack();
    await expect(page).toHaveTitle(title);
  });

  test('shows that a product whose launch time has passed without a review launches once approved', async ({
    page,
    site,
  }) => {
    const day = dayAhead(120);
    const made = await submit(site, { name: 'Sea hare', launchAt: `${day}T10:00:00.000Z` });
    await openLink(page, made);
    await expect(page.getByText(`Once approved, it launches on ${longDate(day)} at 10:00`)).toBeVisible();
    const passed = new Date(Date.now() - 60_000).toISOString();
    await site.database.query('UPDATE submissions SET launch_at = $2 WHERE id = $1', [made.id, passed]);
    await page.reload();
    await expect(page.getByText('Once approved, it launches at once.')).toBeVisible();
  });

  test('offers no edits if the product was removed from the site', async ({ page, site }) => {
    const made = await submit(site, { name: 'Teredo' });
    await page.route(`**/api/submissions/${made.id}`, (route) =>
      route.fulfill({
        json: {
          submission: {
            ...made.submission,
            status: 'declined',
            reason: 'The product was removed from the site.',
            editable: false,
          },
        },
      }),
    );
    await openLink(page, made);
    await expect(page.getByRole('blockquote')).toHaveText('The product was removed from the site.');
    await expect(page.getByText('It is not on the list.')).toHaveText('It is not on the list.');
    await expect(page.getByRole('button', { name: /Edit|Withdraw/ })).toHaveCount(0);
    await page.goto(made.link.replace('#', '?lang=de#'));
    await expect(page.getByRole('blockquote')).toHaveText('Das Produkt wurde von der Website entfernt.');
  });
});
