import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch, rulesAt, tallyOf } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { finalizeDue } from './finalize.ts';
import { getLeaderboard } from './get-leaderboard.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('final periods without launches keep their results when the first launch of the site is removed', async () => {
  const now = '2026-04-01T00:00:00.000Z';
  const rules = rulesAt(now);
  const add = async (id: string, day: string) => {
    await launch(database, id, `${day}T10:00:00.000Z`, now);
    await finalizeDue(database, { rules, votesPerNetwork: 20 });
  };
  const read = async () => ({
    day: await getLeaderboard(database, '2026-03-05', {}, rules),
    week: await getLeaderboard(database, '2026-W09', {}, rules),
    tally: await tallyOf(database, '2026-03-05', now),
  });
  await add('first', '2026-02-01');
  await add('second', '2026-03-10');
  const before = await read();
  const empty = { status: 'final', revision: 0, launches: 0 };
  expect(before).toMatchObject({ day: empty, week: empty, tally: expect.stringContaining('2026-03-05') });

  await removeProducts(database, ['first']);
  expect(await read()).toEqual(before);
  expect(await getLeaderboard(database, '2026-01-31', {}, rules)).toBeNull();

  await add('late', '2026-03-05');
  const { day } = await read();
  expect(day).toMatchObject({ status: 'final', revision: 1, launches: 1 });
  expect(day?.digest).not.toBe(before.day?.digest);
});
