import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { MAX_LISTED_BURSTS, MAX_LISTED_REMOVALS } from '../../src/contract/console/records.ts';
import { holdComments, releaseComments } from '../../src/core/comments/moderate-comments.ts';
import { contrast } from '../../src/settings/accent.ts';
import {
  failUntilClick,
  openConsole,
  signIn,
  signInAndOpen,
  stopLiveUpdates,
  writeComment,
} from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { toHex } from '../support/screen.ts';

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Products' }).getByRole('listitem');

test('screens show how long ago things happened, and the ages in the audit log advance', async ({ page, site }) => {
  const createdAt = new Date(Date.now() - 3 * 3_600_000 - 60_000).toISOString();
  const { id } = await site.addProduct({ createdAt });
  await site.addComments(id, [{ content: 'Three hours old', createdAt }]);
  // Makes this backup the newest one, because the screens show the age of the newest backup.
  await site.database.query("DELETE FROM audit_log WHERE action = 'backup'");
  await site.database.query(
    "INSERT INTO audit_log (id, created_at, operator, action, target, details) VALUES ($1, $2, 'ada', 'backup', $3, '{}')",
    [randomUUID(), createdAt, id],
  );
  await signIn(page, site);
  await page.clock.install();
  for (const [path, place] of [
    ['/console', page.getByRole('definition')],
    ['/console/backup', page.getByRole('main')],
    [`/console/comments?product=${id}`, page.getByRole('listitem')],
    [`/console/audit?target=${id}`, page.getByRole('listitem')],
  ] as const) {
    await openConsole(page, path);
    await expect(place.filter({ hasText: '3 hours ago' }).first()).toBeVisible();
  }
  await page.clock.fastForward(3_600_000);
  await expect(page.getByRole('listitem').filter({ hasText: '4 hours ago' })).toBeVisible();
});

test('a scheduled product has no link to its page, which does not exist before the launch', async ({ page, site }) => {
  const createdAt = new Date(Date.now() + 3_600_000).toISOString();
  const { id, name } = await site.addProduct({ name: 'Unopened parcel', createdAt });
  await signInAndOpen(page, site, `/console/products?q=${encodeURIComponent(name)}`);
  await page.getByRole('button', { name, exact: true }).click();
  await expect(page.getByLabel('Launches')).toBeVisible();
  expect((await page.request.get(`/product/${id}`)).status()).toBe(404);
  await expect(page.locator(`a[href="/product/${id}"]`)).toHaveCount(0);
});

test('the audit log is filtered by days in UTC, as the labels say', async ({ page, site }) => {
  const operator = randomUUID();
  await site.database.query(
    "INSERT INTO audit_log (id, created_at, operator, action, target, details) VALUES ($1, '2026-01-01T23:30:00Z', $2, 'backup', 'late', '{}')",
    [randomUUID(), operator],
  );
  await signInAndOpen(page, site, `/console/audit?operator=${operator}`);
  const from = page.getByLabel('From (UTC)');
  await from.fill('2026-01-02');
  await expect(page.getByText('No entry matches')).toBeVisible();
  await from.fill('2026-01-01');
  await expect(page.getByRole('listitem').filter({ hasText: operator })).toBeVisible();
});

test('a search continues past pages without matches until the last page', async ({ page, site }) => {
  await signIn(page, site);
  const asked: (string | null)[] = [];
  await page.route(
    (url) => url.pathname === '/api/console/comments' && url.searchParams.has('text'),
    (route) => {
      const cursor = new URL(route.request().url()).searchParams.get('cursor');
      asked.push(cursor);
      const next = { '': 'second', second: 'third' }[cursor ?? ''] ?? null;
      return route.fulfill({ json: { items: [], nextCursor: next } });
    },
  );
  await openConsole(page, '/console/comments?q=rare');
  await expect(page.getByText('No comment matches')).toBeVisible();
  expect(new Set(asked)).toEqual(new Set([null, 'second', 'third']));
});

