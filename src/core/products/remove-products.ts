import { randomUUID } from 'node:crypto';
import type { RemovalResult, RemovedProductRecord } from '../../contract/console/records.ts';
import { isProductId } from '../../contract/products/fields.ts';
import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { blockingTransaction } from '../counts/block-writes.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { lockDaysOf, periodsOf, reviseBoards } from '../leaderboards/final-boards.ts';
import { countPlaced, updateHistogram } from '../leaderboards/histogram.ts';
import { lockProductRows } from './product-row.ts';

/** A removed product, with the numbers of its upvotes and public comments. */
export type RemovedProduct = Pick<RemovedProductRecord, 'id' | 'name' | 'upvotes' | 'comments'>;

interface ProductRemoval {
  /** The removed products. `restoreProducts` undoes a removal by its `removalId`. */
  removed: RemovalResult['removed'];
  unknown: string[];
}

/** The cost of moving or changing a product without its upvotes and comments, as a number of rows. */
const ROWS_PER_PRODUCT = 10;

/**
 * Removes products with their counts, upvotes and comments in one transaction, and stores them for `restoreProducts`.
 * If an id is unknown, removes nothing or, with `skipsUnknown`, only the other products. For `LARGE_CHANGE_ROWS` rows
 * or more, `database` must have no statement timeout.
 * @throws CoreError `unavailable`.
 */
export async function removeProducts(
  database: Database,
  ids: readonly string[],
  reason?: string,
  { skipsUnknown = false } = {},
): Promise<ProductRemoval> {
  const requested = [...new Set(ids)];
  const sizes = await sizesOf(database, requested);
  const { known, unknown } = divide(requested, sizes);
  if (known.length === 0 || (unknown.length > 0 && !skipsUnknown)) return { removed: [], unknown };
  return removalTransaction(database, sizes, (sql) => removeAll(sql, requested, { reason, skipsUnknown }));
}

// The digests of final days are computed while the counts are locked, so the votes of these days count as rows. The
// numbers of votes come from the histograms of the days.
const SELECT_DIGEST_ROWS = `SELECT coalesce(sum(products * (votes + ${ROWS_PER_PRODUCT})), 0)::float8 AS rows FROM leaderboard_counts
  WHERE period IN (SELECT day FROM launches WHERE product_id = ANY($1::text[]) AND final)`;

/**
 * Runs a transaction that may remove these products. If it may take long, writers skip the products until it ends.
 * `rewritten` is the number of other products that the transaction may change while it holds the locks.
 */
export async function removalTransaction<Result>(
  database: Database,
  sizes: readonly ProductSize[],
  work: (sql: Sql) => Promise<Result>,
  rewritten = 0,
): Promise<Result> {
  const productIds = sizes.map((size) => size.product_id);
  const [digest] = await database.query<{ rows: number }>(SELECT_DIGEST_ROWS, [productIds]);
  const productRows = (sizes.length + rewritten) * ROWS_PER_PRODUCT;
  const rows = sizes.reduce((sum, size) => sum + size.rows, productRows + (digest?.rows ?? 0));
  return blockingTransaction(database, { column: 'writes_blocked_until', productIds, rows }, work);
}

interface ProductSize {
  product_id: string;
  rows: number;
}

const SELECT_SIZES = `SELECT p.id AS product_id, coalesce(c.upvotes + c.comments, 0) AS rows
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`;

/** Reads the sizes of the existing products with these ids. @throws CoreError `unavailable`. */
export function sizesOf(sql: Sql, ids: readonly string[]): Promise<ProductSize[]> {
  return sql.query<ProductSize>(SELECT_SIZES, [ids]);
}

/**
 * Returns the number of upvotes and comments of these products, from their stored counts.
 * @throws CoreError `unavailable`.
 */
export async function countRowsOf(sql: Sql, ids: readonly string[]): Promise<number> {
  return (await sizesOf(sql, ids)).reduce((sum, { rows }) => sum + rows, 0);
}

function divide(ids: readonly string[], found: readonly ProductSize[]): { known: string[]; unknown: string[] } {
  const present = new Set(found.map((row) => row.product_id));
  return { known: ids.filter((id) => present.has(id)), unknown: ids.filter((id) => !present.has(id)) };
}

