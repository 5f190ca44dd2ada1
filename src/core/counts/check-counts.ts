import { recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { PUBLIC } from '../comments/comment-row.ts';
import type { Database, Sql } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-errors.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { recountLaunches } from '../leaderboards/launch-votes.ts';
import type { Log } from '../runtime.ts';
import { lockCounts } from './lock-counts.ts';

/** A product with a wrong count. A stored count is null if the product has no row of counts. */
export interface WrongCount {
  productId: string;
  upvotes: { stored: number | null; rows: number };
  comments: { stored: number | null; rows: number };
}

interface CheckedCounts {
  checked: number;
  wrong: WrongCount[];
  /** The value of `after` for the next call; null if all products have been checked. */
  next: string | null;
}

interface CountRow {
  product_id: string;
  upvotes: number | null;
  comments: number | null;
  upvote_rows: number;
  comment_rows: number;
}

// A single statement reads one snapshot. Counts and rows change in the same transaction, so concurrent writes cannot
// make a correct count look wrong.
const COUNT_ROWS = `SELECT p.id AS product_id, c.upvotes, c.comments,
    (SELECT count(*)::integer FROM upvotes u WHERE u.product_id = p.id) AS upvote_rows,
    (SELECT count(*)::integer FROM comments WHERE product_id = p.id AND ${PUBLIC}) AS comment_rows
  FROM products p LEFT JOIN product_counts c ON c.product_id = p.id`;

const COUNT_BATCH = `${COUNT_ROWS} WHERE p.id > $1 ORDER BY p.id LIMIT $2`;

/**
 * Compares the counts of at most `limit` products with their rows, in the order of their ids, starting after `after`
 * (empty in the first call). Each call is cheap enough for a busy site.
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

// Runs as a separate statement after the lock has been acquired, so it sees all rows that were committed before then.
// If the counts are missing, there may be decisions about votes, so `has_decisions` is set.
const REPAIR = `WITH counted AS (${COUNT_ROWS} WHERE p.id = ANY($1::text[])), repaired AS (
    INSERT INTO product_counts (product_id, upvotes, comments, window_from, has_decisions)
    SELECT counted.product_id, upvote_rows, comment_rows, coalesce(l.launched_at, '-infinity'), true
    FROM counted LEFT JOIN launches l ON l.product_id = counted.product_id AND NOT l.final ORDER BY counted.product_id
    ON CONFLICT (product_id) DO UPDATE SET upvotes = EXCLUDED.upvotes, comments = EXCLUDED.comments
  )
  SELECT * FROM counted`;

/**
 * Recounts the rows of these products and stores the counts, in one transaction that locks them. Repairs are recorded
 * in the audit log.
 * @returns the counts that were wrong. @throws CoreError `unavailable`.
 */
export async function repairCounts(database: Database, productIds: readonly string[]): Promise<WrongCount[]> {
  if (productIds.length === 0) return [];
  return transactionWithRetries(database, async (sql) => {
    await lockCounts(sql, productIds);
    const wrong = wrongOf(await sql.query<CountRow>(REPAIR, [productIds]));
    // The statement has no `ORDER BY`, so the order of its rows is not guaranteed.
    wrong.sort((one, other) => (one.productId < other.productId ? -1 : 1));
    if (wrong.length === 0) return [];
    const missing = wrong.filter(({ upvotes }) => upvotes.stored === null);
    // `REPAIR` creates missing counts without the votes in the launch window.
    await recountLaunches(
      sql,
      missing.map(({ productId }) => productId),
    );
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
  /**
   * Checks the next few products and returns those with wrong counts, except those that `drift` already includes.
   * @throws CoreError `unavailable`.
   */
  step(): Promise<WrongCount[]>;
  /**
   * Returns the number of products whose counts were wrong when they were last checked. A repair by any process is
   * taken into account.
   */
  drift(): number;
}

// The limit of the time avoids a scan of the whole log. It is longer than the time between two steps.
const SELECT_REPAIRS = `SELECT id, ARRAY(SELECT jsonb_array_elements(details -> 'wrong') ->> 'productId') AS product_ids
  FROM audit_log WHERE action = 'counts repair' AND created_at > clock_timestamp() - interval '10 minutes'`;

/** Checking this many products usually takes a few milliseconds. */
const PRODUCTS_PER_STEP = 200;

/**
 * Creates a sampler that checks all products of a running site in rounds, a few products per step. After a statement
 * timeout, the next step checks half as many; a single product that takes too long is skipped.
 */
export function createDriftSampler(
  sql: Sql,
  log: Pick<Log, 'warn'>,
  productsPerStep = PRODUCTS_PER_STEP,
): DriftSampler {
  let limit = productsPerStep;
  let after = '';
  const wrongIds = new Set<string>();
  /** The ids of the recent repairs that have been taken into account. */
  let seenRepairs: ReadonlySet<string> = new Set();

  /** Forgets the repaired products, which on a large site would otherwise be checked again only hours later. */
  async function forgetRepaired(): Promise<void> {
    const repairs = await sql.query<{ id: string; product_ids: string[] }>(SELECT_REPAIRS);
    for (const { id, product_ids: productIds } of repairs) {
      if (!seenRepairs.has(id)) for (const productId of productIds) wrongIds.delete(productId);
    }
    seenRepairs = new Set(repairs.map(({ id }) => id));
  }

  async function afterTimeout(error: unknown): Promise<undefined> {
    if (!isStatementTimeout(error)) throw error;
    if (limit === 1) await skipProduct();
    limit = Math.ceil(limit / 2);
  }

  async function skipProduct(): Promise<void> {
    const [product] = await sql.query<{ id: string }>('SELECT id FROM products WHERE id > $1 ORDER BY id LIMIT 1', [
      after,
    ]);
    after = product?.id ?? '';
    log.warn(
      { productId: after },
      'The count check skipped a product, because counting its rows takes too long. Run `groundswell counts check`.',
    );
  }

  return {
    async step() {
      await forgetRepaired();
      const checked = await checkCounts(sql, { after, limit }).catch(afterTimeout);
      if (checked === undefined) return [];
      const { wrong, next } = checked;
      limit = Math.min(2 * limit, productsPerStep);
      const fresh = wrong.filter(({ productId }) => !wrongIds.has(productId));
      for (const id of wrongIds) if (id > after && (next === null || id <= next)) wrongIds.delete(id);
      for (const { productId } of wrong) wrongIds.add(productId);
      after = next ?? '';
      return fresh;
    },
    drift: () => wrongIds.size,
  };
}
