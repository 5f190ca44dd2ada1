import { randomUUID } from 'node:crypto';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { hideComments, holdComments, releaseComments } from '../../src/core/comments/moderate-comments.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { restoreProducts } from '../../src/core/products/restore-products.ts';
import {
  addSubmissions,
  holdRequests,
  openConsole,
  signIn,
  signInAndOpen,
  stopLiveUpdates,
  writeComment,
} from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { turnEventLoop } from '../support/page-clock.ts';
import { toast } from '../support/screen.ts';

test('undo waits for a change that has no response yet, and does not revert the change before it', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const [first] = await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }]);
  await holdComments(site.database, [first?.id ?? '']);
  await signIn(page, site);
  await stopLiveUpdates(page);
  await openConsole(page, `/console/comments?product=${product.id}`);
  const row = (content: string) => page.getByRole('listitem').filter({ hasText: content });
  await row('First').getByRole('button', { name: 'Release' }).click();
  await expect(page.getByText('Released 1 comment')).toBeVisible();
  const respond = await holdRequests(page, CONSOLE_API.moderateComments);
  await row('Second').getByRole('button', { name: 'Hold' }).click();
  await expect(row('Second').getByRole('button', { name: 'Release' })).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText('The last change is not done yet')).toBeVisible();
  respond();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  const held = 'SELECT FROM comments WHERE product_id = $1 AND held_session IS NOT NULL';
  expect(await site.database.query(held, [product.id])).toEqual([]);
});

test('after a change is undone from its message, the key U undoes a later change', async ({ page, site }) => {
  const product = await site.addProduct();
  const [first] = await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }]);
  await holdComments(site.database, [first?.id ?? '']);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  const button = (content: string, name: string) =>
    page.getByRole('listitem').filter({ hasText: content }).getByRole('button', { name });
  await button('First', 'Release').click();
  const undo = toast(page).filter({ hasText: 'Released 1 comment' }).getByRole('button', { name: 'Undo' });
  // The message stays while it has the focus, which this click does not move.
  await undo.focus();
  await button('Second', 'Hold').dispatchEvent('click');
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await undo.press('Enter');
  await expect(button('First', 'Release')).toBeVisible();
  await page.keyboard.press('u');
  await expect(button('Second', 'Hold')).toBeVisible();
});

test('the key U removes the message whose button would undo the same change again', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Once' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hold' }).click();
  const message = toast(page).filter({ hasText: 'Held 1 comment' });
  const release = await holdRequests(page, CONSOLE_API.undo('*'));
  // The message stays while it has the focus.
  await message.getByRole('button', { name: 'Undo' }).focus();
  await page.keyboard.press('u');
  await expect(message).toHaveCount(0);
  release();
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
});

test('undo waits for an edit that is still being saved after its editor was closed', async ({ page, site }) => {
  const { id, name, tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  const saveAs = async (maker: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.getByLabel('Maker').fill(maker);
    await page.getByRole('button', { name: 'Save' }).click();
  };
  const dialog = page.locator('dialog');
  await saveAs('First');
  await expect(page.getByText(`Saved ${name}`)).toBeVisible();
  await expect(dialog).toHaveCount(0);
  const respond = await holdRequests(page, CONSOLE_API.product(id));
  await saveAs('Second');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(page.getByText('The last change is not done yet')).toBeVisible();
  respond();
  const maker = async () => (await (await page.request.get(`/api/products/${id}`)).json()).product.maker;
  await expect.poll(maker).toBe('Second');
});

test('while a change is being undone, comments that have arrived since stay in the list', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Old' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await writeComment(page, product.id, 'New');
  const respond = await holdRequests(page, CONSOLE_API.undo('*'));
  const undo = page.waitForRequest(CONSOLE_API.undo('*'));
  await page.keyboard.press('u');
  await undo;
  await turnEventLoop(page);
  expect(await page.getByText('New', { exact: true }).isVisible()).toBe(true);
  respond();
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Release' })).toHaveCount(0);
});

test('undo reopens an edit that was closed without saving', async ({ page, site }) => {
  const { id } = await site.addProduct({ name: 'Half done' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  await page.getByLabel('Maker').fill('Somebody else');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  const notSaved = toast(page).filter({ hasText: 'The changes were not saved' });
  await notSaved.getByRole('button', { name: 'Dismiss' }).click();
  await page.keyboard.press('u');
  await expect(page.getByLabel('Maker')).toHaveValue('Somebody else');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Half done')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
  await turnEventLoop(page);
  expect(await notSaved.count()).toBe(0);
});

test('undoing the restoration of a comment hides it again for its original reason', async ({ page, site }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  const hidden = () =>
    site.database.query<{ id: string; hidden_reason: string | null }>(
      'SELECT id::text, hidden_reason FROM comments WHERE product_id = $1',
      [product.id],
    );
  await hideComments(site.database, [(await hidden())[0]?.id ?? ''], 'Spam');
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await expect(page.getByText('Hidden: Spam')).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByText('Restored 1 comment')).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  expect(await hidden()).toMatchObject([{ hidden_reason: 'Spam' }]);
});

test('undoing a change of several comments skips those that another operator has changed since', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const product = await site.addProduct();
  const [first] = await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }]);
  const ids = [first?.id ?? ''];
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  const boxes = page.getByRole('checkbox');
  for (const index of [0, 1]) await boxes.nth(index).check();
  await page.getByRole('region', { name: 'Selected items' }).getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 2 comments')).toBeVisible();
  // Another operator releases one comment and then holds it again.
  await releaseComments(site.database, ids);
  await holdComments(site.database, ids);
  expectConsoleError(/409 \(Conflict\)/);
  await page.keyboard.press('u');
  const partly = toast(page).filter({ hasText: 'Partly undone' });
  await expect(partly).toContainText('Undone for 1 comment. Failed for 1 comment. ');
  const held = 'SELECT id::text FROM comments WHERE product_id = $1 AND held_session IS NOT NULL';
  expect(await site.database.query(held, [product.id])).toEqual([{ id: first?.id }]);
});

