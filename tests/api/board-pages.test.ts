import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { placeLaunches } from '../../src/core/leaderboards/update-boards.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { HOUR_MS } from '../../src/core/runtime.ts';
import { buildProduct } from '../support/build-product.ts';
import { canonicalOf, itemOf, metaOf, structuredDataOf, titleOf } from '../support/page-head.ts';
import { createTestClock } from '../support/test-clock.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

const now = new Date();
const day = now.toISOString().slice(0, 10);
const LAUNCHES = 23;
/** Returns the ids of the launches on a page, from top to bottom. The order of equal votes depends on the day. */
const idsOn = (html: string) => [...html.matchAll(/<article[\s\S]*?"\/product\/([\w-]+)"/g)].map(([, id]) => id);

function tabsOf(html: string): string[] {
  const [, tabs = ''] = /aria-label="Kind of period">(.*?)<\/nav>/.exec(html) ?? [];
  return [...tabs.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);
}

let site: TestSite;

beforeAll(async () => {
  const launched = Array.from({ length: LAUNCHES }, (_, index) =>
    buildProduct({ id: `wave-${index + 1}`, name: `Wave ${index + 1}.`, createdAt: now.toISOString() }),
  );
  // The site's first launch, on a Thursday.
  launched.push(buildProduct({ id: 'old', createdAt: '2026-10-01T09:00:00.000Z' }));
  site = await startTestSite({ cacheEnabled: true, launched });
  for (const visitor of ['one', 'two']) {
    await site.app.inject({
      method: 'PUT',
      url: '/api/products/wave-7/upvote',
      headers: { 'x-user-session': `session-visitor-${visitor}` },
    });
  }
});

afterAll(() => site.close());

