import { CONSOLE_API } from '../../src/contract/console/paths.ts';
import { MAX_LISTED_VOTES } from '../../src/contract/console/records.ts';
import { changeVerdicts } from '../../src/core/leaderboards/change-verdicts.ts';
import { systemRuntime } from '../../src/core/runtime.ts';
import { saveUpvoteBursts } from '../../src/core/stats/upvote-bursts.ts';
import { openConsole, signIn, signInAndOpen, stopLiveUpdates } from '../support/console-page.ts';
import type { E2eSite } from '../support/e2e-site.ts';
import { expect, test } from '../support/e2e-test.ts';

/** Adds a launch with three upvotes and a burst in the current hour. `saveBurst` changes its number of sessions. */
async function addBurst(site: E2eSite) {
  const now = new Date();
  const { id: productId, name } = await site.addProduct({ createdAt: now.toISOString() });
  const hour = new Date(Math.floor(now.getTime() / 3_600_000) * 3_600_000).toISOString();
  const saveBurst = (sessions: number) =>
    saveUpvoteBursts(site.database, [{ hour, productId, network: 'one', sessions }]);
  await site.addUpvotes(productId, 3, now);
  await saveBurst(24);
  return { now, productId, name, saveBurst };
}

test('only listed votes are excluded, and an incomplete list of votes says that it is incomplete', async ({
  page,
  site,
}) => {
  const { now, productId, name } = await addBurst(site);
  await signIn(page, site);
  await stopLiveUpdates(page);
  await openConsole(page, '/console/queue?kind=bursts');
  const open = page.getByRole('button', { name: `Show votes for ${name}` });
  await open.click();
  await expect(page.getByText('Counted 3')).toBeVisible();
  await site.addUpvotes(productId, 2, now);
  const reason = page.getByLabel('Reason');
  const exclude = page.getByRole('button', { name: 'Exclude 3 votes' });
  await reason.fill('\u200b');
  await exclude.click();
  expect(await reason.evaluate((field: HTMLInputElement) => field.validity.customError)).toBe(true);
  await reason.fill('Bought votes');
  await exclude.click();
  await expect(page.getByText(/^Excluded \d votes$/)).toHaveText('Excluded 3 votes');
  await expect(page.getByRole('dialog')).toBeHidden();
  const row = page.getByRole('listitem').filter({ has: open });
  await expect(row.getByText('3 votes for this product excluded')).toBeVisible();

  const votes = Array.from({ length: MAX_LISTED_VOTES }, (_, index) => ({
    ...{ voter: index.toString(16).padStart(32, '0'), at: now.toISOString(), counted: true, reason: null },
  }));
  await page.route(`${CONSOLE_API.votes(productId)}?*`, (route) => route.fulfill({ json: { day: '', votes } }));
  // Without the reload, the page may show the list that the exclusion has refetched.
  await page.reload();
  await open.click();
  await expect(page.getByText('At most 1,000 votes of an hour are listed.')).toBeVisible();
});

test('votes that arrive while an operator decides are not excluded', async ({ page, site }) => {
  const { now, productId, name, saveBurst } = await addBurst(site);
  await signInAndOpen(page, site, '/console/queue?kind=bursts');
  const reads: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes(CONSOLE_API.votes(productId))) reads.push(request.url());
  });
  await page.getByRole('button', { name: `Show votes for ${name}` }).click();
  await expect(page.getByText('Counted 3')).toBeVisible();
  await site.addUpvotes(productId, 2, now);
  // A live update makes the page read the list of bursts again.
  await saveBurst(26);
  await expect(page.getByText('26 sessions')).toBeAttached();
  expect(reads).toHaveLength(1);
  await page.getByLabel('Reason').fill('Bought votes');
  await page.getByRole('button', { name: 'Exclude 3 votes' }).click();
  await expect(page.getByText(/^Excluded \d votes$/)).toHaveText('Excluded 3 votes');
});

test('excluding votes that another operator has already excluded says that nothing changed, and offers no undo', async ({
  page,
  site,
}) => {
  const { productId, name } = await addBurst(site);
  await signInAndOpen(page, site, '/console/queue?kind=bursts');
  await page.getByRole('button', { name: `Show votes for ${name}` }).click();
  await expect(page.getByText('Counted 3')).toBeVisible();
  const change = { productId, action: 'exclude', reason: 'A burst', selection: {} } as const;
  expect(await changeVerdicts(site.database, change, systemRuntime, undefined)).toMatchObject({ votes: 3 });
  await page.getByLabel('Reason').fill('Bought votes');
  await page.getByRole('button', { name: 'Exclude 3 votes' }).click();
  await expect(page.getByText('They were already excluded or withdrawn.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
});
