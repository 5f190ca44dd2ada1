import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { blockedStatements } from '../../../tests/support/blocked-statements.ts';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { counts, lines, NOW, openImportHarness } from '../../../tests/support/import-harness.ts';
import { interruptTransactions } from '../../../tests/support/interrupted-transactions.ts';
import { createLogLines } from '../../../tests/support/log-lines.ts';
import { planOfProduct } from '../../../tests/support/query-plan.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { createTestClock } from '../../../tests/support/test-clock.ts';
import { joinTestDatabase, type TestDatabase } from '../../../tests/support/test-database.ts';
import { type Database, openDatabase } from '../database/database.ts';
import { editProduct } from '../products/edit-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { saveProducts } from '../products/save-products.ts';
import { systemRuntime } from '../runtime.ts';
import { createSubmission } from '../submissions/create-submission.ts';
import { setUpvotes } from '../upvotes/set-upvotes.ts';
import { type ImportOptions, importProducts } from './import-products.ts';
import { LOCK_IMPORTS } from './merge-products.ts';

const logged = createLogLines();
const clock = createTestClock(NOW);
let harness: Awaited<ReturnType<typeof openImportHarness>>;
/** Separate connections to the database, which stand in for another process. */
let other: TestDatabase;
let onProgress: ImportOptions['onProgress'];

beforeAll(async () => {
  harness = await openImportHarness();
});
afterAll(() => harness.close());
beforeEach(async () => {
  onProgress = undefined;
  await harness.clear();
  other = joinTestDatabase(harness.database);
});
afterEach(() => other.drop());

async function importRows(database: Database, name: string, ...rows: object[]) {
  const path = join(harness.folder, name);
  await writeFile(path, lines(...rows));
  const options = { kind: 'json-lines', map: new Map(), slugifyIds: false, separator: ',', dryRun: false } as const;
  return importProducts(database, { path, now: clock.now, timeZone: 'UTC', log: logged.log, onProgress, ...options });
}

test('an import whose database becomes unavailable after the commit is reported as done, and the skipped steps are logged', async () => {
  const losing: Database = {
    ...harness.database,
    query: () => Promise.reject(new Error('The connection was lost')),
  };
  const report = await importRows(losing, 'lost', { id: 'a' }, { id: 'b' });
  expect(counts(report)).toEqual({ created: 2, updated: 0, unchanged: 0 });
  expect(await harness.ids()).toEqual(['a', 'b']);
  await expect.poll(logged.text).toContain('Cannot compare the imported names with those of the site');
  expect(logged.text()).toContain('Cannot move the pending entries of the search indexes');
});

/** Returns a database whose transactions run `work` once, before the first statement that contains `text`. */
function runBefore(text: string, work: () => Promise<unknown>): Database {
  let isDone = false;
  return interruptTransactions(harness.database, text, async () => {
    if (isDone) return;
    isDone = true;
    await work();
  });
}

/** Imports a row, and another row on a second connection before the first import commits. @returns both counts. */
async function importConcurrently(first: object, second: object) {
  let running: ReturnType<typeof importRows> | undefined;
  const holding = runBefore('INSERT INTO audit_log', async () => {
    running = importRows(other, 'second', second);
    await expect.poll(() => blockedStatements(harness.database)).toHaveLength(1);
  });
  return [counts(await importRows(holding, 'first', first)), running && counts(await running)];
}

const readProducts = () => other.query('SELECT id, description, maker FROM products ORDER BY id');

test('concurrent imports of different products with the same name and no id create both products', async () => {
  const first = { name: 'Wave', description: 'A surf forecast', maker: 'Ann' };
  const second = { name: 'Wave', description: 'An audio editor', maker: 'Bob' };
  const created = { created: 1, updated: 0, unchanged: 0 };
  expect(await importConcurrently(first, second)).toEqual([created, created]);
  expect(await readProducts()).toEqual([
    { id: 'wave', description: 'A surf forecast', maker: 'Ann' },
    { id: 'wave-2', description: 'An audio editor', maker: 'Bob' },
  ]);
});

