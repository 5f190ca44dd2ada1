import { randomUUID } from 'node:crypto';
import type { Page, Request } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { expectAccessible } from '../support/axe.ts';
import { openConsole, signIn, signInAndOpen, stopLiveUpdates } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { addPassphrase, PASSPHRASE } from '../support/operator.ts';

async function enterPassphrase(page: Page, name: string): Promise<void> {
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

for (const [when, save] of [
  ['while an edit is being saved', true],
  ['before an edit is saved', false],
] as const) {
  test(`if the session ends ${when}, the edit reappears for the same operator, but not for another one`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    const name = `Tide ${randomUUID()}`;
    const product = await site.addProduct({ name, description: 'Short', createdAt: new Date().toISOString() });
    for (const operator of ['ada', 'grace']) await addPassphrase(site.database, operator, new Date());
    await signInAndOpen(page, site, `/console/products?edit=${product.id}`);
    const comment = () => ({
      headers: { 'x-user-session': `session-${randomUUID()}` },
      data: { productId: product.id, content: randomUUID() },
    });
    const description = page.getByLabel('Description');
    const heading = page.getByRole('heading', { name: 'Sign in to the console' });
    const endSession = async () => {
      if (save) {
        // The page itself may refetch data at any time, so the session ends no earlier than the request to save.
        const isSave = (request: Request) => request.method() === 'PATCH';
        const response = page.waitForResponse((response) => isSave(response.request()));
        await page.route(CONSOLE_API.product(product.id), async (route) => {
          if (isSave(route.request())) await page.context().clearCookies();
          await route.continue();
        });
        await page.getByRole('button', { name: 'Save' }).click();
        expect((await response).status()).toBe(401);
        await page.unroute(CONSOLE_API.product(product.id));
      } else {
        await page.context().clearCookies();
        // A new comment makes the page refetch data.
        await page.request.post('/api/comments', comment());
      }
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

test('Back closes the editor, undo reopens the unsaved edit, and Escape leaves no extra history entry', async ({
  page,
  site,
}) => {
  const { id, name, tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  const open = page.getByRole('button', { name, exact: true });
  const dialog = page.getByRole('dialog');
  const maker = page.getByLabel('Maker');
  await open.click();
  await maker.fill('Somebody else');
  await page.goBack();
  await expect(dialog).toBeHidden();
  await expect(page.getByText('The changes were not saved')).toBeVisible();
  await expect(open).toBeFocused();
  await page.keyboard.press('u');
  await expect(maker).toHaveValue('Somebody else');
  await page.keyboard.press('Escape');
  await expect(page).toHaveURL(`/console/products?tag=${tags[0]}`);

  // Closing the editor leaves no further entry of the list in the history.
  await openConsole(page, `/console/products?tag=${tags[0]}&sort=top`);
  await open.click();
  await page.keyboard.press('Escape');
  await expect(page).not.toHaveURL(/edit=/);
  await page.goBack();
  await expect(page).not.toHaveURL(/sort=top/);
  expect(page.url()).not.toContain(id);
});

test('an edit whose save fails after the editor was closed is not lost while another product is edited', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const tag = randomUUID();
  const first = await site.addProduct({ name: 'Tide', tags: [tag] });
  await site.addProduct({ name: 'Ebb', tags: [tag] });
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  // A closed dialog is hidden immediately, but removed later.
  const dialog = page.locator('dialog');
  const open = (name: string) => page.getByRole('button', { name, exact: true });
  let refuse = () => {};
  const closed = new Promise<void>((resolve) => {
    refuse = resolve;
  });
  await page.route(CONSOLE_API.product(first.id), async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    await closed;
    return route.fulfill({ status: 503, json: { code: 'unavailable', detail: 'The database is down.' } });
  });
  await open('Tide').click();
  await page.getByLabel('Maker').fill('Somebody else');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  expectConsoleError(/503 \(Service Unavailable\)/);
  refuse();
  await expect(page.getByText('The database is down.')).toBeVisible();
  await open('Ebb').click();
  await page.getByLabel('Maker').fill('Nobody');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await open('Tide').click();
  await expect(page.getByLabel('Maker')).toHaveValue('Somebody else');
});

test('holding Enter to open a dialog does not submit the dialog', async ({ page, site }) => {
  const { id, name, tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  await page.getByRole('button', { name: `Remove ${name}` }).focus();
  await page.keyboard.down('Enter');
  const reason = page.getByLabel('Reason (optional)');
  await expect(reason).toBeFocused();
  // Without an `up` in between, Playwright sends this `down` as the repeat of a held key.
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await page.keyboard.type('Spam');
  await page.keyboard.press('Enter');
  await expect(page.getByText(`Removed ${name}`)).toBeVisible();
  const [entry] = await site.database.query<{ reason: string | null }>(
    "SELECT details ->> 'reason' AS reason FROM audit_log WHERE target = $1",
    [id],
  );
  expect(entry?.reason).toBe('Spam');
});

test('dialogs and the palette return the focus, even if the button that opened them is gone', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  const dialog = page.getByRole('dialog');
  const hide = page.getByRole('main').getByRole('button', { name: 'Hide' });
  await hide.press('Enter');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(hide).toBeFocused();

  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('undo');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Nothing to undo')).toBeVisible();
  await expect(hide).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.mouse.click(5, 5);
  await expect(page.locator('dialog')).toHaveCount(0);
  await expect(hide).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('shortcuts');
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveAccessibleName('Keyboard shortcuts');
  await page.keyboard.press('Escape');
  await expect(hide).toBeFocused();

  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Hide' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Buy my coins' })).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('audit');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Audit log' })).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();
});

