import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { formatInstant } from '../../src/contract/leaderboards/format.ts';
import { type BadgeBoard, badgePath } from '../../src/contract/paths/badge.ts';
import * as paths from '../../src/contract/paths.ts';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { restoreProducts } from '../../src/core/products/restore-products.ts';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { headElements, itemOf } from '../support/page-head.ts';
import { newVisitor } from '../support/requests.ts';
import { createTestClock } from '../support/test-clock.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const clock = createTestClock(new Date('2026-06-03T12:00:00.000Z'));
const DAY = '2026-06-03';

let site: TestSite;
const standing = async () => (await site.ask.get(paths.api.standings('best'))).json();
const badge = async (board?: BadgeBoard) => (await site.ask.get(badgePath('best', 'light', board))).body;

beforeAll(async () => {
  site = await startTestSite({ runtime: clock });
  for (const id of ['best', 'second', 'third']) {
    await site.addProduct({ id, name: `The <${id}>`, createdAt: clock.now().toISOString() });
  }
  for (const [id, votes] of [
    ['best', 3],
    ['second', 2],
    ['third', 2],
  ] as const) {
    for (let index = 0; index < votes; index += 1) {
      await site.app.inject({
        method: 'PUT',
        url: paths.api.upvote(id),
        headers: { 'x-user-session': `session-of-voter-${index}` },
      });
    }
  }
});

afterAll(() => site.close());

describe('before a day is final', () => {
  test('the badge of the day shows the upvotes, and neither the feed nor structured data contains a rank', async () => {
    await expect.poll(async () => (await standing()).day?.votes).toBe(3);
    expect(await badge('day')).toBe(await badge());
    expect((await site.ask.get(paths.leaderboardFeed)).body).not.toContain('<entry>');
    expect(itemOf((await site.ask.get(paths.product('best'))).body, 'SoftwareApplication')).not.toHaveProperty('award');
  });
});

describe('once a day is final', () => {
  beforeAll(async () => {
    clock.advance({ hours: 24 * 4 });
    const rules = { now: clock.now(), timeZone: 'UTC', reviewHours: 24 };
    expect((await finalizeDue(site.database, { rules, votesPerNetwork: 20 })).days).toEqual([DAY]);
  });

  test('the badge of the day shows the rank, and the badges of the week and the month still show the upvotes', async () => {
    expect(await badge('day')).toContain(
      '<title id="title">The &lt;best&gt;: 1st of 3 on 3 June 2026 on Groundswell</title>',
    );
    for (const board of ['week', 'month'] as const) expect(await badge(board)).toBe(await badge());
  });

  test('the feed contains the top launches of the day, including ties, and the digest, and pages link to the feed', async () => {
    const { digest } = (await site.ask.get(paths.api.leaderboard(DAY))).json();
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    const { body, headers } = await site.ask.get(paths.leaderboardFeed);
    expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8');
    expect(body.match(/<entry>/g)).toHaveLength(1);
    expect(body).toContain('<title>Launches of 3 June 2026</title>');
    expect(body.match(/li value=&quot;2&quot;/g)).toHaveLength(2);
    expect(body).toContain('The &amp;lt;best&amp;gt;');
    expect(body).toContain(digest);
    const feeds = headElements((await site.ask.get('/')).body, 'link').map(({ href }) => href);
    expect(feeds).toContain(`http://groundswell.test${paths.leaderboardFeed}`);
  });

  test('the product’s page shows the final rank as text and as an award, and the ranks so far in longer periods', async () => {
    const { body } = await site.ask.get(paths.product('best'));
    expect(itemOf(body, 'SoftwareApplication').award).toEqual(['1st of 3 on 3 June 2026']);
    const text = body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    expect(text).toContain('1st of 3 on 3 June 2026 Why 1st?');
    expect(text).toContain('1st of 3 in June 2026 , so far');
  });

  test('the leaderboard of the day shows the digest, and that the day is final', async () => {
    const { digest } = (await site.ask.get(paths.api.leaderboard(DAY))).json();
    const { body } = await site.ask.get(paths.board(DAY));
    expect(body).toContain('>Final</strong>');
    expect(body).toContain(String(digest).replace('sha256:', ''));
  });
});

describe('once the week, the month and the year are final', () => {
  beforeAll(async () => {
    clock.advance({ hours: 24 * 365 });
    const rules = { now: clock.now(), timeZone: 'UTC', reviewHours: 24 };
    const { periods } = await finalizeDue(site.database, { rules, votesPerNetwork: 20 });
    expect(periods.toSorted()).toEqual(['2026', '2026-06', '2026-W23']);
  });

  test('the badges of the week and the month show the rank, but there is no badge of the year', async () => {
    expect(await badge('week')).toContain('1st of 3 in week 23 of 2026 on Groundswell</title>');
    expect(await badge('month')).toContain('1st of 3 in June 2026 on Groundswell</title>');
    const ofYear = await site.ask.get(`${badgePath('best')}?board=year`);
    expect([ofYear.statusCode, ofYear.body]).toEqual([200, await badge()]);
  });

  test('the results of the first day remain available, as a revision, while all products of the site are removed', async () => {
    await removeProducts(site.database, ['best', 'second', 'third']);
    for (const period of [DAY, '2026-W23', '2026-06', '2026']) {
      const board = (await site.ask.get(paths.api.leaderboard(period))).json();
      expect(board).toMatchObject({ status: 'final', revision: 1, launches: 0, items: [] });
    }
    const { digest, revisedAt } = (await site.ask.get(paths.api.leaderboard(DAY))).json();
    const tally = (await site.ask.get(`/api/leaderboards/${DAY}/tally`)).body;
    expect(digest).toBe(`sha256:${createHash('sha256').update(tally).digest('hex')}`);
    const { body } = await site.ask.get(paths.board(DAY));
    expect(body).toContain('>Final</strong>');
    expect(body).toContain(`The result was last revised on ${formatInstant(revisedAt)}: this is revision 1.`);
    const feed = (await site.ask.get(paths.leaderboardFeed)).body;
    expect(feed.match(/<entry>/g)).toHaveLength(1);
    for (const text of ['<summary>0 launches.</summary>', 'Revision 1 of this result', digest]) {
      expect(feed).toContain(text);
    }
    await restoreProducts(site.database, { last: true });
  });
});

