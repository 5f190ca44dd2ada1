import { randomUUID } from 'node:crypto';
import { CONSOLE_API, CONSOLE_PATHS, UNATTENDED_HEADER } from '../../src/contract/console/paths.ts';
import { recordAudit } from '../../src/core/audit/audit-log.ts';
import { inviteOperator, revokeOperator } from '../../src/core/console/operators.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { createSubmission } from '../../src/core/submissions/create-submission.ts';
import { expectAccessible } from '../support/axe.ts';
import { holdRequests, openConsole, signIn, signInAndOpen, waitUntilConsoleIsServed } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { PASSPHRASE } from '../support/operator.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { elementsBeyondScreen, PHONE } from '../support/screen.ts';

const LONG_WORD = 'w'.repeat(60);

test('an operator accepts an invitation on a phone, signs out everywhere and signs in again', async ({
  page,
  site,
  expectConsoleError,
}) => {
  await page.setViewportSize(PHONE);
  const name = `op-${randomUUID().slice(0, 8)}`;
  const { token } = await inviteOperator(site.database, name, new Date());
  await expect.poll(async () => (await page.request.get('/console')).status()).toBe(200);
  await page.goto(`/console#invitation=${token}`);
  await expect(page.getByRole('heading', { name: `Welcome, ${name}` })).toBeVisible();
  expect(page.url()).not.toContain(token);
  await expectAccessible(page, 'invitation');
  const username = page.locator('input[type="text"][autocomplete="username"]');
  await expect(username, 'for password managers').toHaveValue(name);
  await expect(username).toBeHidden();
  const accept = page.getByRole('button', { name: 'Set passphrase and sign in' });
  await page.getByLabel('Passphrase').fill('too short');
  await expect(accept).toBeDisabled();
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await accept.click();
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox').fill('everywhere');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
  await expectAccessible(page, 'sign-in');
  expectConsoleError(/401 \(Unauthorized\).*sign-in/);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Passphrase').fill('a wrong passphrase');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await expect(page.getByRole('alert').filter({ hasText: 'The name or passphrase is wrong.' })).toBeVisible();
  await page.getByLabel('Passphrase').fill(PASSPHRASE);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { level: 1, name: 'Overview' })).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();

  // In a tab that shows the console, an invitation link changes only the fragment.
  for (const each of ['grace', 'edsger']) {
    const { token } = await inviteOperator(site.database, each, new Date());
    await page.goto(`/console#invitation=${token}`);
    await expect(page.getByRole('heading', { name: `Welcome, ${each}` })).toBeVisible();
    expect(page.url()).not.toContain(token);
  }
});

for (const [state, path, viewport, colorScheme] of [
  ['the overview', '/console', { width: 1280, height: 900 }, 'light'],
  ['the overview on a phone in the dark theme', '/console', PHONE, 'dark'],
  ['the list of products', '/console/products', { width: 1280, height: 900 }, 'dark'],
  ['an editor on a phone', '/console/products?edit=git', PHONE, 'light'],
  ['the list of comments on a phone', '/console/comments', PHONE, 'light'],
  ['an empty search', '/console/comments?q=nothing-has-this', PHONE, 'dark'],
  ['the queue', '/console/queue?kind=submissions', { width: 768, height: 1024 }, 'light'],
  ['the audit log', '/console/audit', { width: 1280, height: 900 }, 'dark'],
  ['a long target in the audit log on a phone', `/console/audit?target=${LONG_WORD}`, PHONE, 'light'],
  ['a list with long filters on a phone', `/console/products?tag=${LONG_WORD}&category=${LONG_WORD}`, PHONE, 'dark'],
  ['the import of a file with long names on a phone', '/console/import', PHONE, 'light'],
] as const) {
  test(`${state} has no accessibility violations and no horizontal scrolling`, async ({ page, site }) => {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const long = await site.addProduct({ name: 'W'.repeat(300), maker: 'M'.repeat(300) });
    await site.addComments(long.id, [{ content: 'C'.repeat(2_000), authorName: 'A'.repeat(100) }]);
    await signInAndOpen(page, site, path);
    // The editor opens after the heading is visible.
    await expect(page.getByRole('dialog')).toHaveCount(path.includes('?edit=') ? 1 : 0);
    if (path === '/console/import') {
      const file = { name: `${LONG_WORD}.csv`, mimeType: 'text/csv', buffer: Buffer.from(`id,${LONG_WORD}\n1,2\n`) };
      await page.getByLabel('Drop a file here, or choose one').setInputFiles(file);
      await page.getByRole('button', { name: 'Dry run' }).click();
      await expect(page.getByText(`Ignored columns: ${LONG_WORD}.`)).toBeVisible();
    }
    await expect(page.getByRole('status', { name: /^(?:Loading|Checking)/ })).toHaveCount(0);
    await expectAccessible(page, state);
    expect(await elementsBeyondScreen(page)).toEqual([]);
  });
}

