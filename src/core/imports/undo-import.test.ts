import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { lines, openImportHarness } from '../../../tests/support/import-harness.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { planOfProduct, shrinkProducts } from '../../../tests/support/query-plan.ts';
import { withoutTimeouts } from '../../../tests/support/recording-database.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { undo as undoOn } from '../../../tests/support/undo.ts';
import { listAudit } from '../audit/audit-log.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';

let harness: Awaited<ReturnType<typeof openImportHarness>>;
beforeAll(async () => {
  harness = await openImportHarness();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

/** Imports these rows. @returns the id of the import's entry in the audit log. */
async function importRows(...rows: object[]): Promise<string> {
  await harness.run(lines(...rows));
  return (await listAudit(harness.database, { limit: 1 }))[0]?.id ?? '';
}

const undo = (id: string, on: Database = harness.database) => undoOn(on, id);

const undos = async () =>
  (await listAudit(harness.database, { limit: 9 })).filter(({ action }) => action === 'import undo');

const waitForBlocked = (count: number) =>
  vi.waitUntil(async () => (await blockedStatements(harness.database)).length === count, 60_000);

test('if an operator removes a new product of an import while the import is being undone, the other new products are removed', async () => {
  const id = await importRows({ id: 'a' }, { id: 'b' }, { id: 'c' });
  const { operations } = await harness.database.transaction(async (sql) => {
    await lockCounts(sql, ['b']);
    const removal = removeProducts(harness.database, ['b']);
    await waitForBlocked(1);
    const undoing = undo(id);
    await waitForBlocked(2);
    return { operations: [removal, undoing] };
  });
  await Promise.all(operations);
  expect(await harness.ids()).toEqual([]);
  expect(await undos()).toMatchObject([{ undoes: id, details: { removed: 2, reverted: 0, skipped: 1 } }]);
});

test('undoing an import keeps an edit that is committed while the undo waits for the product', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'a', name: 'Old' })]);
  const id = await importRows({ id: 'a', name: 'Imported' }, { id: 'b' });
  const { undoing } = await harness.database.transaction(async (sql) => {
    await sql.query("UPDATE products SET name = 'Edited' WHERE id = 'a'");
    const undoing = undo(id);
    await waitForBlocked(1);
    return { undoing };
  });
  await undoing;
  expect((await harness.product('a'))?.name).toBe('Edited');
  expect(await undos()).toMatchObject([{ undoes: id, details: { removed: 1, reverted: 0, skipped: 1 } }]);
});

test('if the original time of a postponed launch passes while the undo of the import waits, the product launches at once', async () => {
  const clock = createTestClock(new Date());
  const inHours = (hours: number) => new Date(clock.now().getTime() + hours * 3_600_000).toISOString();
  await saveProducts(harness.database, [buildProduct({ id: 'a', createdAt: inHours(1) })]);
  const id = await importRows({ id: 'a', createdAt: inHours(100) });
  const { undoing } = await harness.database.transaction(async (sql) => {
    await lockCounts(sql, ['a']);
    const undoing = undoOn(harness.database, id, { runtime: clock });
    await waitForBlocked(1);
    clock.advance({ hours: 2 });
    return { undoing };
  });
  await undoing;
  expect(await harness.database.query('SELECT created_at FROM products')).toEqual([{ created_at: clock.now() }]);
});

test('an import whose products have all changed since is not undone, so it can be undone after the later changes', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'a', name: 'Old' })]);
  const [first, second] = [await importRows({ id: 'a', name: 'First' }), await importRows({ id: 'a', name: 'Second' })];
  await expect(undo(first)).rejects.toMatchObject({ code: 'not_undoable' });
  expect(await undos()).toEqual([]);
  await undo(second);
  await undo(first);
  expect((await harness.product('a'))?.name).toBe('Old');
});

test('undoing a restoration is refused if its product is gone and another product has the id', async () => {
  const id = await importRows({ id: 'a' });
  await removeProducts(harness.database, ['a']);
  await restoreProducts(harness.database, { last: true });
  const [restoration] = await listAudit(harness.database, { limit: 1 });
  await undo(id);
  await saveProducts(harness.database, [buildProduct({ id: 'a', name: 'Successor' })]);
  await expect(undo(restoration?.id ?? '')).rejects.toMatchObject({ code: 'not_undoable' });
  expect((await harness.product('a'))?.name).toBe('Successor');
});