test('undoing the removal of several products restores those that another operator has not restored', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  const products = await site.addProducts(3, (index) => ({ name: `Unremoved ${index}`, tags: [tag] }));
  const ids = products.map(({ id }) => id);
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  for (const { name } of products) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.keyboard.press('d');
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(page.getByText('Removed 3 products')).toBeVisible();
  await restoreProducts(site.database, { productIds: ids.slice(0, 1) });
  expectConsoleError(/409 \(Conflict\)/);
  await page.keyboard.press('u');
  await expect(page.getByText('Undone for 2 products. Failed for 1 product. ')).toBeVisible();
  for (const id of ids) expect((await page.request.get(`/api/products/${id}`)).status()).toBe(200);
});

test('undoing a restoration does not remove another product that has the same id by then', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id, name } = await site.addProduct({ name: `Predecessor ${randomUUID().slice(0, 8)}` });
  await removeProducts(site.database, [id]);
  await signInAndOpen(page, site, '/console/products?state=removed');
  await page.getByRole('button', { name: `Restore ${name}` }).click();
  await expect(page.getByText(`Restored ${name}`)).toBeVisible();
  await removeProducts(site.database, [id]);
  await site.addProduct({ id, name: 'Heir of the id' });
  expectConsoleError(/409 \(Conflict\)/);
  await page.keyboard.press('u');
  await expect(page.getByText('The product was removed again later.')).toBeVisible();
  expect((await page.request.get(`/api/products/${id}`)).status()).toBe(200);
});

test('a save without a response is not shown as a conflict, and undo does not revert the change before it', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id, name } = await site.addProduct();
  await signInAndOpen(page, site, `/console/products?q=${name}`);
  const open = page.getByRole('button', { name, exact: true });
  const maker = page.getByLabel('Maker');
  const save = page.getByRole('button', { name: 'Save' });
  await open.click();
  await maker.fill('Grace');
  await save.click();
  await expect(page.getByText(`Saved ${name}`)).toBeVisible();
  await open.click();
  await maker.fill('Ada');
  expectConsoleError(/ERR_FAILED/);
  await page.route(CONSOLE_API.product(id), async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await save.click();
  const message = 'The site cannot be reached. If the change was made, it is in the audit log.';
  await expect(page.getByRole('dialog').getByText(message)).toBeVisible();
  // Live updates load the saved version.
  await expect(page.getByText('No changes')).toBeVisible();
  await expect(page.getByRole('alert', { name: 'Edit conflict' })).toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(page.getByText('Nothing to undo')).toBeVisible();
});

test('one undo reverts both the release and the restoration of comments that one key press caused', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const comments = await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }]);
  const [held = '', hidden = ''] = comments.map(({ id }) => id);
  await holdComments(site.database, [held]);
  await hideComments(site.database, [hidden], 'Spam');
  const read = () =>
    site.database.query(
      `SELECT id::text, held_session IS NOT NULL AS held, hidden_reason FROM comments WHERE product_id = $1 ORDER BY content`,
      [product.id],
    );
  const before = await read();
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  for (const index of [0, 1]) await page.getByRole('checkbox').nth(index).check();
  await page.keyboard.press('a');
  await expect(page.getByText('Released 1 comment. Restored 1 comment')).toBeVisible();
  expect(await read()).not.toEqual(before);
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  expect(await read()).toEqual(before);
});

test('a submission whose approval is undone in the audit log is back in the queue, even without live updates', async ({
  page,
  site,
}) => {
  const name = `Returned ${randomUUID().slice(0, 8)}`;
  await addSubmissions(site, [name]);
  await signIn(page, site);
  await stopLiveUpdates(page);
  await openConsole(page, '/console/queue?kind=submissions');
  const submission = page.getByRole('article', { name });
  const open = (screen: string) => page.getByRole('navigation').getByRole('link', { name: screen }).click();
  await submission.getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText(`Approved ${name}`)).toBeVisible();
  await open('Audit log');
  const entry = page.getByRole('listitem').filter({ hasText: 'approved submission' }).first();
  await entry.getByRole('button', { name: 'Undo' }).click();
  await expect(entry.getByText('Undone', { exact: true })).toBeVisible();
  await expect(toast(page).filter({ hasText: 'Undone' })).toBeVisible();
  await open('Queue');
  await page.getByRole('radio', { name: /^Submissions/ }).check();
  await expect(submission).toBeVisible();
});
