import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { runAsOperator } from '../../src/core/audit/audit-log.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { contrast } from '../../src/settings/accent.ts';
import { addSubmissions, holdRequests, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { brokenWords, clippedRing, elementsBeyondScreen, PHONE, setTextSize, toHex } from '../support/screen.ts';

/** The smallest screen on which the console must work: 1280 by 1024 pixels at 400% zoom. */
const ZOOMED = { width: 320, height: 256 };

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Products' }).getByRole('listitem');

test('at 400% zoom, the toolbar and the navigation do not cover the list', async ({ page, site }) => {
  await page.setViewportSize(ZOOMED);
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProducts(20, (index) => ({ name: `Zoomed ${index}`, tags: [tag] }));
  await signInAndOpen(page, site, `/console/products?tag=${tag}`);
  await expect(rowsOf(page).first()).toBeVisible();
  for (let moves = 0; moves < 10; moves += 1) await page.keyboard.press('j');
  await expect(page.locator('[data-index="10"][data-active]')).toBeInViewport({ ratio: 1 });
  const shareOfList = () =>
    page.evaluate(() => {
      const heights = Array.from({ length: innerHeight }, (_, y) => y);
      const isList = (y: number) => document.elementFromPoint(innerWidth / 2, y)?.closest('.list-row') != null;
      return heights.filter(isList).length / innerHeight;
    });
  expect(await shareOfList()).toBeGreaterThan(0.9);
  await page.keyboard.press('x');
  await expect(page.getByRole('region', { name: 'Selected items' })).toBeVisible();
  expect(await shareOfList()).toBeGreaterThan(0.5);
});

test('at 400% zoom, the labels of the navigation do not overlap, and those of decisions take one line', async ({
  page,
  site,
}) => {
  await page.setViewportSize(ZOOMED);
  const name = `Zoomed ${randomUUID()}`;
  await addSubmissions(site, [name]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await expect(page.getByRole('article', { name })).toBeVisible();
  const edges = await page.locator('.nav a > span:first-of-type').evaluateAll((labels) =>
    labels.map((label) => {
      const { left, right } = label.getBoundingClientRect();
      return { left, right };
    }),
  );
  expect(edges).toHaveLength(7);
  for (const [index, { right }] of edges.entries()) expect(right).toBeLessThan(edges[index + 1]?.left ?? ZOOMED.width);
  const decisions = page.getByRole('listitem').filter({ has: page.getByRole('article', { name }) });
  const heights = await decisions
    .locator('.row-actions .button')
    .evaluateAll((buttons) => buttons.map((button) => button.clientHeight));
  expect(heights).toHaveLength(3);
  expect(Math.max(...heights), 'each label is one line').toBeLessThan(40);
});

test('on a phone at 150% text size, no word is broken, the navigation can be scrolled, and screens fit, even 320 px at 200%', async ({
  page,
  site,
}) => {
  await page.setViewportSize(PHONE);
  const name = `Enlarged ${randomUUID().slice(0, 4)}`;
  await addSubmissions(site, [name]);
  const tag = `tag-${randomUUID().slice(0, 8)}`;
  await site.addProduct({ name, tags: [tag], maker: 'Ada Lovelace' });
  await signIn(page, site);
  for (const path of ['/console', '/console/queue?kind=submissions', `/console/products?tag=${tag}`]) {
    await openConsole(page, path);
    await page.locator('.fact, .row').first().waitFor();
    const parts = page.locator('.facts, .segments, .row');
    await setTextSize(page, 150);
    expect(await elementsBeyondScreen(page), path).toEqual([]);
    for (const part of await parts.all()) expect(await brokenWords(part), path).toEqual([]);
    const last = page.locator('.nav a').last();
    await last.scrollIntoViewIfNeeded();
    await expect(last).toBeInViewport({ ratio: 1 });
    await page.setViewportSize({ width: 320, height: 640 });
    await setTextSize(page, 200);
    // The chart gets its width after the next layout.
    await expect.poll(() => elementsBeyondScreen(page), `${path}, 320 px`).toEqual([]);
    await page.setViewportSize(PHONE);
  }
});

test('on a phone at 200% text size, the editor can be closed, and no word of its title is broken', async ({
  page,
  site,
}) => {
  await page.setViewportSize(PHONE);
  const { id } = await site.addProduct({ name: 'Magnified editor' });
  await signInAndOpen(page, site, `/console/products?edit=${id}`);
  const head = page.locator('.sheet-head');
  await expect(head.getByRole('link')).toBeVisible();
  await setTextSize(page, 200);
  await expect(head.getByRole('button', { name: 'Close' })).toBeInViewport({ ratio: 1 });
  expect(await brokenWords(head)).toEqual([]);
});

test('on a wide but low screen, the whole sidebar can be reached', async ({ page, site }) => {
  await page.setViewportSize({ width: 1100, height: 400 });
  await signInAndOpen(page, site, '/console/products');
  const button = page.getByRole('button', { name: 'Sign out' });
  await button.focus();
  await expect(button).toBeInViewport({ ratio: 1 });
});

test('on a phone, the navigation shows the whole focus ring of each link', async ({ page, site }) => {
  await page.setViewportSize(PHONE);
  await signInAndOpen(page, site);
  const links = page.getByRole('navigation').getByRole('link');
  await expect(links).toHaveCount(7);
  for (const link of await links.all()) expect(await clippedRing(link)).toBe(0);
});

test('on a phone, the navigation does not cover a focused link at the bottom of the overview', async ({
  page,
  site,
}) => {
  await page.setViewportSize(PHONE);
  await signInAndOpen(page, site);
  const link = page.getByRole('link', { name: /^The whole board of/ });
  await expect(link).toBeVisible();
  const bottom = await link.evaluate((element) => element.getBoundingClientRect().bottom + scrollY);
  await page.setViewportSize({ ...PHONE, height: Math.ceil(bottom) + 4 });
  await page.evaluate(() => window.scrollTo(0, 0));
  await link.focus();
  const bottomOf = (element: Element) => element.getBoundingClientRect().bottom;
  const top = await page.getByRole('navigation').evaluate((element) => element.getBoundingClientRect().top);
  await expect.poll(() => link.evaluate(bottomOf)).toBeLessThanOrEqual(top);
});

test('buttons keep the focus during their request and after it fails', async ({ page, site, expectConsoleError }) => {
  const [written] = await addSubmissions(site, [`Kept ${randomUUID()}`]);
  await signIn(page, site);
  await page.route(CONSOLE_API.doctor, (route) => route.fulfill({ json: { findings: [] } }));
  await openConsole(page);
  const check = page.getByRole('button', { name: 'Check again' });
  await expect(check).toBeEnabled();
  await page.unroute(CONSOLE_API.doctor);
  const refusal = { status: 500, json: { code: 'internal', detail: 'It broke.' } };
  expectConsoleError(/500 \(Internal Server Error\)/);
  await page.route(CONSOLE_API.doctor, (route) => route.fulfill(refusal));
  const release = await holdRequests(page, CONSOLE_API.doctor);
  await check.press('Space');
  const checking = page.getByRole('button', { name: 'Checking …' });
  await expect(checking).toBeDisabled();
  await expect(checking).toBeFocused();
  release();
  await expect(page.getByText('The last check failed. It broke.')).toBeVisible();
  await expect(check).toBeFocused();

  await openConsole(page, '/console/queue?kind=submissions');
  await expect(page.getByRole('article')).toBeVisible();
  await page.keyboard.press('d');
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('Spam');
  await page.route(CONSOLE_API.decideSubmission(written?.row.id ?? ''), (route) => route.fulfill(refusal));
  const decline = dialog.getByRole('button', { name: 'Decline' });
  await decline.press('Space');
  await expect(dialog.getByRole('alert')).toContainText('It broke.');
  await expect(decline).toBeFocused();
});

test('in both themes, a line around the chosen option and the active entry of the palette has a contrast of at least 3 to 1', async ({
  page,
  site,
}) => {
  await signIn(page, site);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await openConsole(page, '/console/products');
    await page.keyboard.press('Control+k');
    for (const [selector, background] of [
      ['.segment input:checked + span', '.segments'],
      ['.palette-option[aria-selected="true"]', '.palette'],
    ] as const) {
      const line = await page.locator(selector).evaluate((element) => {
        const { boxShadow, outlineColor, outlineStyle } = getComputedStyle(element);
        return outlineStyle === 'none' ? (/^(rgb\(.+\)) 0px 0px 0px 1px$/.exec(boxShadow)?.[1] ?? '') : outlineColor;
      });
      const behind = await page.locator(background).evaluate((element) => getComputedStyle(element).backgroundColor);
      expect(contrast(toHex(line), toHex(behind)), `${selector}, ${colorScheme}`).toBeGreaterThanOrEqual(3);
    }
  }
});

test('in both themes, sentences and submitted texts have a contrast of at least 7 to 1', async ({ page, site }) => {
  await addSubmissions(site, [`Legible ${randomUUID()}`]);
  const { id } = await site.addProduct();
  await signIn(page, site);
  for (const [path, selector, background] of [
    ['/console/import', '.page-title p', 'html'],
    [`/console/products?edit=${id}`, '#tags-hint', '.sheet'],
    ['/console/queue?kind=submissions', 'details dd > bdi', '.list-row[data-active] > .row'],
  ] as const) {
    await openConsole(page, path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const text = await page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).color);
      const behind = await page.locator(background).evaluate((element) => getComputedStyle(element).backgroundColor);
      expect(contrast(toHex(text), toHex(behind)), `${selector}, ${colorScheme}`).toBeGreaterThanOrEqual(7);
    }
  }
});