/**
 * SQL: whether a removed product had launched, and so was public, even if it was postponed afterwards. A postponement
 * before an earlier removal, or before the submission of the product, concerned another product with the same id.
 */
const LAUNCHED = `((product ->> 'created_at')::timestamptz <= removed_at OR EXISTS (
    SELECT FROM audit_log a WHERE a.target = product_id COLLATE "default" AND a.action = 'products postpone'
      AND a.created_at <= removed_at AND NOT EXISTS (
        SELECT FROM removed_products earlier WHERE earlier.product_id = removed_products.product_id
          AND earlier.removed_at >= a.created_at AND earlier.removed_at < removed_products.removed_at)
      AND NOT EXISTS (SELECT FROM submissions s WHERE s.id = product_id AND s.created_at > a.created_at)))`;

const STORE_PRODUCTS = `INSERT INTO removed_products
    (removal_id, product_id, batch_id, removed_at, upvotes, comments, product, counts, launch, decisions)
  SELECT requested.removal_id, p.id, $3::uuid, clock_timestamp(), coalesce(c.upvotes, 0), coalesce(c.comments, 0), to_jsonb(p),
    coalesce(to_jsonb(c), '{}'), to_jsonb(l), (SELECT jsonb_agg(to_jsonb(d)) FROM vote_decisions d WHERE d.product_id = p.id)
  FROM unnest($1::uuid[], $2::text[]) AS requested (removal_id, product_id)
  JOIN products p ON p.id = requested.product_id LEFT JOIN product_counts c ON c.product_id = p.id
    LEFT JOIN launches l ON l.product_id = p.id`;

const SELECT_STORED = `SELECT removal_id, product_id, product ->> 'name' AS name, upvotes, comments, ${LAUNCHED} AS launched
  FROM unnest($1::uuid[]) WITH ORDINALITY AS requested (removal_id, place) JOIN removed_products USING (removal_id)
  ORDER BY place`;

/** Returns the statement that moves the rows of a table: upvotes, or withdrawn upvotes that still count. */
const storeUpvotes = (table: 'upvotes' | 'retracted_upvotes') => `WITH gone AS (
    DELETE FROM ${table} WHERE product_id = ANY($1::text[]) RETURNING *
  )
  INSERT INTO removed_upvotes (removal_id, id, user_session, created_at, network, verdict, retracted)
  SELECT r.removal_id, gone.id, gone.user_session, gone.created_at, gone.network, gone.verdict, ${table === 'retracted_upvotes'}
  FROM gone JOIN removed_products r ON r.product_id = gone.product_id AND r.batch_id = $2::uuid`;

const STORE_TALLY_PARTS = `INSERT INTO removed_tally_parts (removal_id, part, day, votes, content)
  SELECT r.removal_id, t.part, t.day, t.votes, t.content
  FROM tally_parts t JOIN removed_products r ON r.product_id = t.product_id AND r.batch_id = $2::uuid
  WHERE t.product_id = ANY($1::text[])`;

// One statement deletes and stores the comments, so a concurrent like is either included or gets `comment_not_found`.
const STORE_COMMENTS = `WITH gone AS (
    DELETE FROM comments WHERE product_id = ANY($1::text[]) RETURNING comments.*
  )
  INSERT INTO removed_comments (removal_id, id, comment)
  SELECT r.removal_id, gone.id, to_jsonb(gone)
  FROM gone JOIN removed_products r ON r.product_id = gone.product_id AND r.batch_id = $2::uuid`;

type StoredRemoval = { removal_id: string; product_id: string; launched: boolean } & Omit<RemovedProduct, 'id'>;

/**
 * Returns the audit entry of a removal, with additional details. The id of the entry is that of the removal, so a
 * restoration can name the entry that it undoes.
 */
export function removalEntry({ removal_id: id, product_id: target, ...product }: StoredRemoval, details: object) {
  return { id, action: 'products remove', target, details: { ...product, ...details } } as const;
}

