import { randomUUID } from 'node:crypto';
import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { utcMinute } from '../../src/contract/text.ts';
import { addScreenshot, editSubmission } from '../../src/core/submissions/change-submission.ts';
import { declineSubmission, scheduleSubmission } from '../../src/core/submissions/decide-submission.ts';
import { inspectSubmission } from '../../src/core/submissions/list-submissions.ts';
import { addSubmissions, holdRequests, openConsole, signIn, signInAndOpen } from '../support/console-page.ts';
import { expect, test } from '../support/e2e-test.ts';
import { elementsBeyondScreen, PHONE } from '../support/screen.ts';

const newName = () => `Limpet ${randomUUID()}`;
const rules = () => ({ now: new Date(), timeZone: 'UTC' });
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);

test('the pictures of a submission, and those that its maker changed after the approval, can be opened on a phone', async ({
  page,
  site,
}) => {
  await page.setViewportSize(PHONE);
  const name = newName();
  const [written] = await addSubmissions(site, [name]);
  const id = written?.row.id ?? '';
  const access = { id, makerKey: written?.makerKey };
  await addScreenshot(site.database, access, '/pictures/placeholder.svg', rules());
  await scheduleSubmission(site.database, { id }, inHours(1), rules());
  await addScreenshot(site.database, access, '/pictures/avatar-default.svg', rules());
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  const card = page.getByRole('article', { name });
  await expect(card).toContainText('Edited after its approval');
  const [before, after] = [card.getByRole('deletion'), card.getByRole('insertion')];
  await expect(before.getByRole('link')).toHaveCount(1);
  await expect(after.getByRole('link')).toHaveCount(2);
  await card.getByText('Submitted details').click();
  const screenshot = card.locator('details').getByRole('link', { name: 'Screenshot 2' });
  await expect(screenshot.getByRole('img')).toHaveJSProperty('complete', true);
  expect(await elementsBeyondScreen(page)).toEqual([]);
  const opened = page.waitForEvent('popup');
  await screenshot.click();
  await expect(await opened).toHaveURL(/\/pictures\/avatar-default\.svg$/);
});

test('a submission that was approved earlier shows its details, its launch time and that no field has changed', async ({
  page,
  site,
}) => {
  const name = newName();
  const [written] = await addSubmissions(site, [name]);
  const id = written?.row.id ?? '';
  await scheduleSubmission(site.database, { id }, inHours(1), rules());
  await declineSubmission(site.database, { id }, 'Another day', rules());
  const launchAt = inHours(2).toISOString();
  await editSubmission(site.database, { id, makerKey: written?.makerKey }, { launchAt }, rules());
  await signIn(page, site);
  await page.clock.install({ time: inHours(3) });
  await openConsole(page, '/console/queue?kind=submissions');
  const card = page.getByRole('article', { name });
  await expect(card).toContainText('Same details as when approved');
  await card.getByText('Submitted details').click();
  await expect(card.locator('details')).toContainText('Unknown Maker');
  await expect(card.locator('details')).toContainText(/Listed since\d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  // This time can be chosen, although it has passed by the browser's clock.
  await expect(card).toContainText(`launches ${utcMinute(launchAt)} UTC`);
  await card.getByRole('button', { name: 'Schedule' }).click();
  const time = page.getByLabel('Launches (UTC)');
  await expect(time).toHaveValue(launchAt.slice(0, 16));
  await expect(time).toHaveJSProperty('validity.valid', true);
});

test('a submission that is scheduled without a change of the time launches at the second that its maker chose', async ({
  page,
  site,
}) => {
  const name = newName();
  const [written] = await addSubmissions(site, [name]);
  const id = written?.row.id ?? '';
  const launchAt = `${inHours(48).toISOString().slice(0, 16)}:42.678Z`;
  await editSubmission(site.database, { id, makerKey: written?.makerKey }, { launchAt }, rules());
  await signInAndOpen(page, site, '/console/queue?kind=submissions');
  await page.getByRole('article', { name }).getByRole('button', { name: 'Schedule' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Approve and schedule' }).click();
  await expect(page.getByText(`Scheduled ${name}`)).toBeVisible();
  expect(await inspectSubmission(site.database, id, rules())).toMatchObject({ status: 'scheduled', launchAt });
});

test('the rows of a queue of several pages keep their heights while their page is not loaded', async ({
  page,
  site,
}) => {
  const names = Array.from({ length: 70 }, newName);
  await addSubmissions(site, names);
  await signIn(page, site);
  await page.clock.install();
  await openConsole(page, '/console/queue?kind=submissions');
  const card = (name = '') => page.getByRole('article', { name });
  await expect(card(names[0])).toBeVisible();
  await page.evaluate(() => {
    const style = new CSSStyleSheet();
    style.replaceSync('.list-row { max-height: 100px; overflow: hidden; }');
    document.adoptedStyleSheets = [style];
  });
  for (const name of names) await card(name).scrollIntoViewIfNeeded();
  await page.locator('[data-index="69"] [data-row-focus]').focus();
  await expect(page.locator('[data-active]').filter({ has: card(names[69]) })).toBeInViewport();
  // After a minute, the cache no longer contains the first page, so its rows are placeholders until it is reloaded.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  const release = await holdRequests(page, `${CONSOLE_API.submissions}?limit=50`);
  await page.clock.fastForward(61_000);
  for (let row = 69; row > 44; row -= 1) await page.keyboard.press('k');
  await expect(page.locator('[data-active] .skeleton-row')).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height);
  release();
  await expect(page.locator('[data-active]').filter({ has: card(names[44]) })).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height);
});
