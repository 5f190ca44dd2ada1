import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { lines, openImportHarness } from '../../../tests/support/import-harness.ts';
import type { TestDatabase } from '../../../tests/support/test-database.ts';
import { undo } from '../../../tests/support/undo.ts';
import { browseAudit } from '../audit/audit-log.ts';
import { removeSample } from '../catalogue/remove-sample.ts';
import { LARGE_CHANGE_ROWS } from '../counts/block-writes.ts';
import type { Database } from '../database/database.ts';
import { editProduct } from '../products/edit-product.ts';
import { inspectProduct } from '../products/get-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { launchOf, saveProducts } from '../products/save-products.ts';
import { DAY_MS, systemRuntime } from '../runtime.ts';
import { undoEntry } from './undo-entry.ts';

let harness: Awaited<ReturnType<typeof openImportHarness>>;
let database: TestDatabase;
beforeAll(async () => {
  harness = await openImportHarness();
  database = harness.database;
});
afterAll(() => harness.close());

test('undoing the restoration of a product with many votes has no statement timeout, even if the votes were cast after the restoration', async () => {
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  await removeProducts(database, ['tide']);
  await restoreProducts(database, { productIds: ['tide'] });
  const [entry] = (await browseAudit(database, { limit: 1 })).items;
  expect(entry).toMatchObject({ action: 'products restore', details: { upvotes: 0 } });
  await database.query('UPDATE product_counts SET upvotes = $1', [LARGE_CHANGE_ROWS]);
  const connection = {
    database: { ...database, transaction: () => Promise.reject(new Error('canceling statement due to timeout')) },
    withoutStatementTimeout: <Result>(work: (on: Database) => Promise<Result>) => work(database),
  };
  await undoEntry(connection, entry?.id ?? '', { runtime: systemRuntime, timeZone: 'UTC', votesPerNetwork: 20 });
  expect((await inspectProduct(database, 'tide')).product).toBeNull();
});

test('undoing a restoration is refused if a later removal of the sample removed the product, but not if it removed others', async () => {
  const [mine, sample] = [buildProduct({ id: 'mine' }), buildProduct({ id: 'sample' })];
  await saveProducts(database, [mine, sample]);
  await removeProducts(database, ['mine', 'sample']);
  const { auditIds } = await restoreProducts(database, { productIds: ['mine', 'sample'] });
  const loadedAt = { now: new Date().toISOString(), timeZone: 'UTC' };
  const catalogue = { loadedAt, products: [sample], comments: [], upvotes: [] };
  await removeSample(database, catalogue, { engagementOnly: false });
  await saveProducts(database, [buildProduct({ id: 'sample', name: 'Successor' })]);
  await undo(database, auditIds[0]);
  await expect(undo(database, auditIds[1])).rejects.toMatchObject({ code: 'not_undoable' });
  expect((await inspectProduct(database, 'mine')).product).toBeNull();
  expect((await inspectProduct(database, 'sample')).product?.name).toBe('Successor');
});

const SELECT_LAUNCH = `SELECT created_at, launch_date, launched_at, window_from FROM products
  JOIN launches ON launches.product_id = id JOIN product_counts ON product_counts.product_id = id WHERE id = $1`;

test.each<[string, (id: string, createdAt: string) => Promise<{ auditId: string | null }>]>([
  ['edit', (id, createdAt) => editProduct(database, id, { values: { createdAt } }, { now: new Date() })],
  ['import', (id, createdAt) => harness.run(lines({ id, createdAt }))],
])('undoing an %s that made a product miss its launch time launches the product at once', async (_, change) => {
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
  const [begun, missed, now] = [inDays(-1), inDays(1), inDays(5)];
  const runtime = { ...systemRuntime, now: () => now };
  for (const [launchAt, expected] of [
    [missed, now],
    [begun, begun],
  ] as const) {
    const id = randomUUID();
    await saveProducts(database, [buildProduct({ id, ...launchOf(launchAt, 'Asia/Tokyo') })]);
    const { auditId } = await change(id, inDays(10).toISOString());
    await undo(database, auditId, { runtime, timeZone: 'Asia/Tokyo' });
    const { launchDate } = launchOf(expected, 'Asia/Tokyo');
    const launch = { created_at: expected, launch_date: launchDate, launched_at: expected };
    expect(await database.query(SELECT_LAUNCH, [id])).toEqual([{ ...launch, window_from: expected }]);
  }
});