test('a product without a time launches when its import writes, not when the import starts to wait for another one', async () => {
  let waiting: ReturnType<typeof importRows> | undefined;
  await other.transaction(async (sql) => {
    await sql.query(LOCK_IMPORTS);
    waiting = importRows(harness.database, 'waiting', { id: 'wave' });
    await expect.poll(() => blockedStatements(harness.database)).toHaveLength(1);
    clock.advance({ hours: 1 });
  });
  await waiting;
  expect(await harness.product('wave')).toMatchObject({ createdAt: clock.now().toISOString() });
});

test('concurrent imports of different fields of a product change both fields', async () => {
  await importRows(other, 'before', { id: 'wave', description: 'Old', maker: 'Old' });
  const updated = { created: 0, updated: 1, unchanged: 0 };
  const changes = [
    { id: 'wave', description: 'New' },
    { id: 'wave', maker: 'New' },
  ] as const;
  expect(await importConcurrently(...changes)).toEqual([updated, updated]);
  expect(await readProducts()).toEqual([{ id: 'wave', description: 'New', maker: 'New' }]);
});

test('an edit that is made after the import has read the product is preserved', async () => {
  await importRows(other, 'before', { id: 'wave', description: 'Old', maker: 'Old' });
  const edit = () => editProduct(other, 'wave', { values: { description: 'Edited' } }, { now: NOW });
  await importRows(runBefore('FOR NO KEY UPDATE', edit), 'file', { id: 'wave', maker: 'New' });
  expect(await readProducts()).toEqual([{ id: 'wave', description: 'Edited', maker: 'New' }]);
});

test('an edit waits for an import that writes the same product, and changes only the edited fields', async () => {
  await importRows(other, 'before', { id: 'wave', description: 'Old', maker: 'Old' });
  let editing: Promise<unknown> | undefined;
  const startEdit = async () => {
    editing = editProduct(other, 'wave', { values: { description: 'Edited' } }, { now: NOW });
    await expect.poll(() => blockedStatements(harness.database)).toHaveLength(1);
  };
  await importRows(runBefore('INSERT INTO products', startEdit), 'file', { id: 'wave', maker: 'New' });
  await editing;
  expect(await readProducts()).toEqual([{ id: 'wave', description: 'Edited', maker: 'New' }]);
});

test('a product that is removed after the import has read it is created again', async () => {
  await importRows(other, 'before', { id: 'wave', description: 'Old', maker: 'Old' });
  const removing = runBefore('FOR NO KEY UPDATE', () => removeProducts(other, ['wave']));
  const report = await importRows(removing, 'file', { id: 'wave', maker: 'New' });
  expect(counts(report)).toEqual({ created: 1, updated: 0, unchanged: 0 });
  expect(await readProducts()).toEqual([{ id: 'wave', description: 'No description available', maker: 'New' }]);
});

test('a product that is created with the id that an import has just chosen is not overwritten', async () => {
  const create = () => saveProducts(other, [buildProduct({ id: 'wave', description: 'Created', maker: 'Ann' })]);
  await importRows(runBefore('INSERT INTO products', create), 'file', {
    name: 'Wave',
    description: 'New',
    maker: 'Bob',
  });
  expect(await readProducts()).toEqual([
    { id: 'wave', description: 'Created', maker: 'Ann' },
    { id: 'wave-2', description: 'New', maker: 'Bob' },
  ]);
});

test('an import does not give a product the id that a submission reserves during the import', async () => {
  const submit = async () =>
    (await createSubmission(other, systemRuntime, { name: 'Surge' }, { submitter: { session: 's' } })).row.id;
  let reserved: string | undefined;
  const importing = runBefore('INSERT INTO audit_log', async () => (reserved = await submit()));
  const report = await importRows(importing, 'file', { id: 'tide', name: 'Surge' }, { name: 'Surge' });
  expect(counts(report)).toEqual({ created: 2, updated: 0, unchanged: 0 });
  expect([reserved, ...(await harness.ids())]).toEqual(['surge', 'surge-2', 'tide']);
  expect(await submit()).toBe('surge-3');
});

