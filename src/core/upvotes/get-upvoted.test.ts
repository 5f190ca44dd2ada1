import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { LIMITS } from '../../contract/limits.ts';
import { saveProducts } from '../products/save-products.ts';
import { getUpvoted } from './get-upvoted.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    ['ebb', 'flow', 'tide'].map((id) => buildProduct({ id })),
  );
  await database.query(
    `INSERT INTO upvotes (id, product_id, user_session) VALUES (gen_random_uuid(), 'tide', 'session-a'),
       (gen_random_uuid(), 'ebb', 'session-a'), (gen_random_uuid(), 'flow', 'session-b')`,
  );
});
afterAll(() => database.drop());

test('upvoted products are returned once each, in the order of the request', async () => {
  expect(await getUpvoted(database, ['tide', 'flow', 'ebb', 'tide'], 'session-a')).toEqual({
    upvoted: ['tide', 'ebb'],
  });
  expect(await getUpvoted(database, ['tide', 'flow', 'ebb'], 'session-b')).toEqual({ upvoted: ['flow'] });
  expect(await getUpvoted(database, ['tide', 'flow', 'ebb'], 'session-c')).toEqual({ upvoted: [] });
});

test('invalid ids are skipped, and only valid ones are queried', async () => {
  const recorded = recordStatements(database);
  const names = ['Not an id', 'x\0y', ''];
  expect(await getUpvoted(recorded.database, names, 'session-a')).toEqual({ upvoted: [] });
  expect(recorded.statements).toEqual([]);
  expect(await getUpvoted(database, [...names, 'ebb'], 'session-a')).toEqual({ upvoted: ['ebb'] });
});

test('the maximum number of ids is accepted, and one more is not', async () => {
  const most = Array.from({ length: LIMITS.upvoteQueryProducts - 1 }, (_, index) => `p-${index}`);
  expect(await getUpvoted(database, [...most, 'ebb'], 'session-a')).toEqual({ upvoted: ['ebb'] });
  await expect(getUpvoted(database, [...most, 'ebb', 'ebb'], 'session-a')).rejects.toMatchObject({
    code: 'too_many_products',
    message: 'At most 100 products can be requested at once.',
  });
});