test('the calculation of a result states the current cap until the day is final, and then the cap that was applied', async () => {
  const ownClock = createTestClock(new Date('2026-06-03T12:00:00.000Z'));
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const open = await startTestSite({ runtime: ownClock, databaseOf: { database } });
  await open.addProduct({ id: 'capped', createdAt: ownClock.now().toISOString() });
  for (const voter of ['one', 'two', 'three']) {
    const headers = { 'x-user-session': `session-of-voter-${voter}` };
    await open.app.inject({ method: 'PUT', url: paths.api.upvote('capped'), headers });
  }
  await expect
    .poll(async () => (await open.core.getStandings('capped'))?.day)
    .toMatchObject({ votes: 3, votesPerNetwork: 20 });
  // Closes the site, because it could apply its own cap while the result becomes final with another cap.
  await open.close();
  ownClock.advance({ hours: 24 * 4 });
  const rules = { now: ownClock.now(), timeZone: 'UTC', reviewHours: 24 };
  await finalizeDue(database, { rules, votesPerNetwork: 2 });
  const final = await startTestSite({ runtime: ownClock, databaseOf: { database } });
  onTestFinished(() => final.close());
  const { day, year } = (await final.core.getStandings('capped')) ?? {};
  expect([day, year]).toMatchObject([
    { status: 'final', votes: 2, votesPerNetwork: 2 },
    { status: 'open', votes: 2, votesPerNetwork: 2 },
  ]);
  expect((await final.ask.get(paths.product('capped'))).body).toContain('At most 2 votes from one network count');
});

test('a cached final leaderboard is read again after a vote for one of its launches, but not after other votes', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const now = new Date('2026-06-10T12:00:00.000Z');
  const rules = { now, timeZone: 'UTC', reviewHours: 24 };
  await saveProducts(database, [
    buildProduct({ id: 'final', createdAt: '2026-06-03T12:00:00.000Z' }),
    buildProduct({ id: 'open', createdAt: '2026-06-10T11:00:00.000Z' }),
  ]);
  await placeLaunches(database, rules);
  await finalizeDue(database, { rules, votesPerNetwork: 20 });
  const cached = await startTestSite({ runtime: createTestClock(now), databaseOf: { database }, cacheEnabled: true });
  onTestFinished(() => cached.close());
  const read = vi.spyOn(cached.core, 'getLeaderboard');
  const readsAfterVote = async (id: string) => {
    await cached.ask.put(paths.api.upvote(id), newVisitor());
    expect((await cached.ask.get(paths.api.leaderboard(DAY))).json()).toMatchObject({ status: 'final', launches: 1 });
    return read.mock.calls.length;
  };
  expect([await readsAfterVote('final'), await readsAfterVote('open'), await readsAfterVote('final')]).toEqual([
    1, 1, 2,
  ]);
});

describe('two launches that share the first rank', () => {
  const twinClock = createTestClock(new Date('2026-06-03T12:00:00.000Z'));
  let twins: TestSite;
  const setUpvote = (method: 'PUT' | 'DELETE', id: string, voter: string) =>
    twins.app.inject({ method, url: paths.api.upvote(id), headers: { 'x-user-session': `session-of-voter-${voter}` } });

  beforeAll(async () => {
    twins = await startTestSite({ runtime: twinClock });
    for (const id of ['gained', 'lost']) {
      await twins.addProduct({ id, name: `Twin ${id}`, createdAt: twinClock.now().toISOString() });
      await setUpvote('PUT', id, 'one');
      // Waits until the launch is placed. A board updater that placed it later, but with the time from before the clock
      // moved, would delete the withdrawn vote, as if the launch window were still open.
      await vi.waitUntil(async () => (await twins.core.getStandings(id)) !== null, 60_000);
    }
    twinClock.advance({ hours: 25 });
    for (const voter of ['two', 'three']) await setUpvote('PUT', 'gained', voter);
    await setUpvote('DELETE', 'lost', 'one');
  });

  afterAll(() => twins.close());

  test('are listed with the votes outside the window that are subtracted or added', async () => {
    const text = async () => (await twins.ask.get(paths.board(DAY))).body.replaceAll(/<[^>]+>/g, ' ');
    await expect.poll(text).toMatch(/Twin gained(?:(?!Twin).)*Outside the first 24 hours − 2/s);
    await expect.poll(text).toMatch(/Twin lost(?:(?!Twin).)*Withdrawn after the first 24 hours \+ 1/s);
  });

  test('are both named as first in the feed', async () => {
    twinClock.advance({ hours: 48 });
    const rules = { now: twinClock.now(), timeZone: 'UTC', reviewHours: 24 };
    await finalizeDue(twins.database, { rules, votesPerNetwork: 20 });
    const { body } = await twins.ask.get(paths.leaderboardFeed);
    expect(body).toMatch(/2 launches\. First: Twin (?:gained, Twin lost|lost, Twin gained)\./);
  });
});
