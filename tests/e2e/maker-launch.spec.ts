import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { submissionPaths } from '../../src/contract/submissions/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect } from '../support/e2e-test.ts';
import { holdResponses, recordRequests, requestsReported } from '../support/network.ts';
import { textsOf } from '../support/screen.ts';
import { dayAhead, decide, openLink, pictureFile, submit, submissionTest as test } from '../support/submission-site.ts';

/** Waits until the product is public, which takes longer if the site's clock is slow. */
async function launched(page: Page, id: string): Promise<void> {
  await expect.poll(async () => (await page.request.get(paths.api.product(id))).status()).toBe(200);
}

/** Moves a launch as an operator, to the current time plus `ms`. */
async function moveLaunch(site: E2eSite, id: string, ms: number): Promise<void> {
  const now = new Date();
  const createdAt = new Date(now.getTime() + ms).toISOString();
  await editProduct(site.database, id, { values: { createdAt } }, { now });
}

test.describe('the launch view of a maker', () => {
  test('shows the votes by hour, the rank and the comments', async ({ page, site }) => {
    const made = await submit(site, { name: 'Agrimony' });
    await decide(site, 'approve', made.id);
    await launched(page, made.id);
    await site.addUpvotes(made.id, 3);
    await site.addComments(made.id, [{ content: 'Round and round' }]);
    // Leaderboards follow the votes within a second, or later on a busy machine.
    const standing = async () => (await page.request.get(paths.api.standings(made.id))).json();
    await expect.poll(standing).toMatchObject({ day: { votes: 3 } });
    await page.goto(made.link);
    const panel = page.getByRole('region', { name: 'Your launch' });
    await expect(panel.getByRole('definition')).toHaveText([/^(?:Tied )?\d+(?:st|nd|rd|th) of \d+$/, '3', '1']);
    await expect(panel.getByRole('table', { name: 'Votes by hour' }).getByRole('row')).toHaveCount(2);
    await expect(panel.getByText(/^Votes count until/)).toBeVisible();
  });

  test('in Arabic, draws the first hour on the side of its label', async ({ page, site }) => {
    const made = await submit(site, { name: 'Orthoceras' });
    await decide(site, 'approve', made.id);
    await launched(page, made.id);
    await page.goto(made.link.replace('#', '?lang=ar#'));
    const chart = page.locator('.maker-chart');
    const middleOf = async (selector: string) => {
      const box = await chart.locator(selector).first().boundingBox();
      return box ? box.x + box.width / 2 : Number.NaN;
    };
    const middle = await chart.boundingBox().then((box) => (box ? box.x + box.width / 2 : Number.NaN));
    expect(await middleOf('.maker-chart-ends > *')).toBeGreaterThan(middle);
    expect(await middleOf('rect')).toBeGreaterThan(middle);
  });

  test('does not use the maker key for the next product', async ({ page, site }) => {
    await site.addProduct({ name: 'Argonaut', createdAt: new Date().toISOString() });
    const made = await submit(site, { name: 'Ammonite' });
    await decide(site, 'approve', made.id);
    await launched(page, made.id);
    const reads = recordRequests(page, /\/api\/submissions\//);
    await page.goto(made.link);
    await expect(page.getByRole('region', { name: 'Your launch' })).toBeVisible();
    const next = page.getByRole('button', { name: 'Next', exact: true });
    await expect(next, 'the next product has been prefetched').toHaveAttribute('title', 'Argonaut');
    await next.click();
    await expect(page.getByRole('heading', { level: 1, name: 'Argonaut' })).toBeFocused();
    await requestsReported(page);
    expect(new Set(reads.map((request) => request.url()))).toEqual(
      new Set([`${site.address}/api/submissions/${made.id}`]),
    );
    await expect(page.getByText('This maker link no longer works.')).toHaveCount(0);
  });

  test('appears once the edit dialog is closed; until then, the dialog keeps its text but can no longer save it', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/404|409/);
    await page.clock.install();
    const made = await submit(site, { name: 'Figwort', launchAt: `${dayAhead(120)}T10:00:00.000Z` });
    await decide(site, 'approve', made.id);
    await openLink(page, made);
    await page.getByRole('button', { name: 'Edit' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('Swims backwards.');
    await moveLaunch(site, made.id, -60_000);
    await page.clock.fastForward(16_000);
    await expect(page.locator('.product-columns'), 'the page shows the launched product').toBeVisible();
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await expect(dialog.getByRole('alert')).toContainText('The product has launched and can no longer be changed.');
    await expect(dialog.getByLabel('Description')).toHaveValue('Swims backwards.');
    await holdResponses(page, /\/api\/submissions\//, { method: 'GET' });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect(page.getByRole('region', { name: 'Your launch' })).toBeVisible();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(['Figwort']);
    await expect(page.locator('#main'), 'the button that opened the dialog is gone').toBeFocused();
  });

  for (const [change, status, run] of [
    ['undone', 'Waiting for review', (site, id) => decide(site, 'undo', id)],
    ['postponed', 'Approved', (site, id) => moveLaunch(site, id, 3_600_000)],
  ] satisfies [string, string, (site: E2eSite, id: string) => Promise<unknown>][]) {
    test(`gives way to the maker’s page, without the product, after the launch was ${change}`, async ({
      page,
      site,
      expectConsoleError,
    }) => {
      expectConsoleError(/404/);
      await page.clock.install();
      const made = await submit(site, { name: `Launch ${change}` });
      await decide(site, 'approve', made.id);
      await launched(page, made.id);
      await page.goto(made.link);
      await expect(page.getByRole('region', { name: 'Your launch' })).toBeVisible();
      await run(site, made.id);
      await page.clock.fastForward(16_000);
      await expect(page.locator('.maker-status-word')).toHaveText(status);
      await expect(page.locator('.product-columns')).toHaveCount(0);
      await expect(page.getByRole('heading', { level: 1 })).toHaveText([`Launch ${change}`]);
    });
  }

  test('appears with the next poll if the product could not be read at the launch, and never says ‘not found’', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/404|ERR_FAILED|Failed to fetch product/);
    await page.clock.install();
    const made = await submit(site, { name: 'Scaphite', launchAt: `${dayAhead(120)}T10:00:00.000Z` });
    await decide(site, 'approve', made.id);
    await openLink(page, made);
    let isDown = true;
    await page.route(`**${paths.api.product(made.id)}`, (route) => (isDown ? route.abort() : route.continue()));
    const path = paths.api.product(made.id);
    const failed = page.waitForEvent('requestfailed', (request) => new URL(request.url()).pathname === path);
    const texts = await textsOf(page.locator('#main'));
    await moveLaunch(site, made.id, -60_000);
    await page.clock.fastForward(16_000);
    await failed;
    await page.clock.fastForward(10_000);
    isDown = false;
    await page.clock.fastForward(16_000);
    await expect(page.locator('.product-columns')).toBeVisible();
    await expect(page.getByRole('region', { name: 'Your launch' })).toBeVisible();
    expect((await texts()).filter((text) => text.includes('Product not found'))).toEqual([]);
  });
});

