import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import type { Database } from '../database/database.ts';
import { removeProducts } from './remove-products.ts';
import { saveProducts } from './save-products.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  // Makes the product large enough that writes are blocked during its removal.
  await database.query('UPDATE product_counts SET upvotes = 5000');
});
afterAll(() => database.drop());

const states = () =>
  database.query('SELECT product_id, writes_blocked_until IS NOT NULL AS closed FROM product_counts');

test('a large product whose removal fails is unchanged, and accepts upvotes again immediately', async () => {
  let closed: unknown[] = [];
  const failing: Database = {
    ...database,
    transaction: (work) =>
      database.transaction((sql) =>
        work({
          async query(text, values, options) {
            if (text.startsWith('DELETE FROM products')) {
              closed = await states();
              await sql.query('SELECT 1 / 0');
            }
            return sql.query(text, values, options);
          },
        }),
      ),
  };
  await expect(removeProducts(failing, ['tide'])).rejects.toMatchObject({ code: '22012' });
  expect(closed, 'writes were blocked during the removal').toEqual([{ product_id: 'tide', closed: true }]);
  expect(await states()).toEqual([{ product_id: 'tide', closed: false }]);
  expect(await database.query('SELECT FROM removed_products')).toEqual([]);
});
