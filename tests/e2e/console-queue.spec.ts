import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { holdComments } from '../../src/core/comments/moderate-comments.ts';
import { editSubmission } from '../../src/core/submissions/change-submission.ts';
import { addSubmissions, holdRequests, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { holdResponses } from '../support/network.ts';
import { elementsBeyondScreen, toast } from '../support/screen.ts';

/** Returns three unique names, by which a test finds its own submissions. */
const newNames = () =>
  ['First', 'Second', 'Third'].map((name) => `${name} ${randomUUID()}`) as [string, string, string];

/** Counts the decisions that the page sends. @returns a function that reads the count. */
function countDecisions(page: Page): () => number {
  let sent = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/decide')) sent += 1;
  });
  return () => sent;
}

test('the queue keeps showing its first list when items of another kind arrive, and when the list becomes empty', async ({
  page,
  site,
}) => {
  const product = await site.addProduct();
  const [comment] = await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await holdComments(site.database, [comment?.id ?? '']);
  await signInAndOpen(page, site, '/console/queue');
  await expect(page.getByText('Buy my coins')).toBeVisible();
  await addSubmissions(site, newNames());
  await expect(page.getByRole('radio', { name: 'Submissions 3' })).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByText('Released 1 comment')).toBeVisible();
  await expect(page.getByRole('radio', { name: 'Held comments 0' })).toBeChecked();
  await expect(page.getByText('No comment is held')).toBeVisible();
});