test('an edit is previewed and saved, and another operator with a conflicting edit sees both versions', async ({
  page,
  site,
  newVisitor,
  expectConsoleError,
}) => {
  const product = await site.addProduct({ name: 'Two hands', maker: 'Moon' });
  await signIn(page, site, 'ada');
  await openConsole(page, `/console/products?edit=${product.id}`);
  const other = await newVisitor();
  await signIn(other, site, 'grace');
  await openConsole(other, `/console/products?edit=${product.id}`);
  await other.getByLabel('Maker').fill('The moon and I');

  await page.getByLabel('Name').fill('');
  await page.getByLabel('Image').fill('javascript:alert(1)');
  await page.getByLabel('Launches').fill('');
  expectConsoleError(/422 \(Unprocessable Entity\)/);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(/is not an http or https URL/)).toBeVisible();
  await expect(page.locator('[aria-invalid="true"]').first()).toBeFocused();
  await expect(page.getByLabel('Launches')).toHaveAccessibleDescription(/Enter a time/);
  await page.getByLabel('Launches').fill('2026-06-02T09:00');
  await page.getByLabel('Image').fill('/pictures/git/tile.svg');
  await page.getByLabel('Name').fill('Four hands');
  await expect(page.getByRole('complementary', { name: 'Preview' })).toContainText('Four hands');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Four hands')).toBeVisible();

  const conflict = other.getByRole('alert', { name: 'Edit conflict' });
  await expect(conflict).toContainText('Four hands');
  await expect(conflict).toContainText('The moon and I');
  await expect(conflict.getByRole('region', { name: 'Both versions' })).toHaveJSProperty('tabIndex', 0);
  await expectAccessible(other, 'conflict');
  await conflict.getByRole('button', { name: 'Keep my changes on top' }).click();
  await expect(other.getByLabel('Name')).toHaveValue('Four hands');
  await other.getByRole('button', { name: 'Save' }).click();
  await expect(other.getByText('Saved Four hands')).toBeVisible();
  const { product: saved } = await (await page.request.get(`/api/products/${product.id}`)).json();
  expect(saved).toMatchObject({ name: 'Four hands', maker: 'The moon and I' });
});

test('a discarded edit of tags that contain commas is resumed, applied on top of another operator’s edit, and saved', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ name: 'Compiler', tags: ['C, C++', 'Sea'] });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const tags = page.getByLabel('Tags');
  await expect(tags).toHaveValue('["C, C++","Sea"]');
  await tags.fill('["C, C++","Sea, deep"]');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(tags).toHaveValue('["C, C++","Sea, deep"]');
  await editProduct(site.database, id, { values: { tags: ['C, C++', 'Sea', 'Moon'] } }, { now: new Date() });
  await page.getByRole('button', { name: 'Keep my changes on top' }).click();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Saved Compiler')).toBeVisible();
  const { product } = await (await page.request.get(`/api/products/${id}`)).json();
  expect(product.tags).toEqual(['C, C++', 'Sea, deep']);
});

test('undo after an edit restores the exact launch time and the tags that contain commas', async ({ page, site }) => {
  const before = { createdAt: '2026-06-01T12:34:56.789Z', tags: ['C, C++', 'Sea'] };
  const { id } = await site.addProduct({ name: 'Exact', ...before });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  await page.getByLabel('Launches').fill('2026-06-02T09:00');
  await page.getByLabel('Tags').fill('Sea');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Exact')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  const { product } = await (await page.request.get(`/api/products/${id}`)).json();
  expect(product).toMatchObject(before);
});

test('changes are applied only on top of a version that was shown, even if the product changes again', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct({ name: 'Tide' });
  await signIn(page, site);
  await stopLiveUpdates(page);
  await openConsole(page, `/console/products?edit=${id}`);
  const save = (maker: string) => editProduct(site.database, id, { values: { maker } }, { now: new Date() });
  await page.getByLabel('Maker').fill('Mine');
  await save('First');
  expectConsoleError(/409 \(Conflict\)/);
  await page.getByRole('button', { name: 'Save' }).click();
  const conflict = page.getByRole('alert', { name: 'Edit conflict' });
  const keep = conflict.getByRole('button', { name: 'Keep my changes on top' });
  await expect(conflict).toContainText('First');
  await save('Second');
  await keep.click();
  await expect(conflict).toContainText('Second');
  await expect(page.getByText('The product has changed again. Compare the versions.')).toBeVisible();
  await keep.click();
  await expect(conflict).toBeHidden();
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Tide')).toBeVisible();
});
