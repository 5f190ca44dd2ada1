import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { lockCounts } from './lock-counts.ts';

/** A product with a wrong count; a stored count is null if its row is missing. */
export interface WrongCount {
  productId: string;
  upvotes: { stored: number | null; rows: number };
  comments: { stored: number | null; rows: number };
}

interface CheckedCounts {
  checked: number;
  wrong: WrongCount[];
  /** The last product checked; null at the end. */
  next: string | null;
}

interface CountRow {
  product_id: string;
  upvotes: number | null;
  comments: number | null;
  upvote_rows: number;
  comment_rows: number;
}

// One statement, so one snapshot: counts and rows change in the same transaction, so concurrent writes cause no false
// alarm.
const COUNT_ROWS = `SELECT p.id AS product_id, c.upvotes, c.comments,
    (SELECT count(*)::integer FROM upvotes u WHERE u.product_id = p.id) AS upvote_rows,
    (SELECT count(*)::integer FROM comments WHERE product_id = p.id AND ${PUBLIC}) AS comment_rows
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id`;

const COUNT_BATCH = `${COUNT_ROWS} WHERE p.id > $1 ORDER BY p.id LIMIT $2`;

/**
 * Compares the counts of at most `limit` products, by id from `after` on (empty: from the beginning), with their rows.
 * Cheap enough for a busy site.
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

// A separate statement after the lock, so it sees everything written before.
const REPAIR = `WITH counted AS (${COUNT_ROWS} WHERE p.id = ANY($1::text[])), set_right AS (
    INSERT INTO product_counts (product_id, upvotes, comments, window_from)
    SELECT product_id, upvote_rows, comment_rows,
      coalesce((SELECT launched_at FROM launches l WHERE l.product_id = counted.product_id AND NOT l.final), '-infinity')
    FROM counted ORDER BY product_id
    ON CONFLICT (product_id) DO UPDATE SET upvotes = EXCLUDED.upvotes, comments = EXCLUDED.comments
  )
  SELECT * FROM counted`;

/**
 * Recounts the rows of these products and stores the counts, in the caller's transaction, which locks them until its
 * end.
 * @returns the counts that were wrong. @throws CoreError `unavailable`.
 */
async function recount(sql: Sql, productIds: readonly string[]): Promise<WrongCount[]> {
  if (productIds.length === 0) return [];
  await lockCounts(sql, productIds);
  const wrong = wrongOf(await sql.query<CountRow>(REPAIR, [productIds]));
  // A writing statement does not guarantee the order of its rows.
  return wrong.sort((one, other) => (one.productId < other.productId ? -1 : 1));
}

/**
 * Recounts the rows of these products and stores the counts in one transaction that locks them.
 * @returns the counts that were wrong. @throws CoreError `unavailable`.
 */
export async function repairCounts(database: Database, productIds: readonly string[]): Promise<WrongCount[]> {
  if (productIds.length === 0) return [];
  return transactionWithRetries(database, async (sql) => {
    const wrong = await recount(sql, productIds);
    if (wrong.length > 0)
      await recordAudit(sql, { action: 'counts repair', target: targetOf(wrong), details: { wrong } });
    await recordChange(sql, { productIds: wrong.map(({ productId }) => productId), catalogue: false });
    return wrong;
  });
}

function targetOf([first, ...others]: readonly WrongCount[]): string {
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

interface DriftSampler {
  /** Checks the next few products and returns those with wrong counts. @throws CoreError `unavailable`. */
  step(): Promise<WrongCount[]>;
  /** Products found wrong in the last full round, or in the current one if that has more. */
  drift(): number;
}

/** Few enough to take only some milliseconds. */
const PRODUCTS_A_STEP = 200;

/** Checks all products in turn, a few at a time, on a running site. */
export function createDriftSampler(sql: Sql, productsAStep = PRODUCTS_A_STEP): DriftSampler {
  let after = '';
  let lastRound = 0;
  let thisRound = 0;
  return {
    async step() {
      const { wrong, next } = await checkCounts(sql, { after, limit: productsAStep });
      after = next ?? '';
      thisRound += wrong.length;
      if (next === null) {
        lastRound = thisRound;
        thisRound = 0;
      }
      return wrong;
    },
    drift: () => Math.max(lastRound, thisRound),
  };
}