test('a held comment that an operator hides leaves the queue', async ({ page, site }) => {
  const product = await site.addProduct();
  const [comment] = await site.addComments(product.id, [{ content: 'Buy my coins' }]);
  await holdComments(site.database, [comment?.id ?? '']);
  await signInAndOpen(page, site, '/console/queue?kind=comments');
  await expect(page.getByText('Buy my coins')).toBeVisible();
  await page.keyboard.press('d');
  await page.getByRole('dialog').getByRole('button', { name: 'Spam' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Hide' }).click();
  await expect(page.getByText('Hid 1 comment')).toBeVisible();
  await expect(page.getByText('No comment is held')).toBeVisible();
  await page.reload();
  await expect(page.getByText('No comment is held')).toBeVisible();
});

test('a submission shows its launch time until that time has passed', async ({ page, site }) => {
  const [first, second] = newNames();
  await addSubmissions(site, [first, second]);
  const setTime = (name: string, time: string) =>
    site.database.query("UPDATE submissions SET launch_at = $2 WHERE fields->>'name' = $1", [name, time]);
  await setTime(first, '2999-01-02T09:00:00Z');
  await setTime(second, '2001-01-02T09:00:00Z');
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await expect(page.getByRole('article', { name: first })).toContainText('launches 2999-01-02 09:00 UTC');
  await expect(page.getByRole('article', { name: second })).toContainText('launches once approved');
});

test('a submission without a picture is previewed with its initial, as on the site', async ({ page, site }) => {
  const name = `Untold ${randomUUID()}`;
  await addSubmissions(site, [name]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  const picture = page.getByRole('article', { name }).locator('.preview-picture');
  await expect(picture).toHaveAttribute('data-initial', 'U');
  await page.keyboard.press('a');
  await expect(page.getByText(`Approved ${name}`)).toBeVisible();
  await openConsole(page, `/console/products?q=${name}`);
  await expect(page.locator('.row-picture')).toHaveAttribute('data-initial', 'U');
});

test('held keys J and K move through the queue, but a held A approves only one submission', async ({ page, site }) => {
  const [first, second, third] = newNames();
  await addSubmissions(site, [first, second, third]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  const card = (name: string) => page.getByRole('article', { name });
  await expect(card(first)).toBeVisible();
  await page.keyboard.down('a');
  await expect(card(first)).toBeHidden();
  // Without an `up` in between, Playwright sends this `down` as the repeat of a held key.
  await page.keyboard.down('a');
  await page.keyboard.up('a');
  await expect(page.getByText(`Approved ${first}`)).toBeVisible();
  for (const move of ['j', 'k', 'k', 'j', 'j']) await page.keyboard.down(move);
  await page.keyboard.up('k');
  await page.keyboard.up('j');
  await page.keyboard.press('a');
  await expect(page.getByText(`Approved ${third}`)).toBeVisible();
  await page.reload();
  await expect(card(second)).toBeVisible();
});

test('a double click on ‘Approve’ does not approve the submission that moves under the pointer', async ({
  page,
  site,
}) => {
  const [first, second] = newNames();
  await addSubmissions(site, [first, second]);
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, '/console/queue?kind=submissions');
  const card = (name: string) => page.getByRole('article', { name });
  const approve = card(first).getByRole('button', { name: 'Approve' });
  await expect(approve).toBeVisible();
  const { x, y, width, height } = (await approve.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const tap = () => page.mouse.click(x + width / 2, y + height / 2);
  await page.clock.pauseAt(Date.now() + 60_000);
  await tap();
  await expect(async () => {
    await page.clock.runFor(20);
    await expect(card(first)).toBeHidden({ timeout: 1 });
  }).toPass({ intervals: [1] });
  await tap();
  await page.clock.resume();
  await expect(page.getByText(`Approved ${first}`)).toBeVisible();
  await page.reload();
  await expect(card(second)).toBeVisible();
  await expect(card(first)).toBeHidden();
});

test('the undo of several decisions reports those that can no longer be undone', async ({
  page,
  site,
  expectConsoleError,
}) => {
  const [first, second] = newNames();
  const [, launched] = await addSubmissions(site, [first, second]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  for (const name of [first, second]) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.keyboard.press('a');
  await expect(page.getByText('Approved 2 submissions')).toBeVisible();
  // The launch of a product with a vote cannot be undone.
  await site.addUpvotes(launched?.row.id ?? '', 1);
  expectConsoleError(/409 \(Conflict\)/);
  await page.keyboard.press('u');
  const partly = toast(page).filter({ hasText: 'Partly undone' });
  await expect(partly).toContainText(`Undone for ${first}. Failed for 1 submission. `);
  await expect(page.getByRole('article', { name: first })).toBeVisible();
  await expect(page.getByRole('article', { name: second })).toBeHidden();
});

test('a decision can be undone after the maker has moved the launch', async ({ page, site }) => {
  const [name] = newNames();
  const [written] = await addSubmissions(site, [name]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await expect(page.getByRole('article', { name })).toBeVisible();
  await page.keyboard.press('s');
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and schedule' }).click();
  await expect(page.getByText(`Scheduled ${name}`)).toBeVisible();
  await expect(page.locator('dialog')).toHaveCount(0);
  const access = { id: written?.row.id ?? '', makerKey: written?.makerKey };
  const launchAt = new Date(Date.now() + 72 * 3_600_000).toISOString();
  await editSubmission(site.database, access, { launchAt }, { now: new Date(), timeZone: 'UTC' });
  await page.keyboard.press('u');
  await expect(page.getByText('Undone', { exact: true })).toBeVisible();
  await expect(page.getByRole('article', { name })).toBeVisible();
});

for (const [where, begin] of [
  ['a message', (page: Page) => page.keyboard.press('a')],
  [
    'the open dialog',
    async (page: Page) => {
      await page.keyboard.press('s');
      await page.getByRole('dialog').getByRole('button', { name: 'Approve and schedule' }).click();
    },
  ],
] as const) {
  test(`the progress of many decisions is shown in ${where}, and the browser asks before it closes the page`, async ({
    newVisitor,
    site,
  }) => {
    const page = await newVisitor();
    const names = newNames();
    await addSubmissions(site, names);
    await signIn(page, site);
    await page.clock.install();
    await openConsole(page, '/console/queue?kind=submissions');
    for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    // Each request waits until the test continues it.
    const waiting: (() => Promise<void>)[] = [];
    await page.route('**/api/console/submissions/*/decide', (route) => void waiting.push(() => route.continue()));
    const finish = async (index: number) => {
      await expect.poll(() => waiting.length).toBe(index + 1);
      await page.clock.fastForward(1_000);
      await waiting[index]?.();
    };
    await begin(page);
    // Screen readers do not announce a text that is inserted together with its region.
    if (where === 'the open dialog') await expect(page.getByRole('dialog').getByRole('status')).toBeEmpty();
    await finish(0);
    const shown = where === 'a message' ? page.locator('.toast') : page.getByRole('dialog').getByRole('status');
    await expect(shown).toContainText(/^(?:Approving|Scheduling) 2 of 3 …/);
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const question = await asked;
    expect(question.type()).toBe('beforeunload');
    await question.dismiss();
    await finish(1);
    await finish(2);
    await expect(page.getByText(/^(?:Approved|Scheduled) 3 submissions$/)).toBeVisible();
    await expect(page.getByText(/ of 3 …/)).toHaveCount(0);
  });
}

test('cancelling many decisions stops after the current one, and a message says how many were made', async ({
  page,
  site,
}) => {
  const names = newNames();
  const [, second] = await addSubmissions(site, names);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const dialog = page.getByRole('dialog');
  const finish = await holdRequests(page, CONSOLE_API.decideSubmission(second?.row.id ?? ''));
  const sent = countDecisions(page);
  await page.keyboard.press('d');
  await dialog.getByRole('button', { name: 'Looks like spam' }).click();
  await dialog.getByRole('button', { name: 'Decline' }).click();
  await expect.poll(sent).toBe(2);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.locator('dialog')).toHaveCount(0);
  finish();
  await expect(page.getByText('Declined 2 submissions')).toBeVisible();
  await expect(page.getByText('Cancelled for 1 submission.')).toBeVisible();
  const last = page.getByRole('checkbox', { name: `Select ${names[2]}` });
  await expect(last).toBeChecked();
  expect(sent()).toBe(2);
});

test('submissions that are being decided may reappear in the list, but are not decided twice', async ({
  page,
  site,
}) => {
  const names = newNames();
  const [first] = await addSubmissions(site, names);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  for (const name of names) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const finish = await holdRequests(page, CONSOLE_API.decideSubmission(first?.row.id ?? ''));
  const sent = countDecisions(page);
  await page.keyboard.press('a');
  await expect.poll(sent).toBe(1);
  const [other] = newNames();
  await addSubmissions(site, [other]);
  await expect(page.getByRole('article', { name: other })).toBeVisible();
  await expect(page.getByRole('article', { name: names[0] })).toBeVisible();
  await page.keyboard.press('a');
  await expect(page.getByText('Still being decided')).toBeVisible();
  finish();
  await expect(page.getByText('Approved 3 submissions')).toBeVisible();
  expect(sent()).toBe(3);
});

test('a selected submission that its maker edits is deselected, so operators approve only what they saw', async ({
  page,
  site,
}) => {
  const [name, after] = newNames();
  const [written] = await addSubmissions(site, [name]);
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  const access = { id: written?.row.id ?? '', makerKey: written?.makerKey };
  await editSubmission(site.database, access, { name: after }, { now: new Date(), timeZone: 'UTC' });
  const edited = page.getByRole('checkbox', { name: `Select ${after}` });
  await expect(page.getByText('Deselected 1')).toBeVisible();
  await expect(edited).not.toBeChecked();
  await edited.check();
  await page.getByRole('region', { name: 'Selected items' }).getByRole('button', { name: 'Approve' }).click();
  await expect(page.getByText(`Approved ${after}`)).toBeVisible();
});

for (const width of [390, 1280]) {
  test(`at ${width} pixels, the kinds of items do not move when their counts arrive`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 844 });
    await addSubmissions(site, newNames());
    await signIn(page, site);
    const held = await holdResponses(page, new RegExp(`${CONSOLE_API.waiting}$`));
    await openConsole(page, '/console/queue?kind=bursts');
    const last = page.getByRole('radio', { name: 'Vote bursts' });
    const before = await last.boundingBox();
    held.release();
    await expect(page.getByRole('radio', { name: 'Submissions 3' })).toBeVisible();
    expect(await last.boundingBox()).toEqual(before);
    expect(await elementsBeyondScreen(page)).toEqual([]);
  });
}
