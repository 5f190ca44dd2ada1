import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { MAX_CHANGED_IDS, recordChange } from './change-feed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a change lists its products and comments up to a limit, and is recorded as "everything changed" above it', async () => {
  const productIds = Array.from({ length: MAX_CHANGED_IDS }, (_, index) => `product-${index}`);
  const commentId = '00000000-0000-0000-0000-000000000001';
  const recordOf = async (ids: readonly string[], commentIds: readonly string[]) => {
    await database.query('DELETE FROM changes');
    await recordChange(database, { productIds: ids, catalogue: false, commentIds });
    return database.query('SELECT product_ids, catalogue, comment_ids FROM changes');
  };
  const most = productIds.slice(1);
  expect(await recordOf(most, [commentId])).toEqual([
    { product_ids: most, catalogue: false, comment_ids: [commentId] },
  ]);
  const everything = [{ product_ids: ['*'], catalogue: true, comment_ids: [] }];
  expect(await recordOf(productIds, [commentId])).toEqual(everything);
  expect(await recordOf([...productIds, 'one-more'], [])).toEqual(everything);
});
