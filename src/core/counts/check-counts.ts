import { recordAct } from '../audit/record-act.ts';
import { noteChange } from '../changes/change-feed.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/retry-transaction.ts';
import { lockCounts } from './lock-counts.ts';

/** A product of which a count is not that of the rows; a stored count is null where there is none at all. */
export interface WrongCount {
  productId: string;
  upvotes: { stored: number | null; rows: number };
  comments: { stored: number | null; rows: number };
}

export interface CheckedCounts {
  checked: number;
  wrong: WrongCount[];
  /** The last product looked at; null when there are none behind it. */
  next: string | null;
}

interface CountRow {
  product_id: string;
  upvotes: number | null;
  comments: number | null;
  upvote_rows: number;
  comment_rows: number;
}

// One statement, so one snapshot: a count and the rows that it counts change in one transaction, and are seen together
// or not at all. That is why writes in between are no false alarm.
const COUNT_ROWS = `SELECT p.id AS product_id, c.upvotes, c.comments,
    (SELECT count(*)::integer FROM upvotes u WHERE u.product_id = p.id) AS upvote_rows,
    (SELECT count(*)::integer FROM comments WHERE product_id = p.id AND ${PUBLIC}) AS comment_rows
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id`;

const COUNT_BATCH = `${COUNT_ROWS} WHERE p.id > $1 ORDER BY p.id LIMIT $2`;

/**
 * Compares the counts of at most `limit` products, those whose ids come after `after` (the empty text: from the
 * beginning), with the rows that they count. Cheap enough for a site under load, and right while it writes.
 * @throws CoreError `unavailable`.
 */
export async function checkCounts(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<CheckedCounts> {
  const rows = await sql.query<CountRow>(COUNT_BATCH, [after, limit]);
  return {
    checked: rows.length,
    wrong: wrongOf(rows),
    next: rows.length < limit ? null : (rows.at(-1)?.product_id ?? null),
  };
}

// A statement of its own after the one that locks, so that it sees all that was written before the lock was had.
const REPAIR = `WITH counted AS (${COUNT_ROWS} WHERE p.id = ANY($1::text[])), set_right AS (
    INSERT INTO product_counts (product_id, upvotes, comments)
    SELECT product_id, upvote_rows, comment_rows FROM counted ORDER BY product_id
    ON CONFLICT (product_id) DO UPDATE SET upvotes = EXCLUDED.upvotes, comments = EXCLUDED.comments
  )
  SELECT * FROM counted`;

/**
 * Counts the rows of these products again and stores what it counted, in the caller's transaction, until whose end nobody
 * else changes them.
 * @returns those that were wrong until now. @throws CoreError `unavailable`.
 */
export async function recount(sql: Sql, productIds: readonly string[]): Promise<WrongCount[]> {
  if (productIds.length === 0) return [];
  await lockCounts(sql, productIds);
  const wrong = wrongOf(await sql.query<CountRow>(REPAIR, [productIds]));
  // Of a statement that writes, the order of rows is nobody's promise.
  return wrong.sort((one, other) => (one.productId < other.productId ? -1 : 1));
}

/**
 * Counts the rows of these products again and stores what it counted, in one transaction that keeps others from writing
 * them meanwhile.
 * @returns those that were wrong until now. @throws CoreError `unavailable`.
 */
export async function repairCounts(database: Database, productIds: readonly string[]): Promise<WrongCount[]> {
  if (productIds.length === 0) return [];
  return transactionWithRetries(database, async (sql) => {
    const wrong = await recount(sql, productIds);
    if (wrong.length > 0) await recordAct(sql, { act: 'counts repair', subject: subjectOf(wrong), details: { wrong } });
    await noteChange(sql, { productIds: wrong.map(({ productId }) => productId), catalogue: false });
    return wrong;
  });
}

function subjectOf([first, ...others]: readonly WrongCount[]): string {
  return `${first?.productId}${others.length > 0 ? ` and ${others.length} more` : ''}`;
}

function wrongOf(rows: readonly CountRow[]): WrongCount[] {
  return rows
    .map(({ product_id: productId, upvotes, comments, upvote_rows, comment_rows }) => ({
      productId,
      upvotes: { stored: upvotes, rows: upvote_rows },
      comments: { stored: comments, rows: comment_rows },
    }))
    .filter(({ upvotes, comments }) => upvotes.stored !== upvotes.rows || comments.stored !== comments.rows);
}
