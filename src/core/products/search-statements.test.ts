import { expect, onTestFinished, test } from 'vitest';
import { isCitus } from '../../../tests/support/is-citus.ts';
import { makeProducts, storeProducts } from '../../../tests/support/many-products.ts';
import { recordStatements } from '../../../tests/support/recording-database.ts';
import { createTestDatabase } from '../../../tests/support/test-database.ts';
import { scanWindow } from './search-statements.ts';

// On Citus, the plans are those of the shards.
const testPlan = test.skipIf(isCitus);

testPlan('a scan stops after its probe if the probe has few matches', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  // The term 'twentieth' matches every twentieth product, and 'last' matches only the second newest product.
  const describeProduct = (n: number) => (n % 20 === 4 ? 'twentieth' : n === 399 ? 'last' : '');
  await storeProducts(
    database,
    makeProducts(400, (n) => ({ description: describeProduct(n), tags: [] })),
  );
  const { database: recorded, statements } = recordStatements(database);
  const scannedRows = async (term: string, sort: 'newest' | 'top') => {
    const range = { term, tag: '', now: new Date(), sort, cursor: '', maxMatches: 30 };
    const size = { rows: 200, probe: { rows: 100, minMatches: 2 } };
    const { rows, end } = await scanWindow(recorded, range, size);
    const { text, values } = statements.at(-1) ?? { text: '', values: [] };
    const plan = await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (ANALYZE, COSTS OFF) ${text}`, values);
    const scanned = /CTE scanned\n.* rows=(\d+)/.exec(plan.map((line) => line['QUERY PLAN']).join('\n'));
    return { matches: rows.length, scanned: Number(scanned?.[1]), end: end?.at(-1) };
  };
  expect(await scannedRows('last', 'newest')).toEqual({ matches: 1, scanned: 100, end: 'p-00301' });
  expect(await scannedRows('twentieth', 'newest')).toEqual({ matches: 10, scanned: 200, end: 'p-00201' });
  expect(await scannedRows('nothing', 'top')).toMatchObject({ matches: 0, scanned: 100 });
  expect(await scannedRows('twentieth', 'top')).toMatchObject({ matches: 20, scanned: 200 });
});
