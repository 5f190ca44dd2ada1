import { recordAct } from '../audit/record-act.ts';
import { noteChange, noteEverythingChanged } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { completeProduct, type StoredProduct } from '../products/complete-product.ts';
import { PRODUCT_COLUMNS, type ProductRow, productOf } from '../products/product-row.ts';
import { writeProducts } from '../products/save-products.ts';
import { IdAssigner } from './assign-ids.ts';
import type { CheckedFile } from './check-file.ts';
import { DuplicateNames } from './duplicate-names.ts';
import { oneAhead, takeTurns } from './one-ahead.ts';
import { changesBetween, type FieldChange, Sampled } from './product-changes.ts';
import type { CheckedRow, Spool } from './spool.ts';

/** Rows a statement. */
const BATCH_ROWS = 500;

/** More changed products than these are not named to the site's processes: they drop all that they keep. */
const MOST_NOTED = 1_000;

/**
 * The index of trigrams takes new entries in portions, and the larger these are, and are sorted at once, the less work they
 * are: a third less than by default, measured over 60,000 rows. A search that comes meanwhile reads the portion that waits, so
 * that there is a limit. In kilobytes. Where there are no such settings, nothing is set.
 */
const LARGE_PORTIONS = `SELECT set_config(name, CASE name WHEN 'work_mem' THEN '131072' ELSE '16384' END, true)
  FROM pg_settings WHERE name IN ('gin_pending_list_limit', 'work_mem')`;

export interface MergeOptions {
  /** What the record of the operator's acts calls the file. */
  subject: string;
  /** Compares and writes nothing. */
  dryRun: boolean;
  /** The time of products that bring none. */
  now: Date;
  onRows?: ((count: number) => void) | undefined;
}

export interface MergedProducts {
  created: Sampled<{ id: string; name: string; line: number }>;
  updated: Sampled<{ id: string; line: number; changes: FieldChange[] }>;
  unchanged: number;
  names: DuplicateNames;
}

/**
 * Brings the site's products to what the rows say, in the caller's transaction. Products that are so already are neither
 * written nor noted. Nothing that visitors write is locked: an upvote needs the row of a product to stay, not to be as it was.
 */
export async function mergeProducts(
  connection: Sql,
  work: { spool: Spool; file: CheckedFile },
  options: MergeOptions,
): Promise<MergedProducts> {
  const turns = takeTurns(connection);
  try {
    return await mergeInTurns(turns.sql, work, options);
  } finally {
    await turns.end();
  }
}

async function mergeInTurns(
  sql: Sql,
  { spool, file }: { spool: Spool; file: CheckedFile },
  { subject, dryRun, now, onRows }: MergeOptions,
): Promise<MergedProducts> {
  const merged: MergedProducts = {
    created: new Sampled(),
    updated: new Sampled(),
    unchanged: 0,
    names: new DuplicateNames(),
  };
  const assigner = new IdAssigner(file.lastPlaces);
  const changedIds: string[] = [];
  if (dryRun) await sql.query('SET TRANSACTION READ ONLY');
  else await sql.query(LARGE_PORTIONS);
  const isLast = ({ patch, place }: CheckedRow) => patch.id === undefined || file.lastPlaces.get(patch.id) === place;
  const lookUp = async (rows: CheckedRow[]) => {
    const ids = await idsOf(sql, rows, assigner);
    return { rows, ids, present: await presentProducts(sql, ids) };
  };
  // The database writes one batch while the next is made ready: no product is in two of them.
  let written: Promise<void> = Promise.resolve();
  for await (const { rows, ids, present } of oneAhead(spool.batches(BATCH_ROWS, isLast), lookUp)) {
    const changed: StoredProduct[] = [];
    for (const [index, { line, patch }] of rows.entries()) {
      const id = ids[index] ?? '';
      const before = present.get(id);
      const { rawId: _rawId, ...fields } = patch;
      const after = completeProduct({ ...before, ...fields, id }, now);
      const changes = before === undefined ? [] : changesBetween(before, after);
      if (before === undefined) {
        merged.created.add({ id, name: after.name, line });
        merged.names.add({ id, name: after.name, line });
      } else if (changes.length > 0) merged.updated.add({ id, line, changes });
      else {
        merged.unchanged += 1;
        continue;
      }
      changed.push(after);
    }
    const writing = dryRun || changed.length === 0 ? written : writeProducts(sql, changed);
    // Fails with the same reason where the one before it fails, which is waited for first.
    writing.catch(() => {});
    await written;
    written = writing;
    if (changedIds.length <= MOST_NOTED) changedIds.push(...changed.map(({ id }) => id));
    onRows?.(rows.length);
  }
  await written;
  if (!dryRun && changedIds.length > 0) {
    const details = { created: merged.created.count, updated: merged.updated.count, unchanged: merged.unchanged };
    await recordAct(sql, { act: 'import', subject, details });
    await note(sql, changedIds);
  }
  return merged;
}

async function note(sql: Sql, changedIds: readonly string[]): Promise<void> {
  if (changedIds.length > MOST_NOTED) await noteEverythingChanged(sql);
  else await noteChange(sql, { productIds: changedIds, catalogue: true });
}

async function idsOf(sql: Sql, rows: readonly CheckedRow[], assigner: IdAssigner): Promise<string[]> {
  const nameless = rows.filter(({ patch }) => patch.id === undefined);
  const assigned = (
    await assigner.assign(
      sql,
      nameless.map(({ patch }) => patch),
    )
  ).values();
  return rows.map(({ patch }) => patch.id ?? assigned.next().value ?? '');
}

async function presentProducts(sql: Sql, ids: readonly string[]): Promise<Map<string, StoredProduct>> {
  const rows = await sql.query<ProductRow>(
    `SELECT ${PRODUCT_COLUMNS} FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`,
    [ids],
  );
  return new Map(
    rows.map((row) => {
      const { upvotes: _upvotes, comments: _comments, ...product } = productOf(row);
      return [row.id, product];
    }),
  );
}
