import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { lines, openImportHarness } from '../../../tests/support/import-harness.ts';
import { undoEntry } from '../console/undo-entry.ts';
import { editProduct } from '../products/edit-product.ts';
import { saveProducts } from '../products/save-products.ts';
import { DAY_MS, systemRuntime } from '../runtime.ts';
import { listModeration } from './moderation-log.ts';

let harness: Awaited<ReturnType<typeof openImportHarness>>;
beforeAll(async () => {
  harness = await openImportHarness();
});
afterAll(() => harness.close());

const now = new Date();
const inDays = (days: number) => new Date(now.getTime() + days * DAY_MS).toISOString();

beforeEach(async () => {
  await harness.clear();
  const launched = buildProduct({ id: 'launched', name: 'Launched', createdAt: inDays(-1) });
  await saveProducts(harness.database, [launched, buildProduct({ id: 'scheduled', createdAt: inDays(1) })]);
});

const entries = async () => (await listModeration(harness.database, {}, new Date())).items;

async function edit(id: string, values: Record<string, string>): Promise<string> {
  return (await editProduct(harness.database, id, { values, now })).auditId ?? '';
}

const undo = (id: string | null) =>
  undoEntry({ database: harness.database, withoutStatementTimeout: (work) => work(harness.database) }, id ?? '', {
    runtime: systemRuntime,
    timeZone: 'UTC',
    votesPerNetwork: 20,
  });

const REMOVED = { action: 'product.removed', productName: null, reason: null, undoneAt: null };
const UNDONE = { action: 'product.removed', productName: 'Launched', undoneAt: expect.any(String) };

test('an edit that postpones a launched product is listed as a removal until it is undone, and no other edit is', async () => {
  await edit('launched', { createdAt: inDays(-2), description: 'New' });
  await edit('scheduled', { createdAt: inDays(2) });
  const id = await edit('launched', { createdAt: inDays(1) });
  expect(await entries()).toEqual([expect.objectContaining({ ...REMOVED, id, productId: 'launched' })]);
  await undo(id);
  expect(await entries()).toEqual([expect.objectContaining({ ...UNDONE, id, productId: 'launched' })]);
});

test('the launched products that an import or its undo postpones are listed as removals', async () => {
  const rows = lines({ id: 'launched', createdAt: inDays(1) }, { id: 'scheduled', createdAt: inDays(-1) });
  await harness.run(rows, { dryRun: true, now });
  const { auditId } = await harness.run(rows, { now });
  expect(await entries()).toEqual([expect.objectContaining({ ...REMOVED, productId: 'launched' })]);
  await undo(auditId);
  expect(await entries()).toEqual([
    expect.objectContaining({ ...REMOVED, productId: 'scheduled' }),
    expect.objectContaining({ ...UNDONE, productId: 'launched' }),
  ]);
});
