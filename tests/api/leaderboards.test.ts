import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
const now = new Date();
const day = now.toISOString().slice(0, 10);
beforeAll(async () => {
  site = await startTestSite({ cacheEnabled: true });
});
afterAll(() => site.close());

const vote = (id: string, session: string, address: string) =>
  site.app.inject({
    method: 'PUT',
    url: `/api/products/${id}/upvote`,
    headers: { 'x-user-session': session },
    remoteAddress: address,
  });

test('a vote changes the order of the launches on a leaderboard, and the standing of a product has its rank', async () => {
  const createdAt = now.toISOString();
  await site.addProduct({ id: 'first', name: 'First', createdAt });
  await site.addProduct({ id: 'second', name: 'Second', createdAt });
  await vote('second', 'session-voter-1', '192.0.2.1');
  const board = async () => (await site.app.inject(`/api/leaderboards/${day}`)).json();
  await expect.poll(async () => (await board()).items?.[0]).toMatchObject({ productId: 'second', rank: 1, votes: 1 });
  expect(await board()).toMatchObject({
    period: day,
    kind: 'day',
    status: 'open',
    launches: 2,
    revision: 0,
    digest: null,
  });
  const standing = (await site.app.inject('/api/products/first/standing')).json();
  expect(standing.day).toMatchObject({
    rank: 2,
    tied: false,
    launches: 2,
    above: { productId: 'second', votes: 1 },
    below: null,
  });
  const list = (await site.app.inject('/api/leaderboards?kind=year')).json();
  expect(list.items).toEqual([
    expect.objectContaining({
      period: day.slice(0, 4),
      launches: 2,
      winners: [{ productId: 'second', name: 'Second', votes: 1 }],
    }),
  ]);
});

test('votes of one network beyond the cap are included in the upvotes, but do not count on leaderboards', async () => {
  await site.addProduct({ id: 'crowded', createdAt: now.toISOString() });
  for (let index = 0; index < 25; index += 1) await vote('crowded', `session-crowd-${index}`, '192.0.2.7');
  await vote('crowded', 'session-elsewhere', '192.0.2.8');
  const standing = async () => (await site.app.inject('/api/products/crowded/standing')).json();
  await expect.poll(async () => (await standing()).day?.votes).toBe(21);
  expect((await standing()).day).toMatchObject({ upvotes: 26, excluded: [{ reason: 'network', votes: 5 }] });
  const stored = await site.database.query<{ network: string }>(
    "SELECT DISTINCT network FROM upvotes WHERE product_id = 'crowded'",
  );
  expect(stored).toHaveLength(2);
  expect(JSON.stringify(stored)).not.toContain('192.0');
});

test('an invalid period is rejected with 400, and a period that cannot have a leaderboard with 404', async () => {
  expectProblem(await site.app.inject('/api/leaderboards/2026-02-30'), 400, 'bad_period');
  expectProblem(await site.app.inject('/api/leaderboards/1999-12-31'), 404, 'period_not_found');
  expectProblem(await site.app.inject('/api/leaderboards/9998'), 404, 'period_not_found');
  expectProblem(await site.app.inject('/api/products/unknown/standing'), 404, 'product_not_found');
  expectProblem(await site.app.inject(`/api/leaderboards/${day}?cursor=x`), 400, 'bad_cursor');
});

/** Makes the board updater find no launches, so it does not place them. */
function stopPlacing(): void {
  const { query } = site.database;
  vi.spyOn(site.database, 'query').mockImplementation((text, ...rest) =>
    text.includes('ORDER BY launched_at DESC') ? Promise.resolve([]) : query(text, ...rest),
  );
}

test('a product has a standing as soon as it has launched', async () => {
  // Otherwise, the request would wait only a second while the updater places the launch.
  stopPlacing();
  await site.addProduct({ id: 'newborn', createdAt: new Date().toISOString() });
  const { day: standing } = (await site.app.inject('/api/products/newborn/standing')).json();
  expect(standing).toMatchObject({ votes: 0, upvotes: 0, status: 'open' });
});

test('the standing of a product that is not on its leaderboards yet is 404, and the error says so', async () => {
  stopPlacing();
  await site.addProduct({ id: 'imported', createdAt: '2020-01-01T00:00:00.000Z' });
  const response = await site.app.inject('/api/products/imported/standing');
  expectProblem(response, 404, 'product_not_found', 'This product has no standing yet.');
});