test('a submission that is sent while an import is ending waits for the import, and gets another id', async () => {
  let submission: ReturnType<typeof createSubmission> | undefined;
  const importing = runBefore('SELECT 1 FROM submissions', async () => {
    submission = createSubmission(other, systemRuntime, { name: 'Swell' }, { submitter: { session: 's' } });
    await expect.poll(() => blockedStatements(harness.database)).toHaveLength(1);
  });
  await importRows(importing, 'file', { name: 'Swell' });
  expect((await submission)?.row.id).toBe('swell-2');
  expect(await harness.ids()).toEqual(['swell']);
});

test('an import does not block edits of products that it does not change', async () => {
  await importRows(other, 'before', { id: 'wave', maker: 'Old' }, { id: 'tide', maker: 'Old' });
  const edit = () => editProduct(other, 'tide', { values: { maker: 'Edited' } }, { now: NOW });
  await importRows(runBefore('INSERT INTO audit_log', edit), 'file', { id: 'wave', maker: 'New' }, { id: 'tide' });
  expect(await readProducts()).toMatchObject([{ maker: 'Edited' }, { maker: 'New' }]);
});

test('votes do not wait for an import that moves a launch, even if the previous launch time passes during the import', async () => {
  const [begins, moved] = ['2999-01-01T00:00:00.000Z', '2999-02-01T00:00:00.000Z'];
  await importRows(other, 'before', { id: 'tide' }, { id: 'wave', createdAt: begins });
  const upvotesAt = async (at: string) => {
    const runtime = { ...systemRuntime, now: () => new Date(at) };
    const changes = ['tide', 'wave'].map((productId) => ({ productId, session: 'session-a', upvoted: true }));
    return (await setUpvotes(other, runtime, changes)).outcomes;
  };
  const one = { upvoted: true, upvotes: 1 };
  const voting = runBefore('INSERT INTO audit_log', async () => {
    expect(await upvotesAt(begins)).toEqual([one, one]);
  });
  await importRows(voting, 'file', { id: 'wave', createdAt: moved });
  expect(await upvotesAt('2999-01-31T00:00:00.000Z')).toMatchObject([one, { code: 'product_not_found' }]);
  expect(await upvotesAt(moved)).toEqual([one, one]);
});

test('after a large import, other processes replan statements that they had prepared for a small table', async () => {
  const connection = openDatabase({ url: harness.database.url, log: silentLog, maxConnections: 1 });
  await importRows(other, 'small', { id: 'wave' });
  await other.query('ANALYZE products, product_counts');
  expect(await planOfProduct(connection, 'wave')).toMatch(/Seq Scan on products/);
  await importRows(other, 'large', ...Array.from({ length: 2_000 }, (_, index) => ({ id: `wave-${index}` })));
  expect(await planOfProduct(connection, 'wave')).not.toMatch(/Seq Scan/);
  await connection.close();
});

test('a large import waits neither for a VACUUM nor for a concurrent index build', async () => {
  const rows = Array.from({ length: 1_001 }, (_, index) => ({ id: `wave-${index}` }));
  await other.transaction(async (sql) => {
    // Both a VACUUM and a concurrent index build take this lock.
    await sql.query('LOCK TABLE products IN SHARE UPDATE EXCLUSIVE MODE');
    let end: unknown;
    const importing = importRows(harness.database, 'large', ...rows).then(counts);
    importing.then(
      (result) => (end = result),
      (error) => (end = error),
    );
    await vi.waitUntil(async () => end ?? (await blockedStatements(harness.database))[0], 120_000);
    expect(await blockedStatements(harness.database)).toEqual([]);
    expect(end).toEqual({ created: 1_001, updated: 0, unchanged: 0 });
  });
});

test('an import that waits for another import can be stopped', async () => {
  const stop = new Error('Stopped');
  onProgress = (stage) => {
    if (stage === 'write') throw stop;
  };
  await other.transaction(async (sql) => {
    await sql.query(LOCK_IMPORTS);
    await expect(importRows(harness.database, 'stopped', { id: 'wave' })).rejects.toBe(stop);
  });
});
