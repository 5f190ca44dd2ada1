import type { StoredProduct } from '../../contract/products/schema.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { MAX_CHANGED_IDS, recordChange } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';
import { prefetchOne, serializeStatements, waitForLock } from '../database/transactions.ts';
import { dayAt, startOfDay } from '../leaderboards/calendar.ts';
import { STORED_COLUMNS, type StoredProductRow, storedProductOf } from '../products/product-row.ts';
import {
  completeProduct,
  findUnschedulable,
  insertProducts,
  moveWindows,
  scheduledResultReason,
  upsertProducts,
} from '../products/save-products.ts';
import { orderedUuid } from '../runtime.ts';
import { foldText } from '../search-text.ts';
import { requireUnreserved } from '../submissions/create-submission.ts';
import { IdAssigner } from './assign-ids.ts';
import type { CheckedFile } from './check-file.ts';
import { changesBetween, type FieldChange, ImportChanges } from './import-changes.ts';
import { ErrorList, Sampled } from './import-errors.ts';
import { type ProductPatch, withStoredPictures } from './read-product.ts';
import type { Position } from './source-record.ts';
import type { CheckedRow, Spool } from './spool.ts';

const BATCH_ROWS = 500;

/**
 * Enlarges the pending lists of the search indexes and the memory for merging them (in kilobytes), so writing the
 * indexes costs a third less (measured with 60,000 rows). The lists stay limited, because searches scan them. Skips
 * settings that the server lacks.
 */
const LARGE_INDEX_BATCHES = `SELECT set_config(name, CASE name WHEN 'work_mem' THEN '131072' ELSE '16384' END, true)
  FROM pg_settings WHERE name IN ('gin_pending_list_limit', 'work_mem')`;

/** Makes other imports wait until this transaction ends; reads and writes of the table do not wait. */
export const LOCK_IMPORTS = 'LOCK TABLE import_changes IN SHARE UPDATE EXCLUSIVE MODE';

interface MergeOptions {
  /** The target in the audit log: the name of the file. */
  target: string;
  /** Whether to compare the products without writing them. */
  dryRun: boolean;
  /** Returns the launch time of the first new product without one. Called after the wait for other imports. */
  now: () => Date;
  /** The value of SITE_TIME_ZONE. */
  timeZone: string;
  onRows?: ((count: number) => void) | undefined;
}

export interface MergedProducts {
  /** The id of the import's entry in the audit log; null in a dry run, or if nothing changed. */
  auditId: string | null;
  created: Sampled<Position & { id: string; name: string }>;
  updated: Sampled<Position & { id: string; changes: FieldChange[] }>;
  unchanged: number;
  duplicateNames: DuplicateNames;
}

/**
 * Writes the rows that differ from the site's products, in the caller's transaction. Visitors do not wait, because rows
 * that they can write are locked only at the end. Other imports wait. A concurrent edit of a written product is
 * preserved if it commits before the import locks the product; otherwise, the edit waits.
 * @throws ImportRefusedError with the products that must not be scheduled (`findUnschedulable`); the errors of
 * `insertProducts` and `requireUnreserved` if another transaction takes the id of a new product at the same time.
 */
export async function mergeProducts(
  connection: Sql,
  work: { spool: Spool; file: CheckedFile },
  options: MergeOptions,
): Promise<MergedProducts> {
  const { dryRun, onRows } = options;
  if (!dryRun) await waitForLock(connection, LOCK_IMPORTS, () => onRows?.(0));
  const statements = serializeStatements(connection);
  try {
    return await mergeBatches(statements.sql, work, options);
  } finally {
    await statements.end();
  }
}