test('restoring the last removal restores the product that an operator removed, not those that undoing an import removed later', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'mine' })]);
  const id = await importRows({ id: 'a' });
  await removeProducts(harness.database, ['mine']);
  await undo(id);
  const last = () => restoreProducts(harness.database, { last: true });
  expect(await last()).toMatchObject({ restored: [{ id: 'mine' }] });
  expect(await last()).toMatchObject({ restored: [] });
  expect(await harness.ids()).toEqual(['mine']);
});

test('undoing an import that an older version made sets the fields that were added since to their defaults', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'a', name: 'Old' })]);
  const id = await importRows({ id: 'a', name: 'Imported' });
  await harness.database.query("UPDATE import_changes SET before = before - 'maker' WHERE import_id = $1", [id]);
  await undo(id);
  expect(await harness.product('a')).toMatchObject({ name: 'Old', maker: 'Unknown Maker' });
});

test('two simultaneous undos of an import undo it only once', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'a', name: 'Old' })]);
  const id = await importRows({ id: 'a', name: 'Imported' }, { id: 'b' });
  const { undoing } = await harness.database.transaction(async (sql) => {
    await sql.query("SELECT FROM products WHERE id = 'a' FOR UPDATE");
    const undoing = Promise.allSettled([undo(id), undo(id)]);
    await waitForBlocked(2);
    return { undoing };
  });
  const results = await undoing;
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(results).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'not_undoable' }) });
  expect(await harness.ids()).toEqual(['a']);
  expect((await harness.product('a'))?.name).toBe('Old');
  expect(await undos()).toMatchObject([{ undoes: id, details: { removed: 1, reverted: 1, skipped: 0 } }]);
});

test('votes do not wait while undoing an import removes a product, schedules one again and reverts many others', async () => {
  const ids = Array.from({ length: 600 }, (_, index) => `wave-${index}`);
  const scheduled = { id: 'scheduled', createdAt: '2999-01-01T00:00:00.000Z' };
  await importRows({ id: 'other' }, scheduled, ...ids.map((id) => ({ id, name: 'Old' })));
  const launched = { ...scheduled, createdAt: '2026-01-01T00:00:00.000Z' };
  const id = await importRows({ id: 'new' }, launched, ...ids.map((id) => ({ id, name: 'New' })));
  const votes = ['new', 'scheduled', 'other'].map((productId) => ({
    productId,
    session: 'session-of-a-voter',
    upvoted: true,
  }));
  let outcomes: unknown[] = [];
  const reverting = interruptTransactions(withoutTimeouts(harness.database), 'INSERT INTO products', async () => {
    outcomes = (await setUpvotes(harness.database, systemRuntime, votes)).outcomes;
  });
  await undo(id, reverting);
  expect(outcomes).toMatchObject([{ code: 'product_not_found' }, { code: 'product_not_found' }, { upvotes: 1 }]);
  expect(await undos()).toMatchObject([{ details: { removed: 1, reverted: 601, skipped: 0 } }]);
});

// On Citus, the plans are those of the shards.
const testPlan = test.skipIf(isCitus);

testPlan(
  'after many products of an undone import are restored, other processes replan statements that they had prepared for a small table',
  async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => ({ id: `wave-${index}` }));
    await undo(await importRows(...rows));
    await importRows({ id: 'tide' });
    await shrinkProducts(harness.database);
    const connection = openDatabase({ url: harness.database.url, log: silentLog, maxConnections: 1 });
    expect(await planOfProduct(connection, 'tide')).toMatch(/Seq Scan on products/);
    await restoreProducts(harness.database, { productIds: rows.map(({ id }) => id) });
    expect(await planOfProduct(connection, 'wave-7')).not.toMatch(/Seq Scan/);
    await connection.close();
  },
);

test('undoing an import skips a product that has been removed and created again, and removes one that has been restored', async () => {
  const first = await importRows({ id: 'a', name: 'A' }, { id: 'b', name: 'B' });
  await removeProducts(harness.database, ['a', 'b']);
  await importRows({ id: 'a', name: 'A' });
  await restoreProducts(harness.database, { productIds: ['b'] });
  await undo(first);
  expect(await harness.ids()).toEqual(['a']);
  expect(await undos()).toMatchObject([{ details: { removed: 1, skipped: 1 } }]);
});