const CONFLICTS: [moment: string, at: (page: Page, move: () => Promise<void>) => Promise<unknown>, error?: RegExp][] = [
  ['before the maker saves an earlier one', (_page, move) => move(), /409/],
  [
    'while the maker’s picture is being sent',
    (page, move) =>
      page.route(
        /\/image$/,
        async (route) => {
          await move();
          await route.continue();
        },
        { times: 1 },
      ),
  ],
];

for (const [moment, at, error] of CONFLICTS) {
  test(`a launch time that the operator sets ${moment} is changed only after the maker has seen it`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    for (const expected of [/404/, ...(error ? [error] : [])]) expectConsoleError(expected);
    const timeOn = (days: number) => `${dayAhead(days)}T10:00:00.000Z`;
    const [earlier, moved] = [timeOn(110), timeOn(130)];
    const made = await submit(site, { name: 'Volute', launchAt: timeOn(120) });
    await decide(site, 'approve', made.id);
    await openLink(page, made);
    const launchTime = async () => {
      const headers = { Authorization: `Bearer ${made.key}` };
      const response = await page.request.get(submissionPaths.submission(made.id), { headers });
      return (await response.json()).submission.launchAt;
    };
    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Edit' }).click();
    await dialog.getByLabel('Choose a picture').setInputFiles(await pictureFile('volute.png', '#7d3c98'));
    await dialog.getByLabel('Launch time').fill(earlier.slice(0, 16));
    await at(page, () => decide(site, 'schedule', made.id, moved));
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await expect(dialog.getByRole('alert')).toContainText('The submission has changed');
    await expect(dialog.getByText(/^In the meantime, this was changed to: /)).toBeVisible();
    expect(await launchTime()).toBe(moved);

    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await expect(dialog).toHaveCount(0);
    expect(await launchTime()).toBe(earlier);
  });
}

test('a save that another tab interrupts twice keeps the changes of the other tab', async ({
  page,
  site,
  expectConsoleError,
}) => {
  for (const expected of [/404/, /409/]) expectConsoleError(expected);
  const timeOn = (days: number) => `${dayAhead(days)}T10:00:00.000Z`;
  const made = await submit(site, { name: 'Samphire', description: 'Old', launchAt: timeOn(120) });
  await decide(site, 'approve', made.id);
  await openLink(page, made);
  const changeElsewhere = async (data: object) => {
    const headers = { Authorization: `Bearer ${made.key}` };
    const response = await page.request.patch(submissionPaths.submission(made.id), { headers, data });
    expect(response.status()).toBe(200);
  };
  let saves = 0;
  await page.route(/\/api\/submissions\/[^/]+(?:\/image)?$/, async (route) => {
    const method = route.request().method();
    if (method === 'PATCH') saves += 1;
    if (method === 'PUT') await changeElsewhere({ description: 'New' });
    if (method === 'PATCH' && saves === 2) await changeElsewhere({ category: 'Shells' });
    await route.fallback();
  });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Edit' }).click();
  await dialog.getByLabel('Choose a picture').setInputFiles(await pictureFile('samphire.png', '#7d3c98'));
  await dialog.getByLabel('Launch time').fill(timeOn(110).slice(0, 16));
  await dialog.getByRole('button', { name: 'Save changes' }).click();
  await expect(dialog.getByRole('alert')).toContainText('The submission has changed');
  await expect(dialog.getByLabel('Description')).toHaveValue('New');
  await expect(dialog.getByLabel('Category')).toHaveValue('Shells');
});
