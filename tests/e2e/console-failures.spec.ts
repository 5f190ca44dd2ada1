import { randomUUID } from 'node:crypto';
import type { Page, Route } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { holdComments } from '../../src/core/comments/moderate-comments.ts';
import { editProduct } from '../../src/core/products/edit-product.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import {
  addSubmissions,
  failUntilClick,
  openConsole,
  signIn,
  signInAndOpen,
  stopLiveUpdates,
} from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';

/** Expects an error in the open dialog that nothing covers. Screen readers ignore the page behind the dialog. */
async function expectReadable(page: Page, message: string): Promise<void> {
  const alert = page.getByRole('dialog').getByRole('alert').filter({ hasText: message });
  await expect(alert).toBeVisible();
  const isOnTop = alert.evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(x + width / 2, y + height / 2) === element;
  });
  expect(await isOnTop).toBe(true);
  await expect(page.locator('.toast')).toHaveCount(0);
}

/** Simulates a return to the tab after its data has become stale, and waits until the page has refetched this path. */
async function refetchOnReturn(page: Page, path: string): Promise<void> {
  await page.clock.fastForward(11_000);
  const response = page.waitForResponse((response) => new URL(response.url()).pathname === path);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await (await response).finished();
  // Rendering may take a frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
}

test('a dialog stays open and keeps the entered reason until the operation succeeds', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hide' }).click();
  const reason = page.getByLabel('Reason (optional)');
  await reason.fill('A long explanation');
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route('/api/console/comments/moderate', (route) => route.fulfill(refusal), { times: 1 });
  await page.keyboard.press('Enter');
  await expectReadable(page, 'The change failed. The database is down.');
  await expect(reason).toHaveValue('A long explanation');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Hidden: A long explanation')).toBeVisible();
  await expect(page.getByRole('dialog')).toBeHidden();
});

const GATEWAY_TIMEOUT = { status: 504, contentType: 'text/html', body: '<h1>Gateway timeout</h1>' };
const FAILURES = [
  ['without a response', /ERR_FAILED/, (route: Route) => route.abort()],
  ["that gets a proxy's error", /504 \(Gateway Timeout\)/, (route: Route) => route.fulfill(GATEWAY_TIMEOUT)],
] as const;
for (const [which, message, respond] of FAILURES) {
  test(`a change ${which} may have been made, so undo does not revert the change before it`, async ({
    page,
    site,
    expectConsoleError,
  }) => {
    const product = await site.addProduct();
    const comments = await site.addComments(product.id, [{ content: 'First' }, { content: 'Second' }]);
    await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
    const row = (content: string) => page.getByRole('listitem').filter({ hasText: content });
    await row('First').getByRole('button', { name: 'Hold' }).click();
    await expect(page.getByText('Held 1 comment')).toBeVisible();
    expectConsoleError(message);
    await page.route(CONSOLE_API.moderateComments, async (route) => {
      await route.fetch();
      await respond(route);
    });
    await row('Second').getByRole('button', { name: 'Hold' }).click();
    await expect(page.getByText('The site cannot be reached')).toBeVisible();
    await expect(page.getByText('If the change was made, it is in the audit log.')).toBeVisible();
    await expect(row('Second').getByRole('button', { name: 'Release' })).toBeVisible();
    await page.keyboard.press('u');
    await expect(page.getByText('Nothing to undo')).toBeVisible();
    const held = 'SELECT FROM comments WHERE product_id = $1 AND held_session IS NOT NULL';
    expect(await site.database.query(held, [product.id])).toHaveLength(comments.length);
  });
}

test("a read that gets a proxy's error is retried", async ({ page, site, expectConsoleError }) => {
  await signIn(page, site);
  expectConsoleError(/504 \(Gateway Timeout\)/);
  // Never responds, so no live update makes the page repeat the read.
  await page.route(CONSOLE_API.events, () => {});
  await page.route(CONSOLE_API.overview, (route) => route.fulfill(GATEWAY_TIMEOUT), { times: 1 });
  await openConsole(page, '/console');
  await expect(page.getByText('Waiting for you')).toBeVisible();
});

test('an undo without a response may have succeeded, so the message does not say that it failed', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Only' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  expectConsoleError(/ERR_FAILED/);
  await page.route(CONSOLE_API.undo('*'), async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.keyboard.press('u');
  await expect(page.getByText('If the change was made, it is in the audit log.')).toBeVisible();
  await expect(page.getByText('This could not be undone')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Hold' })).toBeVisible();
});

test('an undo that failed because the site is busy can be tried again', async ({ page, site, expectConsoleError }) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Retried' }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await page.getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  expectConsoleError(/503 \(Service Unavailable\)/);
  const details = ['The first refusal', 'The second refusal'];
  const refuse = (route: Route) =>
    route.fulfill({ status: 503, json: { code: 'unavailable', detail: details.shift() } });
  await page.route(CONSOLE_API.undo('*'), refuse, { times: details.length });
  const toast = (text: string) => page.locator('.toast').filter({ hasText: text });
  await page.keyboard.press('u');
  await toast('The first refusal').getByRole('button', { name: 'Undo' }).click();
  await expect(toast('The second refusal')).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect(toast('refusal')).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Hold' })).toBeVisible();
});

test('if one of several failed changes has no response, undo does not revert the change before them', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const name = `First ${randomUUID()}`;
  const [, second, third] = await addSubmissions(site, [name, `Second ${randomUUID()}`, `Third ${randomUUID()}`]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await expect(page.getByRole('article', { name })).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByText(`Approved ${name}`)).toBeVisible();
  expectConsoleError(/503 \(Service Unavailable\)|ERR_FAILED/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.decideSubmission(second?.row.id ?? ''), (route) => route.fulfill(refusal));
  await page.route(CONSOLE_API.decideSubmission(third?.row.id ?? ''), (route) => route.abort());
  for (const key of ['x', 'j', 'x', 'a']) await page.keyboard.press(key);
  await expect(page.getByText('If the change was made, it is in the audit log.')).toBeVisible();
  await page.keyboard.press('u');
  await expect(page.getByText('Nothing to undo')).toBeVisible();
});

