import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { CoreError } from '../core-error.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemSources } from '../sources.ts';
import { setUpvotes, type UpvoteChange } from './set-upvotes.ts';

const PRODUCTS = ['ebb', 'flow', 'tide'];
const SESSIONS = ['session-a', 'session-b', 'session-c', 'session-d'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await saveProducts(
    database,
    PRODUCTS.map((id) => buildProduct({ id })),
  );
});
afterAll(() => database.drop());

/** What upvotes are, in the simplest words: a set of pairs. */
function applyToModel(model: Set<string>, { productId, session, upvoted }: UpvoteChange) {
  if (!PRODUCTS.includes(productId)) return 'product_not_found';
  if (upvoted) model.add(`${productId} ${session}`);
  else model.delete(`${productId} ${session}`);
  return { upvoted, upvotes: [...model].filter((pair) => pair.startsWith(`${productId} `)).length };
}

const change = fc.record<UpvoteChange>({
  productId: fc.constantFrom(...PRODUCTS, 'unknown', 'Not an id'),
  session: fc.constantFrom(...SESSIONS),
  upvoted: fc.boolean(),
});

test('batches of changes answer and store what the same changes would one after the other', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { minLength: 1, maxLength: 25 }), { maxLength: 6 }), async (batches) => {
      await database.query('DELETE FROM upvotes');
      await database.query('UPDATE product_counts SET upvotes = 0');
      const model = new Set<string>();
      for (const batch of batches) {
        const outcomes = await setUpvotes(database, systemSources, batch);
        const expected = batch.map((one) => applyToModel(model, one));
        expect(outcomes.map((outcome) => (outcome instanceof CoreError ? outcome.code : outcome))).toEqual(expected);
      }
      const rows = await database.query<{ pair: string }>(
        "SELECT product_id || ' ' || user_session AS pair FROM upvotes",
      );
      expect(new Set(rows.map(({ pair }) => pair))).toEqual(model);
      const counts = await database.query<{ product_id: string; upvotes: number }>(
        'SELECT product_id, upvotes FROM product_counts ORDER BY product_id',
      );
      expect(counts).toEqual(
        PRODUCTS.map((id) => ({
          product_id: id,
          upvotes: [...model].filter((pair) => pair.startsWith(`${id} `)).length,
        })),
      );
    }),
    { numRuns: 60 },
  );
});