test('an operator hides a comment by keyboard and undoes it, and the audit log records both', async ({
  page,
  site,
}) => {
  const product = await site.addProduct({ name: 'Hidden tide' });
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await expect(page.getByText('Buy my coins')).toBeVisible();
  await page.keyboard.press('d');
  const reason = page.getByLabel('Reason (optional)');
  await expect(reason).toBeFocused();
  await expect(reason).toHaveAccessibleDescription('If the moderation log is public, it shows this reason.');
  await page.keyboard.type('Spam');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Hid 1 comment')).toBeVisible();
  await expect(page.getByText('Hidden: Spam')).toBeVisible();
  const shown = async () => (await (await page.request.get(`/api/products/${product.id}/comments`)).json()).total;
  await expect.poll(shown).toBe(0);
  // The field of the closed dialog may have the focus until the dialog is removed.
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect.poll(shown).toBe(1);
  // The page ignores L if it comes more than 1.2 s after G.
  await expect(async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('l');
    await expect(page.getByRole('heading', { level: 1, name: 'Audit log' })).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await expect(page.getByText(/restored comment .* on /).first()).toBeVisible();
});

test('an operator approves a submission by keyboard, which launches it, and then undoes the approval', async ({
  page,
  site,
}) => {
  const submitter = { session: `session-${randomUUID()}` };
  const { row } = await createSubmission(site.database, systemRuntime, { name: 'Fresh wave' }, { submitter });
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  const card = page.getByRole('article', { name: 'Fresh wave' });
  await expect(card).toBeVisible();
  await card.getByRole('button', { name: 'Approve Fresh wave' }).focus();
  await page.keyboard.press('a');
  await expect(page.getByText('Approved Fresh wave')).toBeVisible();
  await expect(card).toBeHidden();
  const status = async () => (await page.request.get(`/api/products/${row.id}`)).status();
  await expect.poll(status).toBe(200);
  await page.keyboard.press('u');
  await expect(card).toBeVisible();
  await expect.poll(status).toBe(404);
});

test('several products are removed together and restored', async ({ page, site }) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(3, (index) => ({ name: `Removable ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  for (const index of [0, 1]) await page.getByLabel(`Select Removable ${index}`).check();
  await page.getByRole('region', { name: 'Selected items' }).getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'Removable' })).toHaveCount(1);
  // Until a closed dialog is removed, its field may receive keys.
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(page.getByRole('listitem').filter({ hasText: 'Removable' })).toHaveCount(3);
});

test('the older of two removals of an id can be restored, and undo removes the product again for the original reason', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct({ name: 'Loved' });
  // Older versions of the command accepted reasons of any length.
  const reason = 'Spam'.repeat(300);
  await removeProducts(site.database, [id], reason);
  await site.addProduct({ id, name: 'Replacement' });
  await removeProducts(site.database, [id]);
  await signInAndOpen(page, site, '/console/products?state=removed');
  const rows = page.getByRole('listitem').filter({ hasText: id });
  await expect(rows).toHaveCount(2);
  await expect(rows.filter({ hasText: reason })).toHaveCount(1);
  await page.getByRole('button', { name: 'Restore Loved' }).click();
  await expect(page.getByText('Restored Loved')).toBeVisible();
  await expect(rows).toHaveText([/Replacement/]);
  const name = async () => (await (await page.request.get(`/api/products/${id}`)).json()).product?.name;
  await expect.poll(name).toBe('Loved');
  await page.keyboard.press('u');
  await expect(rows).toHaveText([/Loved/, /Replacement/]);
  const lastChange = () =>
    site.database.query(
      "SELECT action, details ->> 'reason' AS reason FROM audit_log WHERE target = $1 ORDER BY created_at DESC LIMIT 1",
      [id],
    );
  await expect.poll(lastChange).toEqual([{ action: 'products remove', reason }]);
});

test('a file is imported with mapped columns after a dry run that shows its errors, and the import is undone', async ({
  page,
  site,
}) => {
  const prefix = `i-${randomUUID().slice(0, 8)}`;
  await signInAndOpen(page, site, '/console/import');
  await expectAccessible(page, 'choosing a file');
  const upload = (rows: string) =>
    page.getByLabel('Drop a file here, or choose one').setInputFiles({
      name: `${prefix}.csv`,
      mimeType: 'text/csv',
      buffer: Buffer.from(`slug,Title,Topics\n${rows}`),
    });
  await upload(`${prefix}-a,Alpha,"sea, moon"\nnot an id!,Beta,sand\n`);
  await expect(page.getByLabel('Name')).toHaveValue('Title');
  await expect(page.getByLabel('Tags')).toHaveValue('Topics');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByText('1 error. Nothing would be imported.')).toBeVisible();
  await expect(page.getByRole('row', { name: /not an id!/ })).toContainText('is not an id');
  await expectAccessible(page, 'a dry run with an error');
  await page.getByRole('button', { name: 'Another file' }).click();
  await upload(`${prefix}-a,Alpha,"sea, moon"\n${prefix}-b,Beta,sand\n`);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await expect(page.getByRole('row', { name: /Beta/ })).toContainText('New');
  await page.getByRole('button', { name: 'Import 2 products' }).click();
  await expect(page.getByText(`Imported ${prefix}.csv`)).toBeVisible();
  const status = async () => (await page.request.get(`/api/products/${prefix}-a`)).status();
  await expect.poll(status).toBe(200);
  // Adds a later import of another file with the same name, which the undo must not revert.
  await recordAudit(site.database, { action: 'import', target: `${prefix}.csv` });
  await page.keyboard.press('u');
  await expect.poll(status).toBe(404);
});

test('a comment posted after the list has loaded and before live updates are connected appears', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const [first] = await site.addComments(product.id, [{ content: `First ${product.id}` }]);
  await signIn(page, site);
  const connect = await holdRequests(page, CONSOLE_API.events);
  await openConsole(page, `/console/comments?product=${product.id}`);
  await expect(page.getByText(String(first?.content))).toBeVisible();
  await otherVisitor(page).comment(product.id, `Second ${product.id}`);
  connect();
  await expect(page.getByText(`Second ${product.id}`)).toBeVisible();
});

test('an idle page shows the sign-in screen after its session has ended', async ({
  page,
  site,
  expectConsoleError,
}) => {
  // Without any operator, the site would have no console.
  await inviteOperator(site.database, 'grace', new Date());
  await signIn(page, site, 'revoked');
  const loaded = [CONSOLE_API.events, CONSOLE_API.waiting, CONSOLE_API.comments].map((path) =>
    page.waitForResponse((response) => response.url().includes(path)),
  );
  await openConsole(page, '/console/comments');
  await Promise.all(loaded);
  expectConsoleError(/401 \(Unauthorized\)/);
  await revokeOperator(site.database, 'revoked');
  await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
});

test('requests that the operator did not cause are marked, so they do not extend the session', async ({
  page,
  site,
}) => {
  await signIn(page, site);
  await waitUntilConsoleIsServed(page);
  const headerOf = async (path: string) =>
    (await page.waitForRequest((request) => request.url().includes(path))).headers();
  const loaded = headerOf(CONSOLE_API.waiting);
  // Scripts that Playwright runs in the page count as user input, so none may run before the request.
  await page.goto(CONSOLE_PATHS.home);
  expect(await loaded).toHaveProperty(UNATTENDED_HEADER);
  const opened = headerOf(CONSOLE_API.comments);
  await page.getByRole('link', { name: 'Comments' }).first().click();
  expect(await opened).not.toHaveProperty(UNATTENDED_HEADER);
});

test('after a session has ended elsewhere, the next request leads to the sign-in screen', async ({
  page,
  site,
  expectConsoleError,
}) => {
  await signInAndOpen(page, site, '/console/products');
  await page.context().clearCookies();
  expectConsoleError(/401 \(Unauthorized\)/);
  // The page's own requests, such as for live updates, may already have replaced the link with the sign-in screen.
  await page
    .getByRole('link', { name: 'Comments' })
    .evaluateAll(([link]) => (link as HTMLElement | undefined)?.click());
  await expect(page.getByRole('heading', { name: 'Sign in to the console' })).toBeVisible();
});
