import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { browseAudit } from '../audit/audit-log.ts';
import { LARGE_CHANGE_ROWS } from '../counts/block-writes.ts';
import type { Database } from '../database/database.ts';
import { inspectProduct } from '../products/get-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { undoEntry } from './undo-entry.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('undoing the restoration of a product with many votes has no statement timeout, even if it had none when restored', async () => {
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
