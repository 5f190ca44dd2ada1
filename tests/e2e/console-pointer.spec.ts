import { randomUUID } from 'node:crypto';
import type { Locator } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { runAsOperator } from '../../src/core/audit/audit-log.ts';
import { OPERATOR_QUEUE, recordChange } from '../../src/core/changes/change-feed.ts';
import { hideComments } from '../../src/core/comments/moderate-comments.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { withdrawSubmission } from '../../src/core/submissions/change-submission.ts';
import type { WrittenSubmission } from '../../src/core/submissions/create-submission.ts';
import { addSubmissions, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';
import { recordRequests } from '../support/network.ts';

const names = ['First', 'Second', 'Third', 'Fourth'];

async function withdraw(site: E2eSite, { row, makerKey }: WrittenSubmission): Promise<void> {
  await withdrawSubmission(site.database, { id: row.id, makerKey }, { now: new Date(), timeZone: 'UTC' });
}

/** Returns the centre of an element in the viewport, rounded to whole pixels. */
async function middleOf(element: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
}

for (const [length, count] of [
  ['short', 2],
  ['long', 30],
] as const) {
  test(`in a ${length} list, the entry under the mouse stays in place when live updates add entries`, async ({
    page,
    site,
  }) => {
    const operator = `operator-${randomUUID()}`;
    const remove = async (name: string) => {
      const { id } = await site.addProduct({ name });
      await runAsOperator(operator, () => removeProducts(site.database, [id]));
    };
    for (let index = 0; index < count; index += 1) await remove(`Tide ${index}`);
    await signInAndOpen(page, site, `/console/audit?operator=${operator}`);
    const pointed = page.getByRole('listitem').filter({ hasText: `Tide ${count - 2}` });
    const undo = pointed.getByRole('button', { name: 'Undo' });
    await undo.hover();
    const before = await middleOf(undo);
    for (const name of ['Newer', 'Newest']) {
      await remove(name);
      await expect(page.getByRole('listitem').filter({ hasText: name })).toBeVisible();
      expect(await middleOf(undo)).toEqual(before);
    }
    await page.mouse.click(before.x, before.y);
    await expect(pointed).toContainText('Undone');
    await expect(page.getByText('Undone', { exact: true }).first()).toBeVisible();
  });
}

test('the submission under the mouse stays in place when others leave the queue, until the mouse leaves the list', async ({
  page,
  site,
}) => {
  const [first, , third] = await addSubmissions(site, names);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  const approve = page.getByRole('button', { name: 'Approve Second' });
  const row = page.getByRole('article', { name: 'First' });
  await approve.hover();
  const before = await middleOf(approve);
  const top = await middleOf(row);
  for (const submission of [first, third]) {
    if (submission) await withdraw(site, submission);
    await expect(page.getByRole('article')).toHaveCount(submission === first ? 3 : 2);
    expect(await middleOf(approve)).toEqual(before);
  }
  await page.getByRole('heading', { level: 1 }).hover();
  await expect.poll(async () => (await middleOf(page.getByRole('article', { name: 'Second' }))).y).toBe(top.y);
});

test('the comment under the mouse stays in place when a comment scrolled out of view above it becomes taller', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const comments = Array.from({ length: 20 }, (_, index) => ({
    content: `Comment ${index}.`,
    createdAt: new Date(Date.now() - index * 1_000).toISOString(),
  }));
  const written = await site.addComments(product.id, comments);
  await signInAndOpen(page, site, `/console/comments?product=${product.id}`);
  const rows = page.getByRole('listitem');
  const above = rows.filter({ hasText: 'Comment 3.' });
  const bottom = await above.evaluate((row) => row.getBoundingClientRect().bottom);
  await page.evaluate((by) => window.scrollBy(0, by), Math.ceil(bottom) + 1);
  const hide = rows.filter({ hasText: 'Comment 8.' }).getByRole('button', { name: 'Hide' });
  await hide.hover();
  const before = await middleOf(hide);
  await hideComments(site.database, [written[3]?.id ?? ''], 'word '.repeat(60).trim());
  await expect(above).toContainText('Hidden: word');
  expect(await middleOf(hide)).toEqual(before);
});

