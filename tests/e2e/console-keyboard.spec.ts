import { randomUUID } from 'node:crypto';
import type { Locator, Page } from '@playwright/test';
import { editSubmission, withdrawSubmission } from '../../src/core/submissions/change-submission.ts';
import { addSubmissions, openConsole, signIn, signInAndOpen, writeComment } from '../support/console-page.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { closeDialogLate, DESKTOP, PHONE } from '../support/screen.ts';

/** Allows for rounding, because the browser scrolls by whole pixels. */
const ROUNDING_PX = 1;

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Products' }).getByRole('listitem');

/** Opens a list of new products, and waits for its first row. */
async function openProducts(page: Page, site: E2eSite, count: number): Promise<void> {
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(count, (index) => ({ name: `Keyed ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  await expect(rowsOf(page).first()).toBeVisible();
}

for (const [what, size, below] of [
  ['the toolbar', DESKTOP, undefined],
  ['the toolbar and the navigation of a phone', PHONE, 'Console'],
  ['the toolbar and the bar of selected items on a phone', PHONE, 'Selected items'],
] as const) {
  test(`the keys J and K do not move the active row behind ${what}`, async ({ page, site }) => {
    await page.setViewportSize(size);
    await openProducts(page, site, 30);
    if (below === 'Selected items') await page.keyboard.press('x');
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).boundingBox();
      return { top: box?.y ?? 0, bottom: (box?.y ?? 0) + (box?.height ?? 0) };
    };
    const edge = below === undefined ? size.height : (await boxOf(`[aria-label="${below}"]`)).top;
    // After a move, the list measures new rows, and corrects its position in the next frames.
    const expectActive = (index: number, minTop: number) =>
      expect(async () => {
        const { top, bottom } = await boxOf(`[data-index="${index}"][data-active]`);
        expect(top).toBeGreaterThan(minTop - ROUNDING_PX);
        expect(bottom).toBeLessThan(edge + ROUNDING_PX);
      }).toPass();
    for (let moves = 0; moves < 20; moves += 1) await page.keyboard.press('j');
    await expectActive(20, edge - size.height / 2);
    for (let moves = 0; moves < 15; moves += 1) await page.keyboard.press('k');
    await expectActive(5, (await boxOf('.toolbar')).bottom);
  });
}

test('the Tab key does not move the focus behind the toolbar and the navigation of a phone', async ({ page, site }) => {
  await page.setViewportSize(PHONE);
  await openProducts(page, site, 30);
  await page.getByRole('checkbox').first().focus();
  const covered: string[] = [];
  for (const key of [...Array(30).fill('Tab'), ...Array(20).fill('Shift+Tab')]) {
    await page.keyboard.press(key);
    const isCovered = await page.evaluate((roundingPx) => {
      const edgesOf = (element: Element | null) => element?.getBoundingClientRect() ?? new DOMRect();
      const { top, bottom } = edgesOf(document.activeElement);
      const { bottom: start } = edgesOf(document.querySelector('.toolbar'));
      const { top: end } = edgesOf(document.querySelector('.side nav'));
      return top < start - roundingPx || bottom > end + roundingPx;
    }, ROUNDING_PX);
    if (isCovered) covered.push(key);
  }
  expect(covered).toEqual([]);
});

test('after a choice in a segmented control, shortcuts work and the arrow keys still choose', async ({
  page,
  site,
}) => {
  await openProducts(page, site, 2);
  await page.getByRole('radio', { name: 'Launched' }).check();
  await page.keyboard.press('d');
  const dialog = page.getByRole('dialog', { name: 'Remove Keyed 1' });
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
  await page.getByRole('radio', { name: 'Launched' }).focus();
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: 'Scheduled' })).toBeChecked();
});

test('in a list without checkboxes, the key X selects nothing, so D acts on the active row', async ({ page, site }) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'Held first' }, { content: 'Held last' }]);
  const operator = `op-${randomUUID().slice(0, 8)}`;
  await signIn(page, site, operator);
  await openConsole(page, `/console/comments?product=${id}`);
  const held = () =>
    site.database.query('SELECT content FROM comments WHERE product_id = $1 AND held_session IS NOT NULL', [id]);
  for (const content of ['Held first', 'Held last']) {
    const row = page.getByRole('listitem').filter({ hasText: content });
    await row.getByRole('button', { name: 'Hold' }).click();
    await expect.poll(held).toContainEqual({ content });
  }
  await openConsole(page, `/console/audit?operator=${operator}`);
  await expect(page.getByRole('list', { name: 'Entries' }).getByRole('listitem')).toHaveCount(2);
  for (const key of ['x', 'j', 'd']) await page.keyboard.press(key);
  await expect(page.getByText('Undone', { exact: true }).first()).toBeVisible();
  await expect.poll(held).toEqual([{ content: 'Held last' }]);
});

test('in forced colours, a border marks the active row', async ({ page, site }) => {
  await page.emulateMedia({ forcedColors: 'active' });
  await openProducts(page, site, 2);
  const borders = await page
    .locator('.list-row > .row')
    .evaluateAll((rows) => rows.map((row) => getComputedStyle(row).borderInlineStartColor));
  expect(new Set(borders).size).toBe(2);
});

test('with the focus on a checkbox, shortcuts work and Space toggles it, and Enter follows a focused link', async ({
  page,
  site,
}) => {
  const { id, name, tags } = await site.addProduct({ tags: [randomUUID()] });
  await signInAndOpen(page, site, `/console/products?tag=${tags[0]}`);
  const box = page.getByRole('checkbox', { name: `Select ${name}` });
  await box.click();
  await page.keyboard.press('d');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
  await page.keyboard.press('g');
  await page.keyboard.press('Space');
  await expect(box).not.toBeChecked();
  await page.getByRole('link', { name: `View ${name} on the site` }).press('Enter');
  await expect(page).toHaveURL(`/product/${id}`);
});

test('after live updates have added rows above, keys still act on the active row, and a range of selected rows still has its start', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const content = `Long comment ${'x'.repeat(1_000)}`;
  const createdAt = new Date(Date.now() - 60_000).toISOString();
  await site.addComments(product.id, [
    { content, createdAt },
    { content: 'Oldest', createdAt: product.createdAt },
  ]);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  await expect(page.getByText('Oldest')).toBeVisible();
  await page.keyboard.press('x');
  for (const content of ['Second', 'Newest']) await writeComment(page, product.id, content);
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+X');
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(2);
  await page.keyboard.press('Escape');
  await page.keyboard.press('k');
  await page.keyboard.press('d');
  const dialog = page.getByRole('dialog', { name: 'Hide this comment' });
  await expect(dialog).toContainText(`${content.slice(0, 200)} … by Somebody.`);
  await dialog.getByRole('button', { name: 'Hide' }).click();
  await expect(page.getByText('Hid 1 comment')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'Long comment' })).toContainText('Hidden');
});

/** Opens a queue of these submissions, and pauses the page's clock before the live updates seem dead and reconnect. */
async function openStoppedQueue(page: Page, site: E2eSite, names: readonly string[]) {
  const written = await addSubmissions(site, names);
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, '/console/queue?kind=submissions');
  const card = (name = '') => page.getByRole('article', { name });
  await expect(card()).toHaveCount(names.length);
  await page.clock.pauseAt(Date.now() + 30_000);
  const untilShown = async (name: string) =>
    expect(async () => {
      await page.clock.runFor(20);
      await expect(card().first()).toHaveAccessibleName(name, { timeout: 1 });
    }).toPass({ intervals: [1] });
  return { written, card, untilShown };
}

for (const [what, next, change] of [
  ['a submission that took the place of the active one', 'Unread B', withdrawSubmission],
  [
    'a version that the maker saved',
    'Edited A',
    (...[database, access, rules]: Parameters<typeof withdrawSubmission>) =>
      editSubmission(database, access, { name: 'Edited A' }, rules),
  ],
] as const) {
  test(`a key does not act on ${what} a moment earlier`, async ({ page, site }) => {
    const names = ['Read A', 'Unread B', 'Unread C'];
    const { written, card, untilShown } = await openStoppedQueue(page, site, names);
    const [first] = written;
    await change(
      site.database,
      { id: first?.row.id ?? '', makerKey: first?.makerKey },
      { now: new Date(), timeZone: 'UTC' },
    );
    await untilShown(next);
    await page.keyboard.press('a');
    await page.clock.runFor(1_000);
    await expect(card().first()).toHaveAccessibleName(next);
    await page.keyboard.press('a');
    await page.clock.resume();
    await expect(page.getByText(`Approved ${next}`)).toBeVisible();
    await expect(card('Unread C')).toBeVisible();
    await expect(card()).toHaveCount(next === 'Edited A' ? 2 : 1);
  });
}

test('keys pressed in quick succession act on one submission each', async ({ page, site }) => {
  const names = ['Spam A', 'Spam B', 'Spam C'];
  const { card, untilShown } = await openStoppedQueue(page, site, names);
  for (const next of ['Spam B', 'Spam C']) {
    await page.keyboard.press('a');
    await untilShown(next);
  }
  await page.clock.resume();
  await expect(page.getByText('Approved Spam B')).toBeVisible();
  await expect(card()).toHaveCount(1);
});

test('the palette can be opened again before the browser has reported that it was closed', async ({ page, site }) => {
  await signInAndOpen(page, site);
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('combobox', { name: 'Jump to' });
  await expect(palette).toBeFocused();
  const reportClose = await closeDialogLate(page);
  await page.keyboard.press('Control+k');
  await expect(palette).toBeFocused();
  await reportClose();
  await expect(palette).toBeFocused();
});

test('keys of an input method neither run a command of the palette nor clear a search', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/products');
  /** Sends a key as Safari does when it ends a composition. @returns whether the page leaves the key to the browser. */
  const pressInComposition = (field: Locator, key: string) =>
    field.evaluate((input, init) => input.dispatchEvent(new KeyboardEvent('keydown', init)), {
      key,
      keyCode: 229,
      bubbles: true,
      cancelable: true,
    });
  const search = page.getByRole('searchbox');
  await search.fill('tide');
  await pressInComposition(search, 'Escape');
  await expect(search).toHaveValue('tide');
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('combobox', { name: 'Jump to' });
  await palette.fill('audit');
  expect(await pressInComposition(palette, 'Enter')).toBe(true);
  await expect(palette).toBeFocused();
});

test('spaces around a search term stay in the field but are not searched for', async ({ page, site }) => {
  await signInAndOpen(page, site, '/console/comments');
  const search = page.getByRole('searchbox');
  await search.pressSequentially(' tide ');
  await expect(page).toHaveURL('/console/comments?q=tide');
  await expect(search).toHaveValue(' tide ');
});

/** Searches for a new product in the palette, and holds the response. */
async function searchInPalette(page: Page, site: E2eSite) {
  const name = `Tide ${randomUUID()}`;
  await site.addProduct({ name });
  await signInAndOpen(page, site, '/console/backup');
  const held = await holdResponses(page, /\/api\/console\/products\?q=/);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: 'Jump to' }).fill(name);
  return { name, held };
}

test('the active entry of the palette stays active and in place when products arrive', async ({ page, site }) => {
  const { name, held } = await searchInPalette(page, site);
  const comments = page.getByRole('option', { name: `Comments with “${name}”` });
  const before = await comments.boundingBox();
  await page.keyboard.press('ArrowDown');
  await expect(comments).toHaveAttribute('aria-selected', 'true');
  held.release();
  await expect(page.getByRole('option')).toHaveCount(2);
  expect(await comments.boundingBox()).toEqual(before);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/console\/comments\?q=Tide/);
});

test('Enter in the palette opens the best match, and does nothing while the search for products runs', async ({
  page,
  site,
}) => {
  const { name, held } = await searchInPalette(page, site);
  await expect(page.getByRole('option', { name: `Comments with “${name}”` })).toBeVisible();
  await page.keyboard.press('Enter');
  held.release();
  await expect(page.getByRole('option', { selected: true })).toContainText(name);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('dialog', { name: `Edit ${name}` })).toBeVisible();
});
