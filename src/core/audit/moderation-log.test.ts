import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { lines, openImportHarness } from '../../../tests/support/import-harness.ts';
import { undo } from '../../../tests/support/undo.ts';
import { editProduct } from '../products/edit-product.ts';
import { isProductRemoved, removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { DAY_MS, systemRuntime } from '../runtime.ts';
import { withdrawSubmission } from '../submissions/change-submission.ts';
import { createSubmission } from '../submissions/create-submission.ts';
import {
  approveSubmission,
  declineSubmission,
  scheduleSubmission,
  undoDecision,
} from '../submissions/decide-submission.ts';
import { deleteClosedSubmissions } from '../submissions/submission-row.ts';
import { AUDIT_ACTIONS, browseAudit, insertEntries, MODERATION_ACTIONS } from './audit-log.ts';
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

const entries = async (at = new Date()) => (await listModeration(harness.database, {}, at)).items;

async function edit(id: string, values: Record<string, string>): Promise<string> {
  return (await editProduct(harness.database, id, { values }, { now })).auditId ?? '';
}

const POSTPONED = { action: 'product.postponed', productName: null, reason: null, undoneAt: null };
const RESUMED = { action: 'product.postponed', productName: 'Launched', undoneAt: expect.any(String) };

test('an edit that postpones a launched product is listed, even after it is undone, and other edits are not', async () => {
  await edit('launched', { createdAt: inDays(-2), description: 'New' });
  await edit('scheduled', { createdAt: inDays(2) });
  const id = await edit('launched', { createdAt: inDays(1) });
  expect(await entries()).toEqual([expect.objectContaining({ ...POSTPONED, id, productId: 'launched' })]);
  await undo(harness.database, id);
  expect(await entries()).toEqual([expect.objectContaining({ ...RESUMED, id, productId: 'launched' })]);
});

test('a postponement counts as undone once a later edit or import reverts it, and undoing that edit postpones the product again', async () => {
  await edit('launched', { createdAt: inDays(1), description: 'New' });
  const id = await edit('launched', { createdAt: inDays(-1), maker: 'New' });
  const undoneAt = (await browseAudit(harness.database, { limit: 1 })).items[0]?.createdAt;
  expect(await entries()).toEqual([expect.objectContaining({ ...RESUMED, undoneAt })]);
  await undo(harness.database, id);
  expect(await entries()).toEqual([
    expect.objectContaining(POSTPONED),
    expect.objectContaining({ ...POSTPONED, undoneAt }),
  ]);
  await harness.run(lines({ id: 'launched', createdAt: inDays(-2) }, { id: 'scheduled', createdAt: inDays(-2) }), {
    now: () => now,
  });
  expect(await entries()).toEqual([
    expect.objectContaining(RESUMED),
    expect.objectContaining({ ...RESUMED, undoneAt }),
  ]);
  const { items } = await browseAudit(harness.database, { action: 'products edit', limit: 9 });
  expect(items.map(({ target }) => target)).not.toContain('scheduled');
});

test('a postponement does not count as undone when its new launch time passes, after later edits of the launched product, or after edits of another product with the same id', async () => {
  await edit('launched', { createdAt: inDays(1) });
  // Simulates that the new launch time has passed.
  await saveProducts(harness.database, [buildProduct({ id: 'launched', name: 'Launched', createdAt: inDays(-1) })]);
  await edit('launched', { createdAt: inDays(-2) });
  await edit('launched', { createdAt: inDays(1) });
  await removeProducts(harness.database, ['launched']);
  await saveProducts(harness.database, [buildProduct({ id: 'launched', createdAt: inDays(1) })]);
  await edit('launched', { createdAt: inDays(-1) });
  const postponed = (await entries()).filter(({ action }) => action === 'product.postponed');
  expect(postponed.map(({ undoneAt }) => undoneAt)).toEqual([null, null]);
});

test('a later edit undoes a postponement even if the product was removed and restored in between', async () => {
  await edit('launched', { createdAt: inDays(1) });
  await removeProducts(harness.database, ['launched']);
  await restoreProducts(harness.database, { productIds: ['launched'] });
  await edit('launched', { createdAt: inDays(-1) });
  expect((await entries()).find(({ action }) => action === 'product.postponed')).toMatchObject(RESUMED);
});

test('the log shows the name of a postponed product again from its new launch time on', async () => {
  await edit('launched', { createdAt: inDays(1) });
  expect(await entries(new Date(inDays(2)))).toEqual([
    expect.objectContaining({ ...POSTPONED, productName: 'Launched' }),
  ]);
});

test('the log omits the name of a postponed product that was removed, even if a new product has its id', async () => {
  await edit('launched', { createdAt: inDays(1) });
  await removeProducts(harness.database, ['launched'], 'spam');
  await saveProducts(harness.database, [buildProduct({ id: 'launched', name: 'Other', createdAt: inDays(-1) })]);
  expect(await entries()).toContainEqual(expect.objectContaining({ ...POSTPONED, productId: 'launched' }));
});

test('the removal of a postponed product is listed, but not that of a scheduled product with the same id', async () => {
  await edit('launched', { createdAt: inDays(1) });
  await removeProducts(harness.database, ['launched'], 'spam');
  await saveProducts(harness.database, [buildProduct({ id: 'launched', createdAt: inDays(1) })]);
  await removeProducts(harness.database, ['launched'], 'a mistake');
  expect(await entries()).toEqual([
    expect.objectContaining({ action: 'product.removed', productId: 'launched', productName: null, reason: 'spam' }),
    expect.objectContaining({ ...POSTPONED, productId: 'launched' }),
  ]);
});

test('the removal of a scheduled product is not listed if an earlier submission with its id was postponed after its launch', async () => {
  const { database } = harness;
  const submit = () =>
    createSubmission(database, systemRuntime, { name: 'Reef' }, { submitter: { session: 'session-a' } });
  const { row, makerKey } = await submit();
  await approveSubmission(database, { id: row.id }, { now, timeZone: 'UTC' });
  await edit(row.id, { createdAt: inDays(1) });
  await withdrawSubmission(database, { id: row.id, makerKey }, { now, timeZone: 'UTC' });
  await deleteClosedSubmissions(database, new Date(inDays(31)));
  const { row: second } = await submit();
  expect(second.id).toBe(row.id);
  await scheduleSubmission(database, { id: row.id }, new Date(inDays(1)), { now, timeZone: 'UTC' });
  await removeProducts(database, [row.id], 'a mistake');
  expect(await entries()).toEqual([expect.objectContaining({ ...POSTPONED, productId: row.id })]);
  expect(await isProductRemoved(database, row.id)).toBe(false);
});

test('the launched products that an import or its undo postpones are listed', async () => {
  const rows = lines(
    { id: 'launched', createdAt: inDays(1), description: 'New' },
    { id: 'scheduled', createdAt: inDays(-1) },
  );
  await harness.run(rows, { dryRun: true, now: () => now });
  const { auditId } = await harness.run(rows, { now: () => now });
  expect(await entries()).toEqual([expect.objectContaining({ ...POSTPONED, productId: 'launched' })]);
  const [entry] = (await browseAudit(harness.database, { action: 'products postpone', limit: 2 })).items;
  expect(entry?.details).toMatchObject({ after: { createdAt: inDays(1) }, import: auditId });
  expect(JSON.stringify(entry?.details)).not.toContain('New');
  await undo(harness.database, auditId);
  expect(await entries()).toEqual([
    expect.objectContaining({ ...POSTPONED, productId: 'scheduled', reason: 'Import undone' }),
    expect.objectContaining({ ...RESUMED, productId: 'launched' }),
  ]);
});

test('whether an import postpones a product depends on whether the product has launched when the import ends', async () => {
  await saveProducts(harness.database, [buildProduct({ id: 'delayed', createdAt: inDays(-4) })]);
  const rows = lines({ id: 'launched', createdAt: inDays(1) }, { id: 'delayed', createdAt: inDays(-2) });
  // Simulates that the launch of `launched` and the new launch time of `delayed` pass while the import runs.
  await harness.run(rows, { now: () => new Date(inDays(-3)) });
  expect(await entries()).toEqual([expect.objectContaining({ ...POSTPONED, productId: 'launched' })]);
});

test('the removal of a product by undoing its approval counts as undone once the submission is approved again and has launched', async () => {
  const { database } = harness;
  const rules = () => ({ now: new Date(), timeZone: 'UTC' });
  const submit = async () => {
    const submitter = { session: 'session-of-a-maker' };
    return (await createSubmission(database, systemRuntime, { name: 'Tidal' }, { submitter })).row;
  };
  const { id } = await submit();
  const REMOVED = { action: 'product.removed', productId: id, productName: null, undoneAt: null };
  await approveSubmission(database, { id }, rules());
  await undoDecision(database, { id }, rules());
  await declineSubmission(database, { id }, 'spam', rules());
  expect((await entries())[1]).toMatchObject(REMOVED);
  await scheduleSubmission(database, { id }, new Date(inDays(1)), rules());
  expect((await entries())[1], 'before the launch').toMatchObject(REMOVED);
  await removeProducts(database, [id]);
  expect((await entries(new Date(inDays(2))))[1], 'removed before the launch').toMatchObject(REMOVED);
  await restoreProducts(database, { productIds: [id] });
  const launched = { ...REMOVED, productName: 'Tidal', undoneAt: expect.any(String) };
  expect((await entries(new Date(inDays(2))))[1]).toMatchObject(launched);
  await undoDecision(database, { id }, rules());
  await approveSubmission(database, { id }, rules());
  expect((await entries())[1]).toMatchObject(launched);
  await removeProducts(database, [id]);
  expect((await entries())[2], 'after the launched product was removed').toMatchObject({
    ...launched,
    productName: null,
  });

  await database.query('DELETE FROM submissions');
  await database.query('DELETE FROM removed_products');
  await approveSubmission(database, await submit(), rules());
  expect((await entries())[2], 'after another submission with the same id').toMatchObject(REMOVED);
});

test('the log lists exactly the moderation actions, and its index covers exactly these', async () => {
  const details = { launched: true, votes: 1 };
  const all = AUDIT_ACTIONS.map((action) => ({ id: randomUUID(), action, target: 'launched', details }));
  await insertEntries(harness.database, all);
  const listed = (await entries()).map(({ id }) => all.find((entry) => entry.id === id)?.action);
  expect(listed.sort()).toEqual([...MODERATION_ACTIONS].sort());
  const [index] = await harness.database.query<{ condition: string }>(
    `SELECT pg_get_expr(indpred, indrelid) AS condition FROM pg_index WHERE indexrelid = 'audit_log_moderation'::regclass`,
  );
  const indexed = [...(index?.condition ?? '').matchAll(/'([^']+)'/g)].map(([, action]) => action);
  expect(indexed.sort()).toEqual([...MODERATION_ACTIONS].sort());
});
