import { afterEach, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { differencesOf, launch, rulesAt, vote } from '../../../tests/support/launch-site.ts';
import { withoutTimeouts } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { addComments } from '../comments/add-comments.ts';
import { prepareComment } from '../comments/prepare-comment.ts';
import type { Database, Sql } from '../database/database.ts';
import { editProduct } from '../products/edit-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { changeVerdicts, undoVerdicts } from './change-verdicts.ts';
import { finalizeDue } from './finalize.ts';
import { placeLaunch, placeLaunches } from './update-boards.ts';

const DAY = '2026-06-01';
const session = 'session-of-a-voter';
const runtime = { ...systemRuntime, now: () => new Date(`${DAY}T12:00:00.000Z`) };

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  for (const id of ['tide', 'reef']) await launch(database, id, `${DAY}T10:00:00.000Z`);
  await vote(database, 'tide', `${DAY}T11:00:00.000Z`, 'session-11');
});
afterEach(() => database.drop());

const makeTideLarge = () => database.query("UPDATE product_counts SET upvotes = 5000 WHERE product_id = 'tide'");
const finalize = () => finalizeDue(database, { rules: rulesAt('2026-06-04T00:00:00.000Z'), votesPerNetwork: 20 });
const exclude = (on: Database) =>
  changeVerdicts(on, { productId: 'tide', action: 'exclude', reason: 'bought', selection: {} }, runtime, undefined);
const upvote = (...ids: string[]) => ids.map((productId) => ({ productId, session, upvoted: true }));
const comment = (productId: string) => prepareComment(runtime, { productId, content: 'Nice' }, { session });

const writeToBoth = async () => [
  ...(await setUpvotes(database, runtime, upvote('tide', 'reef'))).outcomes,
  ...(await addComments(database, runtime, ['tide', 'reef'].map(comment))).outcomes,
];
const ONLY_REEF_WRITTEN = [{ code: 'unavailable' }, { upvotes: 1 }, { code: 'unavailable' }, { created: true }];

/** Runs `work` on other connections while the transaction that changes verdicts holds its locks on votes. */
const duringChange = (work: () => Promise<unknown>) =>
  interruptTransactions(withoutTimeouts(database), 'UPDATE retracted_upvotes', work);

test.each(['excluded', 'restored'])(
  'while the votes of a large launch are %s, only writes to that launch are refused',
  async (direction) => {
    await makeTideLarge();
    if (direction === 'restored') await exclude(database);
    let outcomes: unknown[] = [];
    const changing = duringChange(async () => {
      outcomes = await writeToBoth();
    });
    const changed = direction === 'excluded' ? exclude(changing) : undoVerdicts(changing, 'tide', runtime);
    expect(await changed).toMatchObject({ votes: 1 });
    expect(outcomes).toMatchObject(ONLY_REEF_WRITTEN);
    expect(await setUpvotes(database, runtime, upvote('tide'))).toMatchObject({ outcomes: [{ upvotes: 5_001 }] });
    expect(await addComments(database, runtime, [comment('tide')])).toMatchObject({ outcomes: [{ created: true }] });
    // So writes are not refused again if the clock moves back slightly.
    const ENDED = "SELECT bool_and(writes_paused_until < now() - interval '900 ms') AS ended FROM product_counts";
    expect(await database.query(ENDED)).toEqual([{ ended: true }]);
  },
);

test('while a large launch moves on its boards, only writes to that launch are refused', async () => {
  await makeTideLarge();
  await editProduct(database, 'tide', { values: { createdAt: `${DAY}T09:00:00Z` } }, { now: runtime.now() });
  let outcomes: unknown[] = [];
  const moving = duringChange(async () => {
    outcomes = await writeToBoth();
  });
  const rules = rulesAt(`${DAY}T12:00:00.000Z`);
  expect(await placeLaunch(moving, 'tide', rules), 'for a visitor, who would not pause writes').toBe(false);
  expect(await placeLaunches(moving, rules)).toMatchObject({ productIds: ['tide'] });
  expect(outcomes).toMatchObject(ONLY_REEF_WRITTEN);
  expect(await setUpvotes(database, runtime, upvote('tide'))).toMatchObject({ outcomes: [{ upvotes: 5_001 }] });
});

test.each([
  ['an upvote', (on: Database) => setUpvotes(on, runtime, upvote('tide'))],
  ['a comment', (on: Database) => addComments(on, runtime, [comment('tide')])],
])('%s that was skipped during a change of verdicts is refused, even if the change has ended', async (_what, write) => {
  await makeTideLarge();
  let end = () => {};
  const changed = new Promise<void>((resolve) => {
    end = resolve;
  });
  let written: ReturnType<typeof write> | undefined;
  const changing = duringChange(
    () =>
      new Promise<void>((resolve) => {
        // The change updates this table twice.
        if (written) return resolve();
        /** A connection that is slow to return from the last statement that may write. */
        const slow = (sql: Sql): Sql => ({
          async query(text, values, options) {
            const rows = await sql.query<never>(text, values, options);
            if (!text.includes('INSERT INTO') || text.includes('NOT has_decisions')) return rows;
            resolve();
            await changed;
            return rows;
          },
        });
        const transaction: Database['transaction'] = (work) => database.transaction((sql) => work(slow(sql)));
        written = write({ ...database, ...slow(database), transaction });
      }),
  );
  await exclude(changing);
  end();
  expect(await written).toMatchObject({ outcomes: [{ code: 'unavailable' }] });
});

test('votes for a launch whose result is final do not wait while the digest of its day is computed', async () => {
  await finalize();
  let outcomes: unknown[] = [];
  const computing = interruptTransactions(database, 'SET digest', async () => {
    ({ outcomes } = await setUpvotes(database, runtime, upvote('tide')));
  });
  expect(await exclude(computing)).toMatchObject({ votes: 1, revised: [DAY] });
  expect(outcomes).toMatchObject([{ upvotes: 2 }]);
  expect(await differencesOf(database, DAY)).toEqual([]);
});

test('votes for a small product of a large final day do not wait while its removal computes the digest of the day', async () => {
  await finalize();
  await database.query('UPDATE leaderboard_counts SET products = products + 500 WHERE period = $1', [DAY]);
  let outcomes: unknown[] = [];
  const computing = interruptTransactions(withoutTimeouts(database), 'SET digest', async () => {
    ({ outcomes } = await setUpvotes(database, runtime, upvote('tide', 'reef')));
  });
  expect((await removeProducts(computing, ['tide'])).removed).toHaveLength(1);
  expect(outcomes).toMatchObject([{ code: 'product_not_found' }, { upvotes: 1 }]);
});

test('a launch can be placed while a product with a recent vote is restored to a final day', async () => {
  // The vote is not on the boards yet when the product is removed.
  await setUpvotes(database, runtime, upvote('reef'));
  await removeProducts(database, ['reef']);
  await finalize();
  const now = '2026-06-04T00:00:00.000Z';
  await saveProducts(database, [buildProduct({ id: 'newest', createdAt: now })]);
  let isPlaced: boolean | undefined;
  const computing = interruptTransactions(database, 'SET digest', async () => {
    isPlaced = await placeLaunch(database, 'newest', rulesAt(now));
  });
  await restoreProducts(computing, { last: true });
  expect(isPlaced).toBe(true);
  for (const period of [DAY, '2026-06-04', '2026-06']) expect(await differencesOf(database, period)).toEqual([]);
});
