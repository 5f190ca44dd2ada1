import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { buildProduct } from '../../../tests/support/build-product.ts';
import { silentLog } from '../../../tests/support/silent-log.ts';
import { openSubmissionHarness } from '../../../tests/support/submission-harness.ts';
import { createTestDatabase, MIGRATIONS } from '../../../tests/support/test-database.ts';
import { listAudit } from '../audit/audit-log.ts';
import { restoreBackup } from '../backups/restore-backup.ts';
import { writeBackup } from '../backups/write-backup.ts';
import { loadSample } from '../catalogue/load-sample.ts';
import { readSampleCatalogue } from '../catalogue/sample-catalogue.ts';
import type { Sql } from '../database/database.ts';
import { readMigrations } from '../database/migrate.ts';
import { undoImport } from '../imports/import-changes.ts';
import { importProducts } from '../imports/import-products.ts';
import { systemRuntime } from '../runtime.ts';
import { foldText, searchTextOf } from '../search-text.ts';
import { editProduct } from './edit-product.ts';
import { removeProducts } from './remove-products.ts';
import { restoreProducts } from './restore-products.ts';
import { saveProducts } from './save-products.ts';
import { searchGramsOf } from './search-grams.ts';

const harness = openSubmissionHarness();
const { site, inHours } = harness;
const NOW = new Date('2026-05-06T07:08:09Z');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'groundswell-search-columns-'));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => site.database.query('TRUNCATE products CASCADE'));

/** Expects the search columns of every product to follow from its other fields. @returns the names of the products. */
async function expectSearchColumns(sql: Sql = site.database): Promise<string[]> {
  const rows = await sql.query<{ name: string; description: string; tags: string[] }>(
    'SELECT name, description, tags, search_text, tag_keys, search_grams FROM products ORDER BY name',
  );
  for (const { name, description, tags, ...columns } of rows) {
    const searchText = searchTextOf({ name, description });
    expect(columns).toEqual({
      search_text: searchText,
      tag_keys: tags.map(foldText),
      search_grams: searchGramsOf(searchText),
    });
  }
  return rows.map(({ name }) => name);
}

async function importFile(...rows: object[]) {
  const path = join(folder, 'products.jsonl');
  await writeFile(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  const options = { kind: 'json-lines', map: new Map(), slugifyIds: false, separator: ',', dryRun: false } as const;
  await importProducts(site.database, { path, now: () => NOW, timeZone: 'UTC', log: silentLog, ...options });
}

const RARE = { name: '東京 C++', description: '🌊 50% für Zq' };

test('saving a product writes the search columns', async () => {
  await saveProducts(site.database, [buildProduct({ ...RARE, tags: ['Größe'] })]);
  await saveProducts(site.database, [buildProduct({ id: 'bare', name: '' })]);
  expect(await expectSearchColumns()).toEqual(['Untitled Product', '東京 C++']);
});

test('importing new products, importing changes, and undoing an import write the search columns', async () => {
  await importFile({ id: 'a', ...RARE }, { id: 'b', name: 'Plain' });
  expect(await expectSearchColumns()).toEqual(['Plain', '東京 C++']);
  await importFile({ id: 'a', name: 'Täglich' });
  expect(await expectSearchColumns()).toEqual(['Plain', 'Täglich']);
  const [entry] = await listAudit(site.database, { limit: 1 });
  if (entry === undefined) return expect.unreachable('The import is not in the audit log');
  await undoImport(site.database, entry, { now: NOW, timeZone: 'UTC' });
  expect(await expectSearchColumns()).toEqual(['Plain', '東京 C++']);
});

test('an edit writes the search columns', async () => {
  await saveProducts(site.database, [buildProduct({ id: 'a', name: 'Plain' })]);
  await editProduct(site.database, 'a', { values: { name: '京都', description: '§' } }, { now: NOW });
  expect(await expectSearchColumns()).toEqual(['京都']);
});

test('the products of approved, scheduled and rescheduled submissions have the search columns', async () => {
  const approved = await harness.submit(RARE);
  await harness.approve(approved.id);
  const scheduled = await harness.submit({ name: '京都', description: '#' });
  await harness.schedule(scheduled.id, inHours(5));
  await harness.schedule(scheduled.id, inHours(9));
  expect(await expectSearchColumns()).toEqual(['京都', '東京 C++']);
});

test('removed products have the search columns after they are restored', async () => {
  await saveProducts(site.database, [buildProduct({ id: 'a', ...RARE })]);
  await removeProducts(site.database, ['a']);
  expect(await expectSearchColumns()).toEqual([]);
  await restoreProducts(site.database, { last: true });
  expect(await expectSearchColumns()).toEqual(['東京 C++']);
});

test('the sample catalogue has the search columns', async () => {
  await loadSample(site.database, await readSampleCatalogue(join(MIGRATIONS, '../catalogue')), systemRuntime);
  expect((await expectSearchColumns()).length).toBeGreaterThan(50);
});

test('a site that is restored from a backup has the search columns', async () => {
  await saveProducts(site.database, [buildProduct(RARE), buildProduct({ name: 'Plain' })]);
  const path = join(folder, 'site.backup');
  await writeBackup(site.database, path, { groundswell: '1.2.3' });
  const target = await createTestDatabase();
  try {
    const migrations = (await readMigrations(MIGRATIONS)).map(({ name }) => name);
    await restoreBackup(target, path, { replace: false, migrations, target: 'site.backup' });
    expect(await expectSearchColumns(target)).toEqual(['Plain', '東京 C++']);
  } finally {
    await target.drop();
  }
});
