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

test('right counts are said to be right; wrong ones are named with exit code 1 until they are set right', async () => {
  await saveProducts(database, [buildProduct({ id: 'tide' })]);
  expect(await check()).toEqual({ code: 0, stdout: 'The counts of 1 product are right.\n', stderr: '' });
  await database.query('UPDATE product_counts SET upvotes = 7');
  const wrong = await check();
  expect(wrong).toMatchObject({ code: 1, stderr: '' });
  expect(wrong.stdout).toBe(
    'tide: 0 upvotes, stored as 7, 0 comments\nOf 1 product, 1 had wrong counts. Run it with --repair to set them right.\n',
  );
  expect(JSON.parse((await check('--json')).stdout)).toMatchObject({ checked: 1, repaired: false });
  expect(await check('--repair')).toMatchObject({ code: 0, stdout: expect.stringContaining('They are set right.') });
  expect((await check()).stdout).toBe('The counts of 1 product are right.\n');
});

test('of many, the first twenty are named, and all of them as JSON; a row that is missing is one', async () => {
  await saveProducts(
    database,
    Array.from({ length: 25 }, (_, index) => buildProduct({ id: `many-${String(index).padStart(2, '0')}` })),
  );
  await database.query("DELETE FROM product_counts WHERE product_id LIKE 'many-%'");
  const { code, stdout } = await check();
  expect(code).toBe(1);
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(22);
  expect(lines[0]).toBe('many-00: 0 upvotes, stored as nothing, 0 comments, stored as nothing');
  expect(lines.slice(-2)).toEqual([
    '… and 5 more (--json names all)',
    'Of 26 products, 25 had wrong counts. Run it with --repair to set them right.',
  ]);
  expect(JSON.parse((await check('--json')).stdout).wrong).toHaveLength(25);
});
