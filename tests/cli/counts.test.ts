import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveProducts } from '../../src/core/products/save-products.ts';
import { buildProduct } from '../support/build-product.ts';
import { runProgram } from '../support/program.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const check = (...flags: string[]) => runProgram(['counts', 'check', ...flags], { DATABASE_URL: database.url });

test('counts check exits 0 for correct counts, and lists wrong ones with exit code 1 until they are repaired', async () => {
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  expect(await check()).toEqual({ code: 0, stdout: 'The counts of 1 product are correct.\n', stderr: '' });
  await database.query('UPDATE product_counts SET upvotes = 7');
  const wrong = await check();
  expect(wrong).toMatchObject({ code: 1, stderr: '' });
  expect(wrong.stdout).toBe(
    'tide: 0 upvotes (stored as 7), 0 comments\nFound wrong counts for 1 of 1 product. Run `groundswell counts check --repair` to correct them.\n',
  );
  expect(JSON.parse((await check('--json')).stdout)).toMatchObject({ checked: 1, repaired: false });
  expect(await check('--repair')).toMatchObject({ code: 0, stdout: expect.stringContaining('They were corrected.') });
  expect((await check()).stdout).toBe('The counts of 1 product are correct.\n');
});

test('counts check prints the first twenty wrong counts, or all of them as JSON, including missing rows', async () => {
  await saveProducts(
    database,
    Array.from({ length: 25 }, (_, index) => buildProduct({ id: `many-${String(index).padStart(2, '0')}` })),
  );
  await database.query("DELETE FROM product_counts WHERE product_id LIKE 'many-%'");
  const { code, stdout } = await check();
  expect(code).toBe(1);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[0]).toBe('many-00: 0 upvotes (not stored), 0 comments (not stored)');
  expect(lines.slice(-2)).toEqual([
    '… and 5 more (--json lists all)',
    'Found wrong counts for 25 of 26 products. Run `groundswell counts check --repair` to correct them.',
  ]);
  expect(JSON.parse((await check('--json')).stdout).wrong).toHaveLength(25);
});
