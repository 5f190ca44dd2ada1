import { afterEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { repairCounts } from '../../core/counts/check-counts.ts';
import { saveProducts } from '../../core/products/save-products.ts';
import { watchDrift } from './watch-drift.ts';

let database: TestDatabase;
afterEach(() => database.drop());

test('a drift is exported and logged by the name of its product, until it is repaired', async () => {
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' }), buildProduct({ id: 'ebb' })]);
  await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'tide'");
  const { log, text } = createLogLines();
  const watch = watchDrift(database, log, 5);
  await expect.poll(() => watch.drift()).toBe(1);
  expect(text()).toContain('"productId":"tide"');
  expect(text()).toContain('counts check --repair');
  await repairCounts(database, ['tide']);
  await expect.poll(() => watch.drift()).toBe(0);
  watch.close();
});

test('what cannot be looked at now is said, and looked at again', async () => {
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  await database.query("UPDATE product_counts SET upvotes = 9 WHERE product_id = 'tide'");
  await database.query('ALTER TABLE product_counts RENAME TO counts_away');
  const { log, text } = createLogLines();
  const watch = watchDrift(database, log, 5);
  await expect.poll(text).toContain('Counts could not be checked');
  expect(watch.drift()).toBe(0);
  await database.query('ALTER TABLE counts_away RENAME TO product_counts');
  await expect.poll(() => watch.drift()).toBe(1);
  watch.close();
});