test('an edit that cannot be saved stays in the editor, which shows the reason', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct({ name: 'Unlucky' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  await page.getByLabel('Maker').fill('Somebody else');
  expectConsoleError(/503 \(Service Unavailable\)/);
  const refusal = { status: 503, json: { code: 'unavailable', detail: 'The database is down.' } };
  await page.route(CONSOLE_API.product(id), (route) =>
    route.request().method() === 'PATCH' ? route.fulfill(refusal) : route.continue(),
  );
  await page.getByRole('button', { name: 'Save' }).click();
  await expectReadable(page, 'The change failed. The database is down.');
  await page.unroute(CONSOLE_API.product(id));
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText('Saved Unlucky')).toBeVisible();
});

test('if the saved version of a conflict cannot be loaded, the editor says so and keeps the edit', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const { id } = await site.addProduct({ name: 'Gone soon' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  await page.getByLabel('Maker').fill('Somebody else');
  await editProduct(site.database, id, { values: { name: 'Renamed' } }, { now: new Date() });
  const keep = page.getByRole('button', { name: 'Keep my changes on top' });
  await expect(keep).toBeVisible();
  // Never responds, so no live update makes the editor load the product.
  await page.route(CONSOLE_API.events, () => {});
  expectConsoleError(/404 \(Not Found\)/);
  await page.route(CONSOLE_API.product(id), (route) =>
    route.fulfill({ status: 404, json: { code: 'product_not_found', detail: 'There is no such product.' } }),
  );
  await keep.click();
  await expectReadable(page, 'The saved version could not be loaded. There is no such product.');
  await expect(page.getByLabel('Maker')).toHaveValue('Somebody else');
});

test('a failed refetch does not replace the data on the screen', async ({ page, site, expectConsoleError }) => {
  const { id } = await site.addProduct();
  await signIn(page, site);
  await page.clock.install();
  // Live updates would also refetch the data, and the return to the tab would then not refetch it again.
  await stopLiveUpdates(page);
  await openConsole(page, '/console');
  const facts = page.getByText('Waiting for you');
  await expect(facts).toBeVisible();
  await expect(page.getByRole('button', { name: 'Check again' })).toBeVisible();
  // The server returns 500, which is not retried.
  expectConsoleError(/500 \(Internal Server Error\)/);
  const failing = [CONSOLE_API.overview, CONSOLE_API.doctor, CONSOLE_API.product(id)];
  const fail = () =>
    page.route(
      (url) => failing.includes(url.pathname),
      (route) => route.fulfill({ status: 500, json: { code: 'internal', detail: 'It broke.' } }),
    );
  await fail();
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect(page.getByText('The last check failed. It broke.')).toBeVisible();
  await expect(page.locator('.findings')).toBeVisible();
  await refetchOnReturn(page, CONSOLE_API.overview);
  await expect(facts).toBeVisible();

  await page.unrouteAll();
  await stopLiveUpdates(page);
  await openConsole(page, `/console/products?edit=${id}`);
  const description = page.getByLabel('Description');
  await description.fill('An hour of careful writing');
  await fail();
  await refetchOnReturn(page, CONSOLE_API.product(id));
  await expect(description).toBeFocused();
  await expect(description).toHaveValue('An hour of careful writing');
  await expect(page.getByText('Loading failed')).toHaveCount(0);
});

test('a retry in the editor moves the focus to the title of the dialog', async ({ page, site, expectConsoleError }) => {
  const { id, name } = await site.addProduct();
  await signIn(page, site);
  await stopLiveUpdates(page);
  expectConsoleError(/500 \(Internal Server Error\)/);
  await failUntilClick(page, ({ pathname }) => pathname === CONSOLE_API.product(id));
  await openConsole(page, `/console/products?edit=${id}`);
  const editor = page.getByRole('dialog');
  await editor.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(editor.getByLabel('Name')).toHaveValue(name);
  await expect(editor.getByRole('heading', { name })).toBeFocused();
});

test('when another operator removes a product, its held comments disappear from the screen and from the count', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const comments = await site.addComments(product.id, [{ content: 'Buy my coins' }, { content: 'Buy my hats' }]);
  const stream = page.waitForResponse(CONSOLE_API.events);
  await signInAndOpen(page, site, '/console/queue?kind=comments');
  await stream;
  // Once the second comment is shown, the page has also finished the refetch that follows the opening of the stream.
  for (const { id, content } of comments) {
    await holdComments(site.database, [id]);
    await expect(page.getByText(content)).toBeVisible();
  }
  await expect(page.getByRole('radio', { name: 'Held comments 2' })).toBeVisible();
  await removeProducts(site.database, [product.id]);
  for (const { content } of comments) await expect(page.getByText(content)).toBeHidden();
  await expect(page.getByRole('radio', { name: 'Held comments 0' })).toBeVisible();
});

test('the message of a refused approval names the command to run, without backticks', async ({
  page,
  site,
  expectConsoleError,
}) => {
  expectConsoleError(/409/);
  const name = `Taken ${randomUUID()}`;
  const [written] = await addSubmissions(site, [name]);
  const id = written?.row.id ?? '';
  await site.addProduct({ id });
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await page.getByRole('article', { name }).getByRole('button', { name: 'Approve' }).click();
  await expect(page.locator('.toast')).toContainText(`with groundswell products remove ${id}.`);
});
