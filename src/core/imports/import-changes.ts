import { isDeepStrictEqual } from 'node:util';
import { PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../contract/products/fields.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { versionOf } from '../products/save-products.ts';

/** A larger import cannot be undone: the replaced products would have to be stored a second time. */
const MAX_CHANGES = 20_000;
const BATCH_ROWS = 1_000;
const STORED_DAYS = 30;

interface ImportChange {
  product_id: string;
  before: StoredProduct | null;
  version: string;
}

const INSERT_CHANGES = `INSERT INTO import_changes (import_id, product_id, before, version, created_at)
  SELECT $1::uuid, product_id, before, version, statement_timestamp()
  FROM jsonb_to_recordset($2::jsonb) AS row (product_id text, before jsonb, version text)`;

/** Collects the products that an import replaces. */
export class ImportChanges {
  #changes: ImportChange[] = [];
  #isTooLarge = false;

  add(before: StoredProduct | undefined, after: StoredProduct): void {
    if (this.#isTooLarge) return;
    this.#changes.push({ product_id: after.id, before: before ?? null, version: versionOf(after) });
    if (this.#changes.length <= MAX_CHANGES) return;
    this.#isTooLarge = true;
    this.#changes = [];
  }

  /** Stores the changes under the import's entry in the audit log. */
  async save(sql: Sql, importId: string): Promise<void> {
    for (let start = 0; start < this.#changes.length; start += BATCH_ROWS) {
      const rows = JSON.stringify(this.#changes.slice(start, start + BATCH_ROWS));
      await sql.query(INSERT_CHANGES, [importId, rows]);
    }
  }
}

/** The products that an import replaced; empty if it was too long ago or too large. @throws CoreError `unavailable`. */
export async function readImportChanges(
  sql: Sql,
  importId: string,
): Promise<{ productId: string; before: StoredProduct | null; version: string }[]> {
  const rows = await sql.query<ImportChange>(
    'SELECT product_id, before, version FROM import_changes WHERE import_id = $1 ORDER BY product_id',
    [importId],
  );
  return rows.map(({ product_id: productId, before, version }) => ({ productId, before, version }));
}

/** Deletes what can no longer be undone. */
export async function forgetOldImports(sql: Sql, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - STORED_DAYS * 24 * 3_600_000).toISOString();
  await sql.query('DELETE FROM import_changes WHERE created_at < $1::timestamptz', [oldest]);
}

/** A field that an import changes, or would. */
export interface FieldChange {
  field: ProductFieldName;
  before: StoredProduct[ProductFieldName];
  after: StoredProduct[ProductFieldName];
}

/** The differences between a product and its new version, in the order of the fields. */
export function changesBetween(before: StoredProduct, after: StoredProduct): FieldChange[] {
  return PRODUCT_FIELD_NAMES.filter((field) => !isDeepStrictEqual(before[field], after[field])).map((field) => ({
    field,
    before: before[field],
    after: after[field],
  }));
}

/** Only so many are listed; further ones are counted. */
const MAX_LISTED = 100;

/** The first of many, and their number. */
export class Sampled<Item> {
  readonly first: Item[] = [];
  count = 0;

  add(item: Item): void {
    this.count += 1;
    if (this.first.length < MAX_LISTED) this.first.push(item);
  }
}
