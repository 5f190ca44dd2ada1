import { randomUUID } from 'node:crypto';
import type { Page } from '@playwright/test';
import * as paths from '../../src/contract/paths.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { expectAccessible } from '../support/axe.ts';
import { type E2eSite, startE2eSite } from '../support/e2e-site.ts';
import { expect, testWith, visit } from '../support/e2e-test.ts';
import { recordShifts } from '../support/layout-shifts.ts';
import { visitWithLiveUpdates } from '../support/live-page.ts';
import { failResponses, recordRequests, requestsReported } from '../support/network.ts';
import { otherVisitor } from '../support/other-visitor.ts';
import { elementsBeyondScreen, PHONE, SCREEN_VARIANTS, selectVariants, upvoteOf } from '../support/screen.ts';

/** The test function for a site whose leaderboards contain only the launches of these tests. */
const test = testWith(() => startE2eSite({ SAMPLE_CATALOGUE: 'off' }));

// Runs the tests in one worker, so the file starts only one site.
test.describe.configure({ mode: 'default' });
test.use({ live: true });
/** Noon of one day for all tests: if midnight passed between two tests, both could use the same past day. */
const NOON = new Date().setUTCHours(12);
const boardNames = (page: Page) => page.locator('.board-row-name');

/** Removes the launches of earlier tests. */
async function clearBoards({ database }: E2eSite): Promise<void> {
  const ids = (await database.query<{ id: string }>('SELECT id FROM products')).map(({ id }) => id);
  await removeProducts(database, ids);
}

interface Race {
  ids: string[];
  /** The URL of the leaderboard of the launch day. This day may end while the test runs. */
  board: string;
}

/** Adds launches at the current time with the given vote counts. They are the only ones on their leaderboards. */
async function addRace(site: E2eSite, page: Page, prefix: string, votes: readonly number[]): Promise<Race> {
  await clearBoards(site);
  const ids = votes.map(() => `race-${randomUUID()}`);
  const createdAt = new Date().toISOString();
  await site.addProducts(votes.length, (index) => ({ id: ids[index] ?? '', name: `${prefix} ${index}`, createdAt }));
  for (const [index, count] of votes.entries()) {
    const id = ids[index] ?? '';
    // The site's clock follows the database's clock, but lags behind it by the latency of its last query.
    const status = async () => (await page.request.get(paths.api.product(id))).status();
    await expect.poll(status).toBe(200);
    for (let vote = 0; vote < count; vote += 1) await otherVisitor(page).upvote(id);
  }
  return { ids, board: boardAt(createdAt) };
}

/**
 * Adds launches on a past day. Returns the URL of its leaderboard, which has two pages. Each test uses another day,
 * because pages of an earlier result may still be cached.
 */
async function addPastBoard(site: E2eSite, prefix: string, daysAgo: number): Promise<string> {
  const launch = (index: number) => new Date(NOON - daysAgo * 24 * 3_600_000 + index).toISOString();
  await site.addProducts(21, (index) => ({ id: `${prefix}-${index}`, createdAt: launch(index) }));
  return boardAt(launch(0));
}

/** Returns the URL of the leaderboard of a launch's day. */
const boardAt = (time: string) => paths.board(time.slice(0, 10));

/**
 * Waits until the first row of a leaderboard has this name, opens it, and waits until the page receives live updates.
 */
async function watchBoard(page: Page, path: string, top: string): Promise<void> {
  await expect(async () => {
    const [first] = /<article.*?<\/article>/s.exec(await (await page.request.get(path)).text()) ?? [];
    expect(first).toContain(top);
  }).toPass();
  await visitWithLiveUpdates(page, path);
}

test('another visitor’s vote moves a launch on an open leaderboard, without a reload or a layout shift', async ({
  page,
  site,
  newVisitor,
}) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  const { ids, board } = await addRace(site, page, 'Racer', [12, 11]);
  const second = ids[1] ?? '';
  const shifts = await recordShifts(page);
  await watchBoard(page, board, 'Racer 0');
  const before = (await shifts()).length;
  const voter = await newVisitor();
  await otherVisitor(voter).upvote(second);
  await otherVisitor(voter).upvote(second);
  await expect(boardNames(page).nth(0)).toHaveText('Racer 1');
  await expect(boardNames(page).nth(1)).toHaveText('Racer 0');
  await expect(upvoteOf(page, 'Racer 1')).toHaveAccessibleName('Upvote Racer 1, 13');
  await page.evaluate(() =>
    Promise.all(
      document
        .getAnimations()
        // A cancelled animation rejects its promise.
        .map(({ effect, finished }) => effect?.getTiming().iterations === 1 && finished.catch(() => {})),
    ),
  );
  // A count that changes its width shifts within its box, with a layout-shift score below 0.001.
  expect((await shifts()).slice(before).filter(({ value }) => value >= 0.001)).toEqual([]);
});

