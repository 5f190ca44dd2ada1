import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LeaderboardList } from '../../src/contract/leaderboards/schema.ts';
import { tieOrder } from '../../src/core/leaderboards/calendar.ts';
import { finalizeDue } from '../../src/core/leaderboards/finalize.ts';
import { removeProducts } from '../../src/core/products/remove-products.ts';
import { launch, rulesAt, vote } from '../support/launch-site.ts';
import { startTestSite, type TestSite } from '../support/test-site.ts';

let site: TestSite;
const TIED = Array.from({ length: 11 }, (_, index) => `tied-${index}`);

beforeAll(async () => {
  site = await startTestSite();
  const { database } = site;
  // Adds launches out of order, to test that the list sorts by day.
  await launch(database, 'june', '2026-06-02T10:00:00.000Z');
  await launch(database, 'last-year', '2025-12-01T10:00:00.000Z');
  await launch(database, 'may', '2026-05-20T10:00:00.000Z');
  for (const id of TIED) {
    await launch(database, id, '2026-06-03T10:00:00.000Z');
    await vote(database, id, '2026-06-03T11:00:00.000Z', `session-of-${id}`);
  }
  await launch(database, 'loser', '2026-06-03T10:00:00.000Z');
});
afterAll(() => site.close());

const list = (query: string) => site.ask.json<LeaderboardList>(`/api/leaderboards${query}`);
const periods = ({ items }: LeaderboardList) => items.map(({ period }) => period);

test.each([
  ['', ['2026-06-03', '2026-06-02', '2026-05-20', '2025-12-01']],
  ['?kind=day', ['2026-06-03', '2026-06-02', '2026-05-20', '2025-12-01']],
  ['?kind=week', ['2026-W23', '2026-W21', '2025-W49']],
  ['?kind=month', ['2026-06', '2026-05', '2025-12']],
  ['?kind=year', ['2026', '2025']],
])('GET /api/leaderboards%s lists the periods with a launch, newest first', async (query, expected) => {
  const page = await list(query);
  expect(periods(page)).toEqual(expected);
  expect(page.nextCursor).toBeNull();
});

test('each page of the list continues where the previous one ended', async () => {
  const pages: string[][] = [];
  for (let cursor: string | null = ''; cursor !== null && pages.length < 3; ) {
    const page: LeaderboardList = await list(`?limit=2${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
    pages.push(periods(page));
    cursor = page.nextCursor;
  }
  expect(pages).toEqual([
    ['2026-06-03', '2026-06-02'],
    ['2026-05-20', '2025-12-01'],
  ]);
});

test('the list names the first ten of more than ten products that share the first rank', async () => {
  const day = '2026-06-03';
  const [top] = (await list('?limit=1')).items;
  expect(top).toMatchObject({ period: day, launches: 12 });
  const inOrder = TIED.toSorted((one, other) => (tieOrder(day, one) < tieOrder(day, other) ? -1 : 1));
  expect(top?.winners.map(({ productId }) => productId)).toEqual(inOrder.slice(0, 10));
  const { paths } = await site.ask.json<{ paths: Record<string, { get: { description: string } }> }>(
    '/api/openapi.json',
  );
  expect(paths['/api/leaderboards']?.get.description).toContain('at most ten of the products');
});

test('final days are read newest first, except a day whose launches were removed before it was final', async () => {
  await removeProducts(site.database, ['june']);
  const rules = rulesAt('2026-06-05T12:00:00.000Z');
  const { days } = await finalizeDue(site.database, { rules, votesPerNetwork: 20 });
  expect(days).toEqual(['2025-12-01', '2026-05-20', '2026-06-02']);
  expect(await site.core.readFinalDays(50)).toEqual(['2026-05-20', '2025-12-01']);
  expect(await site.core.readFinalDays(1)).toEqual(['2026-05-20']);
});