describe('GET /?board= (api.md, Pages and files)', () => {
  test('the page of the current day ranks its launches and shows that the result is open', async () => {
    const top = async () => (await site.app.inject(`/api/leaderboards/${day}`)).json().items?.[0]?.votes;
    await expect.poll(top).toBe(2);
    const { statusCode, body } = await site.ask.get(`/?board=${day}`);
    expect(statusCode).toBe(200);
    expect(body).toMatch(/<h1[^>]*>Launches of \d+ \w+ \d{4}<\/h1>/);
    // Checks the attribute, because the text depends on whether the day has ended.
    expect(body).toContain('data-status="open"');
    expect(body).toContain(`href="/api/leaderboards/${day}/tally"`);
    expect(idsOn(body)[0]).toBe('wave-7');
    expect(canonicalOf(body)).toBe(`http://groundswell.test/?board=${day}`);
    expect(titleOf(body)).toMatch(/^Launches of .* · Groundswell$/);
    expect(itemOf(body, 'ItemList')).toMatchObject({
      numberOfItems: LAUNCHES,
      itemListElement: expect.arrayContaining([
        { '@type': 'ListItem', position: 1, name: 'Wave 7.', url: 'http://groundswell.test/product/wave-7' },
      ]),
    });
  });

  test('a plain link leads to the next page, whose canonical URL is that of the first page', async () => {
    const first = await site.ask.get(`/?board=${day}`);
    const [, href = ''] = /href="(\/\?board=[^"]*cursor=[^"]*)"/.exec(first.body) ?? [];
    const second = await site.ask.get(href.replaceAll('&amp;', '&'));
    expect(second.statusCode).toBe(200);
    expect(second.body.match(/<article/g)).toHaveLength(LAUNCHES - 20);
    expect(canonicalOf(second.body)).toBe(`http://groundswell.test/?board=${day}`);
    expect(structuredDataOf(second.body)).toEqual([]);
  });

  test('the page of a day without launches says so and is not indexed', async () => {
    const calm = new Date(now.getTime() - 36 * HOUR_MS).toISOString().slice(0, 10);
    const { statusCode, body } = await site.ask.get(`/?board=${calm}`);
    expect(statusCode).toBe(200);
    expect(body).toContain('A calm sea');
    expect(metaOf(body, 'robots')).toBe('noindex');
    expect(canonicalOf(body)).toBeUndefined();
  });

  test('the page of a final day whose only launch was removed shows an empty final result, even if a launch is scheduled', async () => {
    const clock = createTestClock(new Date('2026-03-01T12:00:00.000Z'));
    const quiet = await startTestSite({ runtime: clock });
    try {
      await quiet.addProduct({ id: 'gone', createdAt: clock.now().toISOString() });
      clock.advance({ hours: 24 * 9 });
      const rules = { now: clock.now(), timeZone: 'UTC', reviewHours: 24 };
      await placeLaunches(quiet.database, rules);
      expect((await finalizeDue(quiet.database, { rules, votesPerNetwork: 20 })).days).toEqual(['2026-03-01']);
      await removeProducts(quiet.database, ['gone']);
      await quiet.addProduct({ id: 'next', createdAt: '2026-03-20T12:00:00.000Z' });
      const { body } = await quiet.ask.get('/?board=2026-03-01');
      expect(body).toContain('data-status="final"');
      expect(body).toContain('A calm sea');
      expect(tabsOf(body)).toEqual(['/?board=2026-03-01', '/?board=2026-W09', '/?board=2026-03', '/?board=2026']);
    } finally {
      await quiet.close();
    }
  });

  test('the page of the site’s first week promises no tally for the days before the first launch', async () => {
    const { body } = await site.ask.get('/?board=2026-W40');
    expect(body).toContain('Every day with launches has an open tally, so anyone can recompute the ranks.');
    const statuses = ['2026-09-30', '2026-10-01'].map(
      async (each) => (await site.ask.get(`/api/leaderboards/${each}/tally`)).statusCode,
    );
    expect(await Promise.all(statuses)).toEqual([404, 200]);
  });

  test('each tab of the site’s first week leads to a leaderboard', async () => {
    const { body } = await site.ask.get('/?board=2026-W40');
    const links = tabsOf(body);
    expect(links).toEqual(['/?board=2026-10-04', '/?board=2026-W40', '/?board=2026-10', '/?board=2026']);
    for (const link of links) expect((await site.ask.get(link)).statusCode, link).toBe(200);
  });

  test.each(['2026-02-30', '2026-W54', 'tomorrow', '1999-12-31', '9998'])(
    'board=%s, for which no leaderboard exists, redirects to the list',
    async (period) => {
      const { statusCode, headers } = await site.ask.get(`/?board=${period}`);
      expect([statusCode, headers.location]).toEqual([302, '/']);
    },
  );

  test('board=day and board=year redirect to the current period, and invalid or unknown parameters are dropped', async () => {
    for (const kind of ['day', 'year'] as const) {
      const before = site.core.currentPeriods()[kind];
      const { location } = (await site.ask.get(`/?board=${kind}`)).headers;
      const after = site.core.currentPeriods()[kind];
      expect([before, after].map((period) => `/?board=${period}`)).toContain(location);
    }
    expect((await site.ask.get(`/?board=${day}&cursor=forged`)).headers.location).toBe(`/?board=${day}`);
    const tagOf = async (query: string) => (await site.ask.get(`/?${query}`)).headers.etag;
    // Polls, because the page may be rendered again between two requests, which changes its ETag.
    await expect
      .poll(async () => (await tagOf(`board=${day}`)) === (await tagOf(`utm_source=mail&q=wave&board=${day}`)))
      .toBe(true);
  });

  test('a new vote changes the order on the page of the leaderboard', async () => {
    const ids = async () => idsOn((await site.ask.get(`/?board=${day}`)).body);
    await expect.poll(async () => (await ids())[0]).toBe('wave-7');
    const [first, , third] = await ids();
    await site.app.inject({
      method: 'PUT',
      url: `/api/products/${third}/upvote`,
      headers: { 'x-user-session': 'session-visitor-three' },
    });
    await expect.poll(async () => (await ids()).slice(0, 2)).toEqual([first, third]);
  });
});
