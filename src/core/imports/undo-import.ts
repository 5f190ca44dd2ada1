import { recordAudit } from '../audit/audit-log.ts';
import { recordChange, recordEverythingChanged } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import { PRODUCT_COLUMNS, type ProductRow, storedProductOf } from '../products/product-row.ts';
import { removeProducts } from '../products/remove-products.ts';
import { versionOf, writeProducts } from '../products/save-products.ts';
import { readImportChanges } from './import-changes.ts';

const BATCH_ROWS = 500;
/** With more changed products, the change record names none of them. */
const MAX_NAMED = 1_000;

export interface UndoneImport {
  /** New products that were removed; `products restore` brings them back. */
  removed: number;
  /** Products that are as they were before. */
  reverted: number;
  /** Products that were edited or removed since, and stay as they are. */
  skipped: number;
}

/**
 * Reverts an import: new products are removed, the others get their previous fields. Products that were changed since
 * stay. `database` must not limit the time of statements.
 * @returns undefined if the replaced products are not known.
 * @throws CoreError `unavailable`.
 */
export async function undoImport(
  database: Database,
  { id, target }: { id: string; target: string },
): Promise<UndoneImport | undefined> {
  const changes = await readImportChanges(database, id);
  if (changes.length === 0) return undefined;
  const untouched = await untouchedOf(database, changes);
  const created = changes.filter(({ productId, before }) => before === null && untouched.has(productId));
  const updated = changes.flatMap(({ productId, before }) => (before && untouched.has(productId) ? before : []));
  const ids = created.map(({ productId }) => productId);
  // First: if the rest fails, a retry skips the removed products.
  if (ids.length > 0) await removeProducts(database, ids, undefined, 'none');
  const undone = {
    removed: ids.length,
    reverted: updated.length,
    skipped: changes.length - ids.length - updated.length,
  };
  await database.transaction(async (sql) => {
    for (let start = 0; start < updated.length; start += BATCH_ROWS)
      await writeProducts(sql, updated.slice(start, start + BATCH_ROWS));
    await recordAudit(sql, { action: 'import undo', target, details: undone, undoes: id });
    if (updated.length > MAX_NAMED) await recordEverythingChanged(sql);
    else await recordChange(sql, { productIds: updated.map((product) => product.id), catalogue: true });
  });
  return undone;
}

/** The products that are still as the import wrote them. */
async function untouchedOf(
  sql: Sql,
  changes: readonly { productId: string; version: string }[],
): Promise<ReadonlySet<string>> {
  const untouched = new Set<string>();
  for (let start = 0; start < changes.length; start += BATCH_ROWS) {
    const batch = new Map(changes.slice(start, start + BATCH_ROWS).map((change) => [change.productId, change.version]));
    const rows = await sql.query<ProductRow>(
      `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`,
      [[...batch.keys()]],
    );
    for (const row of rows) if (versionOf(storedProductOf(row)) === batch.get(row.id)) untouched.add(row.id);
  }
  return untouched;
}
