import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { differencesOf, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { isEverything, readChanges } from '../changes/change-feed.ts';
import type { Database } from '../database/database.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { finalizeDue, isFinalizingDue } from './finalize.ts';

const DAY = '2026-06-01';
const RULES = rulesAt('2026-06-04T00:00:00.000Z');
/** More launches than one transaction may close, and more products than a change record names. */
const IDS = Array.from({ length: 1_501 }, (_, index) => `p-${index}`);

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    IDS.map((id) => buildProduct({ id, createdAt: `${DAY}T10:00:00.000Z` })),
  );
});
afterEach(() => database.drop());

const finalize = (on: Database) => finalizeDue(on, { rules: RULES, votesPerNetwork: 20 });
const openWindows = async () =>
  (await database.query("SELECT FROM product_counts WHERE window_from <> '-infinity'")).length;
const upvote = (productId: string, session: string) =>
  setUpvotes(database, { ...systemRuntime, now: () => RULES.now }, [{ productId, session, upvoted: true }]);

test('votes for a launch do not wait while its day becomes final, or while the windows of other launches are closed', async () => {
  const outcomes: unknown[] = [];
  const finalizing = interruptTransactions(database, 'UPDATE leaderboards SET digest', async () => {
    outcomes.push(...(await upvote('p-0', 'session-during')).outcomes);
  });
  // Votes for the last launch while the first batch is closed, then for the first launch while the last batch is
  // closed.
  const waiting = ['p-999', 'p-0'];
  const closing = interruptTransactions(finalizing, "SET window_from = '-infinity'", async () => {
    outcomes.push(...(await upvote(waiting.shift() ?? '', 'session-after')).outcomes);
  });
  expect(await finalize(closing)).toMatchObject({ days: [DAY] });
  expect(outcomes).toMatchObject([{ upvotes: 1 }, { upvotes: 1 }, { upvotes: 2 }]);
  expect(await openWindows()).toBe(0);
  const changes = await readChanges(database, { cursor: undefined, overlapMs: 0, seen: [] }, 60_000);
  expect(changes?.records.some(isEverything)).toBe(true);
});

test('windows that a killed process left open are closed by a later run', async () => {
  const killed = interruptTransactions(database, "SET window_from = '-infinity'", () =>
    Promise.reject(new Error('killed')),
  );
  await expect(finalize(killed)).rejects.toThrow('killed');
  expect([await openWindows(), await isFinalizingDue(database, RULES)]).toEqual([IDS.length, true]);
  expect(await finalize(database)).toMatchObject({ days: [] });
  expect([await openWindows(), await isFinalizingDue(database, RULES)]).toEqual([0, false]);
  await vote(database, 'p-0', `${DAY}T15:00:00.000Z`, 'session-after-the-clock-was-set-back');
  expect(await differencesOf(database, DAY)).toEqual([]);
});