test('if a further page cannot be loaded, the list shows an error and a retry button, which returns the focus to the list', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(60, (index) => ({ name: `Paged ${index}`, tags: [tag] }));
  await signIn(page, site);
  expectConsoleError(/500 \(Internal Server Error\)/);
  const further = (url: URL) => url.pathname === '/api/console/products' && url.searchParams.has('cursor');
  await failUntilClick(page, further);
  await stopLiveUpdates(page);
  await openConsole(page, `/console/products?tag=${tag}`);
  await expect(rowsOf(page).first()).toBeVisible();
  await page
    .getByRole('button', { name: /^Paged/ })
    .last()
    .scrollIntoViewIfNeeded();
  const failure = page.getByRole('alert').filter({ hasText: 'Some rows could not be loaded.' });
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
    await expect(failure).toContainText('It broke.', { timeout: 500 });
  }).toPass();
  await failure.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(failure).toBeHidden();
  await expect(rowsOf(page).first()).toHaveAttribute('aria-setsize', '60');
  await expect(page.locator('.list-row:focus')).toHaveAttribute('data-active', 'true');
});

test('a row that moves to the previous page is shown once while its old page is reloaded', async ({ page, site }) => {
  const { id } = await site.addProduct();
  const start = Date.now();
  const createdAt = (row: number) => new Date(start - row * 1_000).toISOString();
  const texts = Array.from({ length: 60 }, (_, row) => ({ content: `Row ${row}.`, createdAt: createdAt(row) }));
  const ids = (await site.addComments(id, texts)).map((comment) => comment.id);
  await holdComments(site.database, ids);
  await signInAndOpen(page, site, `/console/comments?product=${id}&state=held`);
  await expect(page.getByText('Row 0.')).toBeVisible();
  const isFurther = /\/api\/console\/comments\?.*cursor=/;
  const first = page.waitForRequest(isFurther);
  await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
  const [, cursor] = (await first).url().split('cursor=');
  await expect(page.getByText('Row 50.')).toBeAttached();
  // Does not hold requests with the previous cursor, because live updates wait for running requests.
  const held = await holdResponses(page, new RegExp(`${isFurther.source}(?!${cursor})`));
  await releaseComments(site.database, ids.slice(0, 1));
  await expect.poll(() => held.requests.length).toBeGreaterThan(0);
  const rows = (await page.locator('.list-row').allTextContents()).flatMap((text) => text.match(/Row \d+\./) ?? []);
  expect(rows).toContain('Row 50.');
  expect(rows).toEqual([...new Set(rows)]);
  held.release();
});

test('filters do not move when the categories arrive', async ({ page, site }) => {
  const held = await holdResponses(page, new RegExp(`${CONSOLE_API.categories}$`));
  await signInAndOpen(page, site, '/console/products');
  const category = page.getByLabel('Category');
  const before = await category.boundingBox();
  held.release();
  await expect(category.getByRole('option', { name: 'Developer Tools' })).toBeAttached();
  expect(await category.boundingBox()).toEqual(before);
});

test('a category that an edit creates can be chosen as a filter', async ({ page, site }) => {
  const { name } = await site.addProduct();
  const category = `0 ${randomUUID().slice(0, 8)}`;
  await signInAndOpen(page, site, `/console/products?q=${name}`);
  const filter = page.locator('.toolbar').getByLabel('Category');
  await expect(filter.getByRole('option', { name: 'Developer Tools' })).toBeAttached();
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').getByLabel('Category').fill(category);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByText(`Saved ${name}`)).toBeVisible();
  await expect(page).not.toHaveURL(/edit=/);
  await filter.selectOption(category);
  await expect(page.getByRole('button', { name, exact: true })).toBeVisible();
});

test('the borders of filters have a contrast of at least 3 to 1 with their background', async ({ page, site }) => {
  await signIn(page, site);
  for (const path of ['/console/products', '/console/audit']) {
    await openConsole(page, path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const fields = await page.locator('.toolbar :is([type=search], [type=date], select)').evaluateAll((elements) =>
        elements.map((element) => {
          const { borderTopColor, backgroundColor } = getComputedStyle(element);
          return [borderTopColor, backgroundColor] as const;
        }),
      );
      expect(fields).toHaveLength(3);
      for (const [border, background] of fields)
        expect(contrast(toHex(border), toHex(background)), `${path}, ${colorScheme}`).toBeGreaterThanOrEqual(3);
    }
  }
});

