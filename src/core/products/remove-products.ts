import { randomUUID } from 'node:crypto';
import { recordActs } from '../audit/record-act.ts';
import { noteChange } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/retry-transaction.ts';

/** A product that was removed, and what went with it. Counts are those of the site: of public comments. */
export interface RemovedProduct {
  id: string;
  name: string;
  upvotes: number;
  comments: number;
}

/** All of them were removed, or, where some are unknown, none. */
export interface ProductRemoval {
  removed: RemovedProduct[];
  unknown: string[];
}

/** From so many rows on, moving them takes long enough that nobody should wait for it. */
const CLOSED_FROM_ROWS = 5_000;

/** How long a product stays closed when the command that closed it is killed: about twice as long as moving takes. */
const CLOSED_MS = 5_000;
const CLOSED_MS_PER_ROW = 0.05;

/**
 * Takes products off the site with their counts, upvotes and comments, and keeps them for `restoreProducts`. All or nothing, in
 * one transaction. While many rows are moved, writers pass the product over instead of waiting for its count: they would wait
 * together with all who write to other products. Wants a database without a time limit.
 * @throws CoreError `unavailable`.
 */
export async function removeProducts(database: Database, ids: readonly string[]): Promise<ProductRemoval> {
  const asked = [...new Set(ids)];
  const unknown = missingOf(asked, await sizesOf(database, asked));
  if (unknown.length > 0) return { removed: [], unknown };
  await closeLarge(database, asked);
  try {
    return await transactionWithRetries(database, (sql) => move(sql, asked));
  } catch (error) {
    await reopen(database, asked).catch(() => {
      // It reopens by itself in a moment; what is to be told is why the removal failed.
    });
    throw error;
  }
}

interface Size {
  product_id: string;
  rows: number;
}

const SELECT_SIZES = `SELECT p.id AS product_id, coalesce(c.upvotes + c.comments, 0) AS rows
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id WHERE p.id = ANY($1::text[])`;

function sizesOf(sql: Sql, ids: readonly string[]): Promise<Size[]> {
  return sql.query<Size>(SELECT_SIZES, [ids]);
}

function missingOf(ids: readonly string[], found: readonly { product_id: string }[]): string[] {
  const present = new Set(found.map((row) => row.product_id));
  return ids.filter((id) => !present.has(id));
}

const CLOSE = `UPDATE product_counts SET closed_until = statement_timestamp() + $2::float8 * interval '1 millisecond'
  WHERE product_id = ANY($1::text[])`;

async function closeLarge(database: Database, ids: readonly string[]): Promise<void> {
  const large = (await sizesOf(database, ids)).filter(({ rows }) => rows >= CLOSED_FROM_ROWS);
  if (large.length === 0) return;
  const rows = large.reduce((sum, size) => sum + size.rows, 0);
  const productIds = large.map((size) => size.product_id);
  await database.transaction(async (sql) => {
    await lockCounts(sql, productIds);
    await sql.query(CLOSE, [productIds, CLOSED_MS + rows * CLOSED_MS_PER_ROW]);
  });
}

async function reopen(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.query('UPDATE product_counts SET closed_until = NULL WHERE product_id = ANY($1::text[])', [ids]);
}

const KEEP_PRODUCTS = `INSERT INTO removed_products
    (removal_id, product_id, batch_id, removed_at, upvotes, comments, product)
  SELECT asked.removal_id, p.id, $3::uuid, clock_timestamp(), coalesce(c.upvotes, 0), coalesce(c.comments, 0), to_jsonb(p)
  FROM unnest($1::uuid[], $2::text[]) AS asked (removal_id, product_id)
  JOIN products p ON p.id = asked.product_id LEFT JOIN product_counts c ON c.product_id = p.id
  RETURNING product_id, product ->> 'name' AS name, upvotes, comments`;

const KEEP_UPVOTES = `WITH gone AS (
    DELETE FROM upvotes WHERE product_id = ANY($1::text[]) RETURNING *
  )
  INSERT INTO removed_upvotes (removal_id, id, user_session, created_at)
  SELECT r.removal_id, gone.id, gone.user_session, gone.created_at
  FROM gone JOIN removed_products r ON r.product_id = gone.product_id AND r.batch_id = $2::uuid`;

// Deleted and kept in one statement: a like that comes in between is in it, or is told that there is no such comment.
const KEEP_COMMENTS = `WITH gone AS (
    DELETE FROM comments WHERE product_id = ANY($1::text[]) RETURNING comments.*
  )
  INSERT INTO removed_comments (removal_id, id, comment)
  SELECT r.removal_id, gone.id, to_jsonb(gone)
  FROM gone JOIN removed_products r ON r.product_id = gone.product_id AND r.batch_id = $2::uuid`;

async function move(sql: Sql, ids: readonly string[]): Promise<ProductRemoval> {
  const batchId = randomUUID();
  await lockCounts(sql, ids);
  // Whoever was quicker has removed it: nothing was written yet, so nothing is half done.
  const unknown = missingOf(ids, await sizesOf(sql, ids));
  if (unknown.length > 0) return { removed: [], unknown };
  const kept = await sql.query<{ product_id: string } & Omit<RemovedProduct, 'id'>>(KEEP_PRODUCTS, [
    ids.map(() => randomUUID()),
    ids,
    batchId,
  ]);
  await sql.query(KEEP_UPVOTES, [ids, batchId]);
  await sql.query(KEEP_COMMENTS, [ids, batchId]);
  await sql.query('DELETE FROM products WHERE id = ANY($1::text[])', [ids]);
  const removed = kept.map(({ product_id: id, ...product }) => ({ id, ...product }));
  await recordActs(
    sql,
    removed.map(({ id, ...details }) => ({ act: 'products remove', subject: id, details })),
  );
  await noteChange(sql, { productIds: [...ids], catalogue: true });
  return { removed, unknown: [] };
}