test('with reduced motion, rows change places without an animation', async ({ page, site }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.addInitScript(() => {
    const animate = Element.prototype.animate;
    Object.assign(window, { moved: 0 });
    Element.prototype.animate = function (...parameters) {
      if (this.matches('li')) Object.assign(window, { moved: (window as unknown as { moved: number }).moved + 1 });
      return animate.apply(this, parameters);
    };
  });
  const { ids, board } = await addRace(site, page, 'Calm', [18, 17]);
  const second = ids[1] ?? '';
  await watchBoard(page, board, 'Calm 0');
  await otherVisitor(page).upvote(second);
  await otherVisitor(page).upvote(second);
  await expect(boardNames(page).nth(0)).toHaveText('Calm 1');
  expect(await page.evaluate(() => (window as unknown as { moved: number }).moved)).toBe(0);
});

test('the first launch of a day appears on its empty leaderboard without a reload', async ({ page, site }) => {
  await clearBoards(site);
  // Adds an earlier launch, because otherwise an empty day would lose its leaderboard if it ended during the test.
  await site.addProduct({ name: 'Old wave', createdAt: new Date(Date.now() - 240 * 3_600_000).toISOString() });
  const createdAt = new Date().toISOString();
  const board = boardAt(createdAt);
  const empty = page.getByText(/^(No launches yet|A calm sea)$/);
  await expect.poll(async () => (await page.request.get(board)).text()).toMatch(/No launches yet|A calm sea/);
  const stream = page.waitForResponse(/\/api\/events/);
  await page.goto(board);
  expect((await stream).status()).toBe(200);
  await expect(empty).toBeVisible();
  await site.addProduct({ name: 'First wave', createdAt });
  await expect(boardNames(page)).toHaveText(['First wave']);
  await expect(empty).toBeHidden();
});

test('a row under the pointer does not move until the pointer leaves it', async ({ page, site }) => {
  const { ids, board } = await addRace(site, page, 'Holder', [15, 14]);
  const second = ids[1] ?? '';
  await watchBoard(page, board, 'Holder 0');
  await boardNames(page).getByText('Holder 1').hover();
  await otherVisitor(page).upvote(second);
  await otherVisitor(page).upvote(second);
  await expect(page.getByText('The ranks update when you leave this row')).toBeVisible();
  await expect(boardNames(page).nth(0)).toHaveText('Holder 0');
  await page.mouse.move(2, 2);
  await expect(boardNames(page).nth(0)).toHaveText('Holder 1');
});

test('the list links to the current leaderboard, whose tabs lead to other periods, and a product page shows the rank', async ({
  page,
  site,
}) => {
  const { board } = await addRace(site, page, 'Walker', [17]);
  await watchBoard(page, board, 'Walker 0');
  await visit(page, '/');
  await page.getByRole('link', { name: 'Leaderboards' }).click();
  await expect(page).toHaveURL(/\/\?board=\d{4}-\d{2}-\d{2}$/);
  // Opens the leaderboard of the launch day, because a new day may have started since.
  await visit(page, board);
  await page.getByRole('link', { name: 'Year' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Launches of \d{4}$/);
  await page.getByRole('link', { name: 'Walker 0' }).click();
  const result = page.getByRole('region', { name: 'Launch result' });
  await expect(result).toContainText(/^1st of \d+ on /);
  await result.getByText('Why 1st?').click();
  await expect(result.getByText('Counted votes', { exact: true })).toBeVisible();
  await expect(result.getByRole('link', { name: /open tally/ })).toBeVisible();
});

test('a leaderboard and an expanded calculation meet WCAG 2.2 AA and fit 320 px', async ({ page, site }) => {
  const { ids, board } = await addRace(site, page, 'Reader', [18, 18]);
  const first = ids[0] ?? '';
  await watchBoard(page, board, 'Reader');
  const opens = [
    () => visit(page, board),
    async () => {
      await visit(page, paths.product(first));
      await page.getByText('Why 1st?').click();
    },
  ];
  for (const [turn, open] of opens.entries()) {
    await page.setViewportSize(PHONE);
    await open();
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1);
    for (const { size, colorScheme } of selectVariants(SCREEN_VARIANTS, turn)) {
      await page.setViewportSize(size);
      await page.emulateMedia({ colorScheme });
      await expectAccessible(page, `${size.width} px, ${colorScheme}`);
    }
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await elementsBeyondScreen(page)).toEqual([]);
  }
});

