import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { openConsole, signIn } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { addPassphrase, PASSPHRASE } from '../support/operator.ts';

async function enterPassphrase(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

for (const [when, save] of [
  ['while it is saved', true],
  ['before it is saved', false],
] as const) {
  test(`an edit whose session ends ${when} is resumed by the same operator, but not shown to another`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    const name = `Tide ${randomUUID()}`;
    const product = await site.addProduct({ name, description: 'Short', createdAt: new Date().toISOString() });
    for (const operator of ['ada', 'grace']) await addPassphrase(site.database, operator, new Date());
    await signIn(page, site);
    await openConsole(page, `/console/products?edit=${product.id}`);
    const comment = () => ({
      headers: { 'x-user-session': `session-${randomUUID()}` },
      data: { productId: product.id, content: randomUUID() },
    });
    const description = page.getByLabel('Description');
    const heading = page.getByRole('heading', { name: 'Sign in to the console' });
    const endSession = async () => {
      await page.context().clearCookies();
      if (save) await page.getByRole('button', { name: 'Save' }).click();
      // A new comment makes the page refetch data.
      else await page.request.post('/api/comments', comment());
      await expect(heading).toBeVisible();
    };
    await description.fill('An hour of careful writing');
    expectConsoleError(/401 \(Unauthorized\)/);
    await endSession();
    await enterPassphrase(page, 'grace');
    await expect(description).toHaveValue('Short');
    await description.fill('Her words');
    await endSession();
    await enterPassphrase(page, 'ada');
    await expect(description).toHaveValue('An hour of careful writing');
    await page.getByRole('button', { name: 'Save' }).click();
    await expect(page.getByText(`Saved ${name}`)).toBeVisible();
    await page.getByRole('button', { name, exact: true }).click();
    await expect(page.getByText('No changes')).toBeVisible();
    await expect(description).toHaveValue('An hour of careful writing');
  });
}

test('a dialog stays open with its reason until the operation succeeds', async ({ page, site, expectConsoleError }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await signIn(page, site);
  await openConsole(page, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hide' }).click();
  const reason = page.getByLabel('Reason (optional)');
  await reason.fill('A long explanation');
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route('/api/console/comments/moderate', (route) => route.fulfill(refusal), { times: 1 });
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog').getByRole('alert')).toHaveText('The change failed. You can try again.');
  await expect(reason).toHaveValue('A long explanation');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Hidden: A long explanation')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
});