async function mergeBatches(
  sql: Sql,
  { spool, file }: { spool: Spool; file: CheckedFile },
  { target, dryRun, now: readNow, timeZone, onRows }: MergeOptions,
): Promise<MergedProducts> {
  const now = readNow();
  const merged: MergedProducts = {
    auditId: null,
    created: new Sampled(),
    updated: new Sampled(),
    unchanged: 0,
    duplicateNames: new DuplicateNames(),
  };
  const assigner = new IdAssigner(file.lastRowIndexes);
  const changedIds: string[] = [];
  const movedIds: string[] = [];
  const auditId = orderedUuid();
  const importChanges = new ImportChanges(auditId, now);
  const errors = new ErrorList();
  const dayStart = startOfDay(dayAt(now, timeZone), timeZone);
  /** The number of new products so far whose rows have no creation time. */
  let untimed = 0;
  if (dryRun) await sql.query('SET TRANSACTION READ ONLY');
  else await sql.query(LARGE_INDEX_BATCHES);
  const isLast = ({ patch, rowIndex }: CheckedRow) =>
    patch.id === undefined || file.lastRowIndexes.get(patch.id) === rowIndex;
  const lookUp = async (rows: CheckedRow[]) => {
    const ids = await idsOf(sql, rows, assigner);
    return { rows, ids, present: await presentProducts(sql, ids) };
  };
  const compare = (batch: Batch) => findChanging(sql, batch, { lock: !dryRun });
  const batches = prefetchOne(prefetchOne(spool.batches(BATCH_ROWS, isLast), lookUp), compare);
  // While the database writes one batch, the next is prepared. This is safe, because no product is in two batches.
  let written: Promise<unknown> = Promise.resolve();
  for await (const { rows, ids, present, unchanged } of batches) {
    const created: StoredProduct[] = [];
    const updated: StoredProduct[] = [];
    const moved: (StoredProduct & Position)[] = [];
    for (const [index, { line, item, patch }] of rows.entries()) {
      const id = ids[index] ?? '';
      if (unchanged.has(id)) {
        merged.unchanged += 1;
        continue;
      }
      const before = present.get(id);
      const after = mergeProduct(id, before, patch, nthCreationTime(now, untimed, dayStart));
      if (before === undefined && patch.createdAt === undefined) untimed += 1;
      const changes = before === undefined ? [] : changesBetween(before, after);
      if (before === undefined) {
        created.push(after);
        merged.created.add({ id, name: after.name, line, item });
        merged.duplicateNames.add({ id, name: after.name, line, item });
      } else if (changes.length > 0) {
        updated.push(after);
        if (before.createdAt !== after.createdAt) moved.push({ ...after, line, item });
        merged.updated.add({ id, line, item, changes });
      } else {
        merged.unchanged += 1;
        continue;
      }
      if (!dryRun) importChanges.add(before, after);
    }
    const writes = dryRun ? [] : [insertProducts(sql, created), upsertProducts(sql, updated)];
    movedIds.push(...moved.map(({ id }) => id));
    const checking = findUnschedulable(sql, moved).then((refused) => {
      for (const { id, line, item } of refused)
        errors.add({ line, item, field: 'createdAt', reason: scheduledResultReason(id) });
    });
    const writing = Promise.all([...writes, checking]);
    // Prevents an unhandled rejection: if the previous write fails, this one fails, too, and is not awaited.
    writing.catch(() => {});
    await written;
    written = writing;
    // If there are more ids than `MAX_CHANGED_IDS`, `recordChange` records none of them.
    if (changedIds.length <= MAX_CHANGED_IDS) changedIds.push(...[...created, ...updated].map(({ id }) => id));
    onRows?.(rows.length);
  }
  await written;
  errors.refuseIfAny();
  if (!dryRun && changedIds.length > 0) {
    const details = { created: merged.created.count, updated: merged.updated.count, unchanged: merged.unchanged };
    merged.auditId = auditId;
    await importChanges.recordMovedLaunches(sql);
    await recordAudit(sql, { id: auditId, action: 'import', target, details });
    await importChanges.save(sql);
    await moveWindows(sql, movedIds);
    await requireUnreserved(sql, assigner.newIds);
    await recordChange(sql, { productIds: changedIds, catalogue: true });
  }
  return merged;
}

/**
 * Returns the creation time of the nth new product (from 0) whose row does not contain a time. Each time is a
 * millisecond earlier than the previous one, so the list (newest first) follows the order of the file. No time is
 * before the day of the import, so just after midnight, several times may be equal.
 */
function nthCreationTime(now: Date, n: number, dayStart: Date): Date {
  return new Date(Math.max(dayStart.getTime(), now.getTime() - n));
}