test.describe('without live updates', () => {
  test.use({ live: false });

  test('if more launches cannot be loaded, the leaderboard says so, and the next attempt loads them', async ({
    page,
    site,
    expectConsoleError,
  }) => {
    expectConsoleError(/503/);
    expectConsoleError(/The database cannot be reached/);
    await clearBoards(site);
    const board = await addPastBoard(site, 'more', 2);
    await expect.poll(async () => (await page.request.get(board)).text()).toContain('Show more launches');
    await page.clock.install();
    const failed = await failResponses(page, /\/api\/leaderboards\/.*cursor=/, { times: 3 });
    await visit(page, board);
    const more = page.getByRole('link', { name: 'Show more launches' });
    await more.click();
    await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(1);
    await page.clock.fastForward(1_000);
    await expect.poll(() => failed.requests.length).toBeGreaterThanOrEqual(2);
    await page.clock.fastForward(2_000);
    const message = page.getByRole('alert').filter({ hasText: 'More launches could not be loaded.' });
    await expect(message).toBeVisible();
    await more.click();
    await expect(boardNames(page)).toHaveCount(21);
    await expect(message).toBeHidden();
  });

  test('a launch that repeats on the second page, because the ranks changed, appears once', async ({ page, site }) => {
    await clearBoards(site);
    const board = await addPastBoard(site, 'repeated', 3);
    await expect.poll(async () => (await page.request.get(board)).text()).toContain('Show more launches');
    await page.route(/\/api\/leaderboards\/.*cursor=/, async (route) => {
      const response = await route.fetch();
      const json = await response.json();
      await route.fulfill({ response, json: { ...json, items: [...json.items, ...json.items] } });
    });
    await visit(page, board);
    await page.getByRole('link', { name: 'Show more launches' }).click();
    await expect(boardNames(page)).toHaveCount(21);
  });

  test('the countdown of a leaderboard that was opened within the site is exact', async ({ page, site }) => {
    const { board } = await addRace(site, page, 'Timer', [1]);
    await page.clock.install();
    await visit(page, board);
    await page.clock.pauseAt(Date.now() + 50_000);
    await page.getByRole('link', { name: 'Year' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^Launches of \d{4}$/);
    const left = await page.evaluate(() => new Date(999 - Date.now()).toISOString().slice(14, 19));
    await expect(page.locator('.board-clock-time')).toHaveText(new RegExp(`${left}$`));
  });

  test('a leaderboard stays open until the site closes it, even with a fast browser clock', async ({ page, site }) => {
    const { board } = await addRace(site, page, 'Closer', [1]);
    await expect.poll(async () => (await page.request.get(board)).text()).toContain('Closer 0');
    await page.clock.install();
    await visit(page, board);
    const address = /\/api\/leaderboards\/[\d-]+(?:\?|$)/;
    const reads = recordRequests(page, address);
    // Without a next period, the leaderboard stays open to launches, even if the launch day ends during the test.
    let status: object = { nextPeriod: null };
    await page.route(address, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), ...status } });
    });
    await page.clock.fastForward(49 * 3_600_000);
    const stage = page.locator('.board-stage');
    await expect(page.locator('.board-clock-time')).toHaveText('00:00:00');
    await expect(stage).toHaveText('Open');
    await expect(page.locator('.board-row-votes')).toHaveText(/left$/);
    status = { status: 'provisional', finalAt: '2100' };
    await expect.poll(() => page.clock.fastForward(30_000).then(() => stage.textContent())).toBe('Provisional');
    await requestsReported(page);
    const before = reads.length;
    await page.clock.fastForward(60_000);
    await requestsReported(page);
    expect(reads).toHaveLength(before);
  });
});

test.describe('plain links', () => {
  test.use({ javaScriptEnabled: false });

  test('without JavaScript, visitors can page through a leaderboard and open a calculation', async ({ page, site }) => {
    await clearBoards(site);
    const path = await addPastBoard(site, 'page', 4);
    await expect(async () => {
      await page.goto(path);
      await expect(page.getByRole('article')).toHaveCount(20);
    }).toPass();
    await expect(page.getByText('Upvoting and saving need JavaScript.', { exact: true })).toBeVisible();
    await page.getByRole('link', { name: 'Show more launches' }).click();
    await expect(page.getByRole('article')).toHaveCount(1);
    await page.getByRole('article').getByRole('link').click();
    await page.getByText('How is this counted?').click();
    await expect(page.getByText('Counted votes', { exact: true })).toBeVisible();
  });
});
