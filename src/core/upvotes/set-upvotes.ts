import { isProductId } from '../../contract/products/product-id.ts';
import type { UpvoteState } from '../../contract/upvotes/schema.ts';
import { OPEN } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import { isForeignKeyViolation } from '../database/database-faults.ts';
import { type RowLock, rowLock } from '../database/row-lock.ts';
import type { Outcome } from '../group-commit.ts';
import { productNotFound } from '../products/product-not-found.ts';
import type { Sources } from '../sources.ts';

/** The wish of a session: that its upvote of a product be there, or not. */
export interface UpvoteChange {
  productId: string;
  session: string;
  upvoted: boolean;
}

// One statement, so one round trip and one flush for all of them. A count changes only where a row really came or went.
// The counts are locked first, in the order of their keys, as in every statement that changes a count: two processes
// that write the same products wait for each other instead of meeting crosswise, which takes a second to be noticed.
const setUpvotesStatement = (lock: RowLock) => `WITH locked AS (
    SELECT product_id FROM product_counts WHERE product_id = ANY($1::text[]) AND ${OPEN} ORDER BY product_id ${lock}
  ), wished AS (
    SELECT w.* FROM unnest($1::text[], $2::text[], $3::boolean[], $4::uuid[]) AS w (product_id, user_session, upvoted, id)
    JOIN locked ON locked.product_id = w.product_id
  ), added AS (
    INSERT INTO upvotes (id, product_id, user_session, created_at)
    SELECT id, product_id, user_session, $5::timestamptz FROM wished WHERE upvoted ORDER BY product_id, user_session
    ON CONFLICT (product_id, user_session) DO NOTHING
    RETURNING product_id, user_session
  ), removed AS (
    DELETE FROM upvotes USING wished
    WHERE NOT wished.upvoted AND upvotes.product_id = wished.product_id AND upvotes.user_session = wished.user_session
    RETURNING upvotes.product_id, upvotes.user_session
  ), changed AS (
    SELECT product_id, user_session, 1 AS change FROM added UNION ALL SELECT product_id, user_session, -1 FROM removed
  ), counted AS (
    UPDATE product_counts SET upvotes = product_counts.upvotes + totals.change
    FROM (SELECT product_id, sum(change)::integer AS change FROM changed GROUP BY product_id ORDER BY product_id) AS totals
    WHERE product_counts.product_id = totals.product_id
    RETURNING product_counts.product_id, product_counts.upvotes
  )
  SELECT product_id, user_session, change, NULL::integer AS upvotes FROM changed
  UNION ALL
  SELECT product_id, NULL, NULL, upvotes FROM counted`;

const SELECT_COUNTS = `SELECT product_id, NULL AS user_session, NULL AS change, upvotes FROM product_counts
  WHERE product_id = ANY($1::text[]) AND ${OPEN}`;

/** Either a row of upvotes that came or went, or a product's count after all of it. */
type ResultRow =
  | { product_id: string; user_session: string; change: 1 | -1; upvotes: null }
  | { product_id: string; user_session: null; change: null; upvotes: number };

/**
 * Brings upvotes into the wished state, in one transaction, as if the changes were made one after the other.
 * @returns for each change the state and the product's count after it, or `product_not_found`.
 * @throws CoreError `unavailable`.
 */
export async function setUpvotes(
  sql: Sql,
  sources: Sources,
  changes: readonly UpvoteChange[],
): Promise<Outcome<UpvoteState>[]> {
  const last = lastWishes(changes);
  const written = await write(sql, sources, last);
  return replay(changes, ...statesBefore(last, [...written, ...(await countsOfOthers(sql, last, written))]));
}

/**
 * The counts of products of which no row came or went. By a statement of its own: the one that writes may have waited
 * for another process that wrote the same upvote, and would not see the count that goes with it.
 */
async function countsOfOthers(
  sql: Sql,
  changes: readonly UpvoteChange[],
  written: readonly ResultRow[],
): Promise<ResultRow[]> {
  const counted = new Set(written.map((row) => row.product_id));
  const others = changes.map(({ productId }) => productId).filter((id) => !counted.has(id));
  return others.length === 0 ? [] : sql.query<ResultRow>(SELECT_COUNTS, [others]);
}

async function write(sql: Sql, sources: Sources, changes: readonly UpvoteChange[]): Promise<ResultRow[]> {
  try {
    return await sql.query<ResultRow>(setUpvotesStatement(await rowLock(sql, 'FOR UPDATE')), [
      changes.map(({ productId }) => productId),
      changes.map(({ session }) => session),
      changes.map(({ upvoted }) => upvoted),
      changes.map(() => sources.uuid()),
      sources.now().toISOString(),
    ]);
  } catch (error) {
    // The product was removed while its upvote was written. Among others, each is tried by itself.
    if (changes.length === 1 && isForeignKeyViolation(error)) return [];
    throw error;
  }
}

/** Only the last wish of a session for a product decides what is written. */
function lastWishes(changes: readonly UpvoteChange[]): UpvoteChange[] {
  const last = new Map<string, UpvoteChange>();
  for (const change of changes) if (isProductId(change.productId)) last.set(keyOf(change), change);
  return [...last.values()];
}

/** What was there before: a row that came was not, a row that went was, and one that neither did is as wished. */
function statesBefore(
  last: readonly UpvoteChange[],
  rows: readonly ResultRow[],
): [upvoted: Map<string, boolean>, counts: Map<string, number>] {
  const upvoted = new Map(last.map((change) => [keyOf(change), change.upvoted]));
  const counts = new Map<string, number>();
  for (const { product_id: productId, user_session: session, upvotes } of rows) {
    if (session === null) counts.set(productId, upvotes);
  }
  for (const { product_id: productId, user_session: session, change } of rows) {
    if (session === null) continue;
    upvoted.set(keyOf({ productId, session }), change === -1);
    counts.set(productId, (counts.get(productId) ?? 0) - change);
  }
  return [upvoted, counts];
}

/** Makes the changes once more in memory, in their order, to tell each caller what it did. */
function replay(
  changes: readonly UpvoteChange[],
  upvotedBefore: Map<string, boolean>,
  countsBefore: Map<string, number>,
): Outcome<UpvoteState>[] {
  const current = new Map(upvotedBefore);
  const counts = new Map(countsBefore);
  return changes.map((change) => {
    const { productId, upvoted } = change;
    const count = counts.get(productId);
    if (count === undefined) return productNotFound();
    const upvotes = count + Number(upvoted) - Number(current.get(keyOf(change)));
    current.set(keyOf(change), upvoted);
    counts.set(productId, upvotes);
    return { upvoted, upvotes };
  });
}

function keyOf({ productId, session }: { productId: string; session: string }): string {
  return `${productId} ${session}`;
}