async function idsOf(sql: Sql, rows: readonly CheckedRow[], assigner: IdAssigner): Promise<string[]> {
  const withoutId = rows.filter(({ patch }) => patch.id === undefined);
  const assigned = (
    await assigner.assign(
      sql,
      withoutId.map(({ patch }) => patch),
    )
  ).values();
  return rows.map(({ patch }) => patch.id ?? assigned.next().value ?? '');
}

interface Batch {
  rows: CheckedRow[];
  /** The ids of the rows, in order. */
  ids: string[];
  /** The site's products with these ids. */
  present: Map<string, StoredProduct>;
}

/**
 * Finds the products that the rows leave unchanged. With `lock`, locks the other products and reads them again, because
 * they may have been edited or removed since the first read. Unchanged products are not locked, so editing or removing
 * them does not wait for the import.
 */
async function findChanging(sql: Sql, { rows, ids, present }: Batch, options: { lock: boolean }) {
  const unchanged = new Set<string>();
  const changing: string[] = [];
  for (const [index, { patch }] of rows.entries()) {
    const before = present.get(ids[index] ?? '');
    if (before === undefined) continue;
    const changes = changesBetween(before, mergeProduct(before.id, before, patch));
    if (changes.length > 0) changing.push(before.id);
    else unchanged.add(before.id);
  }
  if (options.lock && changing.length > 0) {
    const locked = await presentProducts(sql, changing, LOCKED);
    for (const id of changing) present.delete(id);
    for (const [id, product] of locked) present.set(id, product);
  }
  return { rows, ids, present, unchanged };
}

/** Returns `before` with the fields of a row, or a new product, which gets `createdAt` if its row has no time. */
function mergeProduct(
  id: string,
  before: StoredProduct | undefined,
  patch: ProductPatch,
  createdAt = new Date(0),
): StoredProduct {
  const { rawId: _rawId, hasLocalPictures: _hasLocal, ...fields } = withStoredPictures(patch, before);
  return completeProduct({ ...before, ...fields, id }, createdAt);
}

const LOCKED = 'ORDER BY p.id FOR NO KEY UPDATE /* product by product on Citus */';

async function presentProducts(
  sql: Sql,
  ids: readonly string[],
  lock: typeof LOCKED | '' = '',
): Promise<Map<string, StoredProduct>> {
  const rows = await sql.query<StoredProductRow>(
    `SELECT ${STORED_COLUMNS} FROM products p WHERE p.id = ANY($1::text[]) ${lock}`,
    [ids],
  );
  return new Map(rows.map((row) => [row.id, storedProductOf(row)]));
}

/** A new product that may already exist with another id. */
export interface PossibleDuplicate extends Position {
  id: string;
  name: string;
  /** The id of the product with the same name. */
  of: string;
}

const SELECT_NAMES = 'SELECT id, name FROM products WHERE id > $1 ORDER BY id LIMIT 5000';

/** Finds new products with the name of another product, ignoring case, punctuation and spaces. */
class DuplicateNames {
  readonly found = new Sampled<PossibleDuplicate>();
  /** The first new product of each folded name. */
  readonly #firsts = new Map<string, Position & { id: string }>();
  /** The ids of further new products with the same folded name. */
  readonly #others = new Set<string>();

  add({ id, name, line, item }: Position & { id: string; name: string }): void {
    const key = keyOf(name);
    const first = this.#firsts.get(key);
    if (first === undefined) {
      this.#firsts.set(key, { id, line, item });
      return;
    }
    this.#others.add(id);
    this.found.add({ id, name, line, item, of: first.id });
  }

  /** Compares the new names with the names of all products of the site. */
  async compareWithSite(sql: Sql): Promise<void> {
    if (this.#firsts.size === 0) return;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: { id: string; name: string }[] = await sql.query(SELECT_NAMES, [after]);
      for (const { id, name } of rows) {
        const first = this.#firsts.get(keyOf(name));
        if (first !== undefined && first.id !== id && !this.#others.has(id)) {
          this.found.add({ ...first, name, of: id });
        }
      }
      after = rows.at(-1)?.id;
    }
  }
}

/** Folds a name and returns its letters and digits, or the name itself if it has none. */
function keyOf(name: string): string {
  return foldText(name).replaceAll(/[^\p{L}\p{N}]/gu, '') || name;
}
