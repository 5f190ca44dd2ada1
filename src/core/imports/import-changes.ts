import { isDeepStrictEqual } from 'node:util';
import { PRODUCT_FIELD_NAMES, type ProductFieldName } from '../../contract/products/fields.ts';
import type { StoredProduct } from '../../contract/products/schema.ts';
import { formatCount } from '../../contract/text.ts';
import { type AuditEntry, insertEntries, lastAuditIds, lockEntryToUndo, recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import { readDatabaseTime } from '../database/clock.ts';
import type { Database, Sql } from '../database/database.ts';
import { lockDaysOf } from '../leaderboards/final-boards.ts';
import { lockProducts } from '../products/product-row.ts';
import { moveToRemoved, removalEntry, removalTransaction, sizesOf } from '../products/remove-products.ts';
import {
  completeProduct,
  findUnschedulable,
  versionOf,
  withMissedLaunch,
  writeProducts,
} from '../products/save-products.ts';
import { DAY_MS } from '../runtime.ts';
import type { LaunchRules } from '../submissions/launch-product.ts';

/** Imports with more changes cannot be undone, because storing all replaced products would take too much space. */
const MAX_CHANGES = 20_000;
const BATCH_ROWS = 1_000;
const RETENTION_DAYS = 30;

export const IMPORT_UNDO_LIMITS = `An import can be undone for ${RETENTION_DAYS} days if it changed at most ${formatCount(MAX_CHANGES)} products.`;

interface ImportChange {
  product_id: string;
  before: StoredProduct | null;
  version: string;
}

const INSERT_CHANGES = `INSERT INTO import_changes (import_id, product_id, before, version, created_at)
  SELECT $1::uuid, product_id, before, version, statement_timestamp()
  FROM jsonb_to_recordset($2::jsonb) AS row (product_id text, before jsonb, version text)`;

/**
 * Collects what an import changes: the previous versions of products, so the import can be undone, and the products
 * that it postpones or launches, for the public moderation log.
 */
export class ImportChanges {
  readonly #importId: string;
  readonly #startedAt: Date;
  #changes: ImportChange[] = [];
  #isTooLarge = false;
  /** Products whose launch time changes, if the old or the new time is after the start of the import. */
  readonly #movedLaunches: [before: StoredProduct, after: StoredProduct][] = [];

  /** @param importId the id of the import's entry in the audit log. */
  constructor(importId: string, startedAt: Date) {
    this.#importId = importId;
    this.#startedAt = startedAt;
  }

  add(before: StoredProduct | undefined, after: StoredProduct): void {
    if (before !== undefined && before.createdAt !== after.createdAt) {
      const isScheduled = ({ createdAt }: StoredProduct) => Date.parse(createdAt) > this.#startedAt.getTime();
      if (isScheduled(before) || isScheduled(after)) this.#movedLaunches.push([launchOnly(before), launchOnly(after)]);
    }
    if (this.#isTooLarge) return;
    this.#changes.push({ product_id: after.id, before: before ?? null, version: versionOf(after) });
    if (this.#changes.length <= MAX_CHANGES) return;
    this.#isTooLarge = true;
    this.#changes = [];
  }

  /**
   * Adds audit entries for the products that the import postpones, or launches after a postponement. Call it at the end
   * of the import, because products may launch during the import.
   */
  async recordMovedLaunches(sql: Sql): Promise<void> {
    if (this.#movedLaunches.length === 0) return;
    const now = await readDatabaseTime(sql);
    const entries = this.#movedLaunches
      .filter(([before, after]) => isPostponed(before, after, now) || isPostponed(after, before, now))
      .map(([before, after]) => movedLaunchEntry(before, after, now, { import: this.#importId }));
    for (let start = 0; start < entries.length; start += BATCH_ROWS) {
      const batch = entries.slice(start, start + BATCH_ROWS);
      const targets = batch.map(({ target }) => target);
      const postponed = await lastAuditIds(sql, 'products postpone', targets);
      await insertEntries(
        sql,
        batch.filter(({ action, target }) => action === 'products postpone' || postponed.has(target)),
      );
    }
  }

  /** Stores the previous versions, unless there are too many. */
  async save(sql: Sql): Promise<void> {
    for (let start = 0; start < this.#changes.length; start += BATCH_ROWS) {
      const rows = JSON.stringify(this.#changes.slice(start, start + BATCH_ROWS));
      await sql.query(INSERT_CHANGES, [this.#importId, rows]);
    }
  }
}

/**
 * `was_removed`: whether the product was removed after the import and not restored. If so, a product that now has its
 * id is a different product.
 */
const SELECT_CHANGES = `SELECT product_id, before, version, EXISTS (
    SELECT 1 FROM removed_products removed
    WHERE removed.product_id = change.product_id AND removed.removed_at > change.created_at
  ) AS was_removed
  FROM import_changes change WHERE import_id = $1 ORDER BY product_id`;

/**
 * Reads the changes of an import.
 * @returns an empty list if none are stored, because the import is too old or was too large, or because its audit entry
 * comes from a backup, which does not contain the changes.
 * @throws CoreError `unavailable`.
 */
async function readImportChanges(
  sql: Sql,
  importId: string,
): Promise<{ productId: string; before: StoredProduct | null; version: string; wasRemoved: boolean }[]> {
  const rows = await sql.query<ImportChange & { was_removed: boolean }>(SELECT_CHANGES, [importId]);
  return rows.map(({ product_id: productId, before, version, was_removed: wasRemoved }) => ({
    productId,
    // Fields that were added to products since the import get their defaults.
    before: before && completeProduct(before, new Date(0)),
    version,
    wasRemoved,
  }));
}

/** Deletes the changes of imports that are too old to be undone. */
export async function deleteOldImportChanges(sql: Sql, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - RETENTION_DAYS * DAY_MS).toISOString();
  await sql.query('DELETE FROM import_changes WHERE created_at < $1::timestamptz', [oldest]);
}

/** A field that an import changes, or that a dry run would change. */
export interface FieldChange {
  field: ProductFieldName;
  before: StoredProduct[ProductFieldName];
  after: StoredProduct[ProductFieldName];
}

/** Returns the differences between a product and its new version, in the order of the fields. */
export function changesBetween(before: StoredProduct, after: StoredProduct): FieldChange[] {
  return PRODUCT_FIELD_NAMES.filter((field) => !isDeepStrictEqual(before[field], after[field])).map((field) => ({
    field,
    before: before[field],
    after: after[field],
  }));
}

/** Reduces a product to the fields that `movedLaunchEntry` reads, to save memory if an import moves many launches. */
function launchOnly({ id, name, createdAt, launchDate }: StoredProduct): StoredProduct {
  return completeProduct({ id, name, createdAt, launchDate }, new Date(0));
}

/** Returns whether a change postpones a launched product, which takes it off the site until its new launch time. */
function isPostponed(before: StoredProduct, after: StoredProduct, now: Date): boolean {
  return Date.parse(before.createdAt) <= now.getTime() && Date.parse(after.createdAt) > now.getTime();
}

/** Returns the audit entry of an edit. A postponement has its own action, which the public moderation log shows. */
export function editEntry(before: StoredProduct, after: StoredProduct, now: Date) {
  const changes = changesBetween(before, after);
  return {
    action: isPostponed(before, after, now) ? 'products postpone' : 'products edit',
    target: after.id,
    details: {
      name: after.name,
      before: Object.fromEntries(changes.map(({ field, before: value }) => [field, value])),
      after: Object.fromEntries(changes.map(({ field, after: value }) => [field, value])),
    },
  } as const;
}

/**
 * Returns the audit entry of a product that an import, or its undo, postpones or launches again. The details contain
 * only the times, because an import may move many launches.
 */
function movedLaunchEntry(
  before: StoredProduct,
  after: StoredProduct,
  now: Date,
  more: { import: string; reason?: string },
) {
  const { name, createdAt, launchDate } = after;
  const { details, ...entry } = editEntry(before, { ...before, createdAt, launchDate }, now);
  return { ...entry, details: { ...details, name, ...more } };
}

const UNDO_BATCH_ROWS = 500;

interface UndoneImport {
  /** The number of new products that were removed. `products restore` can restore them. */
  removed: number;
  /** The number of products whose previous fields were restored. */
  reverted: number;
  /**
   * The number of products that were left unchanged, because they were edited or removed after the import, or would be
   * scheduled although their results have become final.
   */
  skipped: number;
}

/**
 * Reverts an import: new products are removed, and others get their previous fields, except for those that `skipped`
 * counts. Reads `rules.now` after locking, like `editProduct`. `database` must have no statement timeout.
 * @returns undefined if the changes of the import are not stored.
 * @throws CoreError `not_undoable` if the import was already undone, or if `skipped` counts all; `unavailable`.
 */
export async function undoImport(
  database: Database,
  { id, target, createdAt }: Pick<AuditEntry, 'id' | 'target' | 'createdAt'>,
  rules: LaunchRules,
): Promise<UndoneImport | undefined> {
  const changes = await readImportChanges(database, id);
  if (changes.length === 0) return undefined;
  const newIds = changes.filter(({ before }) => before === null).map(({ productId }) => productId);
  // The undo may schedule these products again. They are locked, so their results do not become final first.
  const scheduled = changes.filter(({ before }) => before !== null && new Date(before.createdAt) > rules.now);
  const locked = [...newIds, ...scheduled.map(({ productId }) => productId)];
  const revert = async (sql: Sql) => {
    if (!(await lockEntryToUndo(sql, id))) throw new CoreError('not_undoable', 'This entry has already been undone.');
    const unchanged = await lockUnchanged(sql, changes);
    await lockDaysOf(sql, locked);
    await lockCounts(sql, locked);
    const { now, timeZone } = rules;
    const removed = newIds.filter((productId) => unchanged.has(productId));
    const previous = changes.flatMap(({ productId, before }) => {
      const current = unchanged.get(productId);
      if (before === null || current === undefined) return [];
      return withMissedLaunch(before, { changedAt: new Date(createdAt), current, now, timeZone });
    });
    const moved = previous.filter(({ id: productId, createdAt }) => unchanged.get(productId)?.createdAt !== createdAt);
    const refused = new Set(await findUnschedulable(sql, moved));
    const reverted = previous.filter((product) => !refused.has(product));
    const skipped = changes.length - removed.length - reverted.length;
    // Otherwise, the import would count as undone, so it could not be undone after the later changes are undone.
    if (skipped === changes.length)
      throw new CoreError('not_undoable', 'All imported products have changed or are final. Undo later changes first.');
    for (let start = 0; start < reverted.length; start += UNDO_BATCH_ROWS)
      await writeProducts(sql, reverted.slice(start, start + UNDO_BATCH_ROWS));
    const stored = removed.length > 0 ? await moveToRemoved(sql, removed) : [];
    const undone = { removed: removed.length, reverted: reverted.length, skipped };
    const details = { reason: 'Import undone', import: id };
    // The public moderation log shows removals and moved launches, but not the entry `import undo`.
    const removals = stored
      .filter(({ launched }) => launched)
      .map((product) => ({ ...removalEntry(product, details), undoes: null }));
    const edits = await movedLaunchEntries(sql, details, reverted, unchanged, rules.now);
    await recordAudit(sql, [...removals, ...edits, { action: 'import undo', target, details: undone, undoes: id }]);
    const productIds = [...removed, ...reverted.map((product) => product.id)];
    await recordChange(sql, { productIds, catalogue: true });
    return undone;
  };
  return removalTransaction(database, await sizesOf(database, locked), revert, changes.length - newIds.length);
}

const SELECT_POSTPONED = `SELECT target, id FROM audit_log
  WHERE target = ANY($1::text[]) AND action = 'products postpone' AND details ->> 'import' = $2`;

/**
 * Returns the audit entries for launches that undoing an import moves, which the public moderation log shows. Each
 * entry undoes the one with which the import postponed a product, or records that the undo postpones a product.
 * `current`: the products before the undo.
 */
async function movedLaunchEntries(
  sql: Sql,
  details: { import: string; reason: string },
  reverted: readonly StoredProduct[],
  current: ReadonlyMap<string, StoredProduct>,
  now: Date,
) {
  const ids = reverted.map(({ id }) => id);
  const rows = await sql.query<{ target: string; id: string }>(SELECT_POSTPONED, [ids, details.import]);
  const postponed = new Map(rows.map(({ target, id }) => [target, id]));
  return reverted.flatMap((product) => {
    const imported = current.get(product.id) ?? product;
    const undoes = postponed.get(product.id) ?? null;
    if (undoes === null && !isPostponed(imported, product, now)) return [];
    return { ...movedLaunchEntry(imported, product, now, details), undoes };
  });
}

/** Locks products. @returns those that have neither changed nor been created again since the import, by id. */
async function lockUnchanged(
  sql: Sql,
  changes: readonly { productId: string; version: string; wasRemoved: boolean }[],
): Promise<ReadonlyMap<string, StoredProduct>> {
  const unchanged = new Map<string, StoredProduct>();
  for (let start = 0; start < changes.length; start += UNDO_BATCH_ROWS) {
    const batch = new Map(changes.slice(start, start + UNDO_BATCH_ROWS).map((change) => [change.productId, change]));
    for (const product of await lockProducts(sql, [...batch.keys()])) {
      const change = batch.get(product.id);
      if (change?.version === versionOf(product) && !change.wasRemoved) unchanged.set(product.id, product);
    }
  }
  return unchanged;
}
