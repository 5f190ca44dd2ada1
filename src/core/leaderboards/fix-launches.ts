import { createHash, type Hash, randomBytes } from 'node:crypto';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import { refreshLaunches } from './refresh-launches.ts';
import { writeTallyParts } from './tally-parts.ts';
import { readWindowVotes, type WindowVote } from './tally-votes.ts';

interface Totals {
  product_id: string;
  counted: number;
  excluded_network: number;
  excluded_operator: number;
}

// Rows with correct counts are not touched, so visitors who upvote do not wait.
const SET_COUNTS = `UPDATE product_counts c SET counted = t.counted, excluded_network = t.excluded_network,
    excluded_operator = t.excluded_operator, window_changes = c.window_changes + 1
  FROM jsonb_to_recordset($1::jsonb) AS t (product_id text, counted integer, excluded_network integer, excluded_operator integer)
  WHERE c.product_id = t.product_id
    AND (c.counted, c.excluded_network, c.excluded_operator) IS DISTINCT FROM (t.counted, t.excluded_network, t.excluded_operator)`;

// Otherwise votes would count again if the clock was ahead by mistake and is set back into the window.
const CLOSE_WINDOWS = "UPDATE product_counts SET window_from = '-infinity' WHERE product_id = ANY($1::text[])";

/**
 * Stores the tally of these launches, which is their result from now on; their votes are recounted while they are
 * read. The caller has locked the day (`lockDays`). `secret` is unset if it was destroyed; `hash` receives every line.
 */
export async function fixLaunches(
  sql: Sql,
  day: string,
  productIds: readonly string[],
  { secret = randomBytes(32), hash = createHash('sha256') }: { secret?: Buffer | undefined; hash?: Hash } = {},
): Promise<void> {
  const totals = new Map(
    productIds.map((id) => [id, { product_id: id, counted: 0, excluded_network: 0, excluded_operator: 0 }]),
  );
  await sql.query('DELETE FROM tally_parts WHERE product_id = ANY($1::text[])', [productIds]);
  await writeTallyParts(sql, day, countedVotes(readWindowVotes(sql, productIds, secret), totals), hash);
  await setCounts(sql, [...totals.values()]);
  await sql.query('UPDATE launches SET final = true WHERE product_id = ANY($1::text[])', [productIds]);
  await sql.query('DELETE FROM retracted_upvotes WHERE product_id = ANY($1::text[])', [productIds]);
  // Last, because visitors who upvote wait for it.
  await lockCounts(sql, productIds);
  await sql.query(CLOSE_WINDOWS, [productIds]);
}

/** Stores the counted and excluded votes of launches, and moves them on their boards. */
export async function setCounts(sql: Sql, totals: readonly Totals[]): Promise<void> {
  await sql.query(SET_COUNTS, [JSON.stringify(totals)]);
  await refreshLaunches(
    sql,
    totals.map((row) => row.product_id),
  );
}

async function* countedVotes(
  batches: AsyncIterable<WindowVote[]>,
  totals: ReadonlyMap<string, Totals>,
): AsyncGenerator<WindowVote[]> {
  for await (const batch of batches) {
    for (const { product, reason } of batch) {
      const total = totals.get(product);
      if (total) total[reason === null ? 'counted' : (`excluded_${reason}` as const)] += 1;
    }
    yield batch;
  }
}