async function removeAll(
  sql: Sql,
  ids: readonly string[],
  { reason, skipsUnknown }: { reason: string | undefined; skipsUnknown: boolean },
): Promise<ProductRemoval> {
  // Waits for concurrent edits and imports, so the stored products include their changes.
  const locked = await lockProductRows(sql, ids);
  await lockDaysOf(sql, locked);
  await lockCounts(sql, locked);
  // Another command may have removed a product before it was locked, or restored one since. Nothing has been written
  // yet, so a rollback is not needed.
  const { known, unknown } = divide(ids, await sizesOf(sql, locked));
  if (known.length === 0 || (unknown.length > 0 && !skipsUnknown)) return { removed: [], unknown };
  const stored = await moveToRemoved(sql, known);
  const details = reason === undefined ? {} : { reason };
  await recordAudit(
    sql,
    stored.map((product) => removalEntry(product, details)),
  );
  await recordChange(sql, { productIds: known, catalogue: true });
  const removed = stored.map(({ removal_id: removalId, product_id: id, launched: _launched, ...product }) => ({
    id,
    ...product,
    removalId,
  }));
  return { removed, unknown };
}

/**
 * Moves existing products and their rows to the tables of removed products. The caller must have locked the products
 * (`lockProductRows`), their days (`lockDaysOf`) and their counts (`lockCounts`), in this order, and must record the
 * audit entries and the change.
 */
export async function moveToRemoved(sql: Sql, ids: readonly string[]): Promise<StoredRemoval[]> {
  const batchId = randomUUID();
  const removalIds = ids.map(() => randomUUID());
  await sql.query(STORE_PRODUCTS, [removalIds, ids, batchId]);
  const stored = await sql.query<StoredRemoval>(SELECT_STORED, [removalIds]);
  await sql.query(storeUpvotes('upvotes'), [ids, batchId]);
  await sql.query(storeUpvotes('retracted_upvotes'), [ids, batchId]);
  await sql.query(STORE_TALLY_PARTS, [ids, batchId]);
  await sql.query(STORE_COMMENTS, [ids, batchId]);
  await deleteProducts(sql, ids);
  return stored;
}

// Changes the versions of open tallies, because a new product with the same id may get the same `window_changes`.
const TOUCH_OPEN_DAYS = `UPDATE leaderboards SET revision = revision
  WHERE period = ANY($1::text[]) AND kind = 'day' AND final_at IS NULL`;

/**
 * Deletes products with their remaining rows, and revises their boards. The caller must hold the locks that
 * `moveToRemoved` requires, and must record the change.
 * @param changeOthers changes counts of open launches on the same boards; called like `updateCounts` of `reviseBoards`.
 * @returns the periods of the products.
 */
export async function deleteProducts(
  sql: Sql,
  ids: readonly string[],
  changeOthers?: () => Promise<void>,
): Promise<string[]> {
  const periods = await periodsOf(sql, ids);
  const removed = await countPlaced(sql, ids);
  await sql.query('DELETE FROM products WHERE id = ANY($1::text[])', [ids]);
  await sql.query(TOUCH_OPEN_DAYS, [periods]);
  await reviseBoards(sql, periods, async () => {
    await updateHistogram(sql, { removed });
    await changeOthers?.();
  });
  return periods;
}

const SELECT_REMOVED = `SELECT 1 FROM removed_products WHERE product_id = $1 AND ${LAUNCHED} LIMIT 1`;

/**
 * Returns whether a launched product with this id was removed and has not been restored. A new product may have the
 * same id.
 */
export async function isProductRemoved(sql: Sql, id: string): Promise<boolean> {
  return isProductId(id) && (await sql.query(SELECT_REMOVED, [id])).length > 0;
}

/** Lists the newest removals of all products or of one product. @throws CoreError `unavailable`. */
export async function listRemovals(
  sql: Sql,
  { productId, limit }: { productId?: string; limit: number },
): Promise<RemovedProductRecord[]> {
  const rows = await sql.query<{
    removal_id: string;
    product_id: string;
    name: string;
    upvotes: number;
    comments: number;
    removed_at: Date;
    reason: string | null;
  }>(
    `SELECT removal_id, product_id, product ->> 'name' AS name, upvotes, comments, removed_at,
       (SELECT details ->> 'reason' FROM audit_log WHERE id = removal_id) AS reason FROM removed_products
     ${productId === undefined ? '' : 'WHERE product_id = $2'} ORDER BY removed_at DESC, batch_id, product_id LIMIT $1`,
    productId === undefined ? [limit] : [limit, productId],
  );
  return rows.map(({ removal_id: removalId, product_id: id, removed_at, ...product }) => ({
    id,
    ...product,
    removalId,
    removedAt: removed_at.toISOString(),
  }));
}
