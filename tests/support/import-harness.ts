import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type ImportOptions, type ImportReport, importProducts } from '../../src/core/imports/import-products.ts';
import { getProduct } from '../../src/core/products/get-product.ts';
import { silentLog } from './silent-log.ts';
import { createTestDatabase } from './test-database.ts';

/** The default time of imports. */
export const NOW = new Date('2026-05-06T07:08:09.123Z');

export const lines = (...rows: object[]) => rows.map((row) => JSON.stringify(row)).join('\n');

/** Returns the counts in the result of an import. */
export function counts({ created, updated, unchanged }: ImportReport) {
  return { created: created.count, updated: updated.count, unchanged };
}

/** Creates a database to import into, and a folder to import from. */
export async function openImportHarness() {
  const database = await createTestDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'groundswell-import-test-'));

  async function run(content: string, options: Partial<ImportOptions> = {}): Promise<ImportReport> {
    const path = join(folder, 'file');
    await writeFile(path, content);
    const defaults = {
      kind: 'json-lines',
      map: new Map(),
      slugifyIds: false,
      separator: ',',
      dryRun: false,
      now: () => NOW,
      timeZone: 'UTC',
      log: silentLog,
    } as const;
    return importProducts(database, { path, ...defaults, ...options });
  }

  async function ids(): Promise<string[]> {
    return (await database.query<{ id: string }>('SELECT id FROM products ORDER BY id')).map(({ id }) => id);
  }

  return {
    database,
    folder,
    run,
    ids,
    clear: () => database.query('TRUNCATE products, changes, audit_log CASCADE'),
    product: async (id: string) => (await getProduct(database, id, new Date()))?.product,
    /** Expects the import of a file to be refused and to write nothing. @returns the errors as printed. */
    async errorsOf(content: string, options: Partial<ImportOptions> = {}): Promise<string[]> {
      const before = await ids();
      const error = await run(content, options).then(
        () => expect.unreachable('The file was imported'),
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ name: 'ImportRefusedError' });
      expect(await ids()).toEqual(before);
      return error.errors.map(({ line, field, reason }: Record<string, unknown>) => `${line}: ${field}: ${reason}`);
    },
    async close() {
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}