/** Moves the second submission to the first place. */
async function moveUp(site: E2eSite, [, second]: readonly WrittenSubmission[]): Promise<void> {
  const values = [second?.row.id];
  await site.database.query("UPDATE submissions SET waiting_since = now() - interval '1 day' WHERE id = $1", values);
  await recordChange(site.database, { productIds: [OPERATOR_QUEUE], catalogue: false });
}

const withdrawAt = (index: number) => async (site: E2eSite, written: readonly WrittenSubmission[]) => {
  const leaving = written[index];
  if (leaving) await withdraw(site, leaving);
};

for (const [what, move, shown, hasTouch] of [
  ['took the place of the one under the mouse', withdrawAt(1), ['First', 'Third', 'Fourth'], false],
  ['moved on a touch screen', withdrawAt(0), ['Second', 'Third', 'Fourth'], true],
  ['changed places on a touch screen', moveUp, ['Second', 'First', 'Third', 'Fourth'], true],
] as const) {
  test(`a click does not act on a submission that ${what} a moment earlier`, async ({ newVisitor, site }) => {
    const written = await addSubmissions(site, names);
    const page = await newVisitor({ viewport: { width: 1280, height: 720 }, hasTouch, isMobile: hasTouch });
    await signIn(page, site);
    await page.clock.install();
    await openConsole(page, '/console/queue?kind=submissions');
    const card = (name = '') => page.getByRole('article', { name });
    const point = await middleOf(page.getByRole('button', { name: `Approve ${names[1]}` }));
    if (!hasTouch) {
      // Clicks the row long before it leaves, so the page must not treat this click as the cause.
      await page.getByRole('checkbox', { name: `Select ${names[1]}` }).check();
      await page.mouse.move(point.x, point.y);
    }
    // The live updates reconnect only after a longer silence.
    await page.clock.pauseAt(Date.now() + 30_000);
    await move(site, written);
    await expect(async () => {
      await page.clock.runFor(20);
      expect(await card().evaluateAll((cards) => cards.map(({ ariaLabel }) => ariaLabel))).toEqual(shown);
    }).toPass({ intervals: [1] });
    const press = async () => {
      // Waits for the click event, because Playwright's tap ends before the page has handled the click.
      await page.evaluate(() => {
        const clicked = new Promise((done) => addEventListener('click', done, { capture: true, once: true }));
        Object.assign(window, { clicked: clicked.then(() => true) });
      });
      await (hasTouch ? page.touchscreen.tap(point.x, point.y) : page.mouse.click(point.x, point.y));
      await page.evaluate(() => (window as unknown as { clicked: Promise<true> }).clicked);
    };
    await press();
    await page.clock.runFor(1_000);
    await expect(card(shown[1])).toBeVisible();
    await press();
    // Checked while the clock is paused. Otherwise, the message could disappear first on a busy machine.
    await expect(page.getByText(`Approved ${shown[1]}`)).toBeVisible();
    await page.clock.resume();
    await expect(card()).toHaveCount(shown.length - 1);
  });
}

test('on a touch screen, a tap that expands a submission does not block the next tap on it', async ({
  newVisitor,
  site,
}) => {
  await addSubmissions(site, names);
  const page = await newVisitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, '/console/queue?kind=submissions');
  const card = (name: string) => page.getByRole('article', { name });
  const below = await middleOf(card('Second'));
  // The list moved while it was loading, and ignores taps for a moment afterwards.
  await page.clock.pauseAt(Date.now() + 30_000);
  await card('First').getByText('Submitted details').tap();
  await expect(async () => {
    await page.clock.runFor(5);
    expect((await middleOf(card('Second'))).y).toBeGreaterThan(below.y);
  }).toPass({ intervals: [1] });
  await card('First').getByRole('checkbox').tap();
  await expect(card('First').getByRole('checkbox')).toBeChecked();
});