test('a failed change is rolled back with a reason, and a list that fails to load can be retried by keyboard', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const product = await site.addProduct();
  await site.addComments(product.id, [{ content: 'Stays' }]);
  await signIn(page, site);
  await stopLiveUpdates(page);
  await openConsole(page, `/console/comments?product=${product.id}`);
  await expect(page.getByText('Stays')).toBeVisible();
  expectConsoleError(/500 \(Internal Server Error\)/);
  const broken = (url: URL) => url.pathname.startsWith('/api/console/comments');
  await page.route(broken, (route) => route.fulfill({ status: 500, json: { code: 'internal', detail: 'It broke.' } }));
  await page.getByRole('button', { name: 'Hold' }).click();
  await expect(page.getByText('It broke.')).toBeVisible();
  await expect(page.getByText('Held', { exact: true }).filter({ visible: true })).toHaveCount(1);
  await page.unroute(broken);
  await failUntilClick(page, broken);
  await page.goto(`/console/comments?product=${product.id}`);
  await expect(page.getByText('Loading failed')).toBeVisible();
  await page.getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(page.getByText('Stays')).toBeVisible();
  await expect(page.getByRole('main')).toBeFocused();
});

test('hiding a row activates the next one, which stays active even after undo restores the hidden row', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const createdAt = new Date(Date.now() - 60_000).toISOString();
  await site.addComments(product.id, [{ content: 'First' }, { content: 'Second', createdAt }]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}&state=public`);
  const first = page.getByRole('list', { name: 'Comments' }).getByText('First');
  const dialog = page.getByRole('dialog', { name: 'Hide this comment' });
  await expect(first).toBeVisible();
  await page.keyboard.press('d');
  await dialog.getByRole('button', { name: 'Hide' }).click();
  await expect(dialog).toBeHidden();
  await expect(first).toBeHidden();
  await writeComment(page, product.id, 'Newest');
  await page.keyboard.press('d');
  await expect(dialog).toContainText('Second');
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.keyboard.press('u');
  await expect(first).toBeVisible();
  await page.keyboard.press('d');
  await expect(dialog).toContainText('Second');
});

test('a full list of removals or bursts says that it may be incomplete', async ({ page, site }) => {
  const at = new Date().toISOString();
  const reply = (path: string, items: object[]) =>
    page.route(`${path}?*`, (route) => route.fulfill({ json: { items, nextCursor: null } }));
  await reply(
    CONSOLE_API.removedProducts,
    Array.from({ length: MAX_LISTED_REMOVALS }, (_, index) => ({
      ...{
        id: `tide-${index}`,
        name: 'Tide',
        upvotes: 0,
        comments: 0,
        removalId: `${index}`,
        removedAt: at,
        reason: null,
      },
    })),
  );
  await reply(
    CONSOLE_API.bursts,
    Array.from({ length: MAX_LISTED_BURSTS }, (_, index) => ({
      ...{ hour: at, productId: 'tide', productName: 'Tide', network: `${index}`, sessions: 24 },
    })),
  );
  await signInAndOpen(page, site, '/console/products?state=removed');
  await expect(page.getByText('At most the last 500 removals are listed.')).toBeVisible();
  await openConsole(page, '/console/queue?kind=bursts');
  await expect(page.getByText('At most the 100 largest bursts are listed.')).toBeVisible();
});

test('the console reserves the width of a scroll bar, so controls are at the same place on all screens', async ({
  page,
  site,
}) => {
  await signInAndOpen(page, site);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).overflowY)).toBe('scroll');
});

test('a list with a steady flow of comments is updated despite slow responses, because refetches do not cancel each other', async ({
  page,
  site,
}) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'Zero' }]);
  let waitingReads = 0;
  page.on('request', (request) => {
    if (new URL(request.url()).pathname === CONSOLE_API.waiting) waitingReads += 1;
  });
  await signInAndOpen(page, site, `/console/comments?product=${id}`);
  await expect(page.getByText('Zero')).toBeVisible();
  // The second request for the number of waiting items follows the start of the live updates.
  await expect.poll(() => waitingReads).toBeGreaterThan(1);
  const held = await holdResponses(page, /\/api\/console\/comments\?/);
  await otherVisitor(page).comment(id, 'One');
  await expect.poll(() => held.received).toBe(1);
  const before = waitingReads;
  await otherVisitor(page).comment(id, 'Two');
  // Live updates refetch both the list and the number of waiting items.
  await expect.poll(() => waitingReads).toBeGreaterThan(before);
  expect(held.requests).toHaveLength(1);
  held.release();
  await expect(page.getByText('Two')).toBeVisible();
});