test('on a phone, buttons that suggest reasons are at least 44 px high, and the text of an audit entry follows the operator’s name on its line', async ({
  newVisitor,
  site,
}) => {
  const [{ name }, removed] = [
    await site.addProduct({ name: `Tide ${randomUUID()}` }),
    await site.addProduct({ name: 'Tide '.repeat(20) }),
  ];
  await runAsOperator('ada', () => removeProducts(site.database, [removed.id]));
  const page = await newVisitor({ viewport: PHONE, hasTouch: true, isMobile: true });
  await signInAndOpen(page, site, `/console/audit?target=${removed.id}`);
  const entry = page.locator('.row-line');
  await expect(entry).toContainText('ada removed');
  const textLeft = await entry.evaluate((line) => {
    const range = document.createRange();
    range.selectNodeContents(line);
    range.setStartAfter(line.querySelector('button') ?? line);
    return range.getClientRects()[0]?.left ?? 0;
  });
  const operator = await entry.getByRole('button').boundingBox();
  expect(textLeft).toBeCloseTo((operator?.x ?? 0) + (operator?.width ?? 0), 0);
  await openConsole(page, `/console/products?q=${name}`);
  await page.getByRole('button', { name: `Remove ${name}` }).click();
  const suggestion = page.getByRole('button', { name: 'Spam' });
  expect((await suggestion.boundingBox())?.height).toBeGreaterThanOrEqual(44);
});

test('what visitors and makers have written in a right-to-left script runs from right to left', async ({
  page,
  site,
}) => {
  const [name, category, author] = ['سفينة C++ (2026)', 'خرائط', 'ليلى'];
  const product = await site.addProduct({ name, category, tags: [`وسم ${randomUUID()}`] });
  await site.addComments(product.id, [{ content: 'مفيد جدا', authorName: author }]);
  await signIn(page, site);
  for (const [path, texts] of [
    [`/console/products?tag=${encodeURIComponent(product.tags[0] ?? '')}`, [name, category]],
    [`/console/comments?product=${product.id}`, [name, author, 'مفيد جدا']],
  ] as const) {
    await openConsole(page, path);
    const row = page.getByRole('main').getByRole('listitem');
    for (const text of texts) {
      const written = row.getByText(text, { exact: true }).first();
      await expect(written).toHaveCSS('direction', 'rtl');
      await expect(written).toHaveCSS('unicode-bidi', 'isolate');
    }
  }
});