test('a double click on ‘Hold’ does not press the button ‘Release’ that takes its place', async ({ page, site }) => {
  const { id } = await site.addProduct();
  await site.addComments(id, [{ content: 'Pressed twice' }]);
  await signIn(page, site);
  await page.clock.install();
  const changes = recordRequests(page, new RegExp(CONSOLE_API.moderateComments), 'POST');
  await openConsole(page, `/console/comments?product=${id}`);
  const release = page.getByRole('button', { name: 'Release' });
  const { x, y } = await middleOf(page.getByRole('button', { name: 'Hold' }));
  await page.clock.pauseAt(Date.now() + 60_000);
  await page.mouse.click(x, y);
  await expect(async () => {
    await page.clock.runFor(20);
    await expect(release).toBeVisible({ timeout: 1 });
  }).toPass({ intervals: [1] });
  await page.mouse.click(x, y);
  await page.clock.resume();
  await expect(page.getByText('Held 1 comment')).toBeVisible();
  await expect(release).toBeVisible();
  expect(changes).toHaveLength(1);
});

test('a Ctrl-click on a link to a screen opens the screen in a new tab', async ({ newVisitor, site }) => {
  const { id, name } = await site.addProduct({ name: `Tide ${randomUUID()}` });
  const page = await newVisitor();
  await signIn(page, site);
  for (const [path, link, target] of [
    ['/console', page.getByRole('link', { name: 'Audit log' }), '/console/audit'],
    // The link leads to a kind of item that waits, which depends on other tests.
    ['/console', page.getByRole('definition').getByRole('link'), /\/console\/queue(\?kind=\w+)?$/],
    [`/console/products?q=${name}`, page.getByRole('link', { name: '0 comments' }), `/console/comments?product=${id}`],
  ] as const) {
    await openConsole(page, path);
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      link.click({ modifiers: ['ControlOrMeta'] }),
    ]);
    await expect(opened).toHaveURL(target);
    await opened.getByRole('heading', { level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe(path.split('?')[0]);
  }
});

test('rows on screen stay in place when the page above them is loaded again', async ({ page, site }) => {
  const operator = randomUUID();
  await site.database.query(
    `INSERT INTO audit_log (id, created_at, operator, action, target, details)
     SELECT gen_random_uuid(), now() - number * interval '1 minute', $1, 'backup', number::text, '{}'
     FROM generate_series(1, 150) AS number`,
    [operator],
  );
  await signInAndOpen(page, site, `/console/audit?operator=${operator}`);
  await page.evaluate(() => {
    const style = new CSSStyleSheet();
    // Higher than estimated.
    style.replaceSync('.list-row { height: 1000px; }');
    document.adoptedStyleSheets = [style];
  });
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    await expect(page.locator('[aria-posinset="150"]')).toBeAttached({ timeout: 1_000 });
  }).toPass();
  /** Returns the row in the middle of the screen, once it has not moved for a frame. */
  const middleRow = () =>
    page.evaluate(async () => {
      for (let last = { place: '', top: 0 }; ; ) {
        const row = document.elementFromPoint(window.innerWidth / 2, window.innerHeight / 2)?.closest('li');
        const now = { place: row?.ariaPosInSet ?? '', top: Math.round(row?.getBoundingClientRect().top ?? 0) };
        if (row && now.place === last.place && now.top === last.top) return now;
        last = now;
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      }
    });
  const topOf = (place: string) =>
    page.evaluate((selector) => {
      const row = document.querySelector(selector);
      return row && Math.round(row.getBoundingClientRect().top);
    }, `[aria-posinset="${place}"]`);
  for (let row = await middleRow(); Number(row.place) > 90; row = await middleRow()) {
    await page.evaluate(() => window.scrollBy(0, -400));
    await expect(page.locator('.list .skeleton')).toHaveCount(0);
    await expect.poll(() => topOf(row.place)).toBe(row.top + 400);
  }
});
