import type { BurstRecord } from '../../contract/console/records.ts';
import { OPERATOR_QUEUE, recordChange } from '../changes/change-feed.ts';
import type { Sql } from '../database/database.ts';

/** A burst, as it is detected and stored. */
export type UpvoteBurst = Omit<BurstRecord, 'productName' | 'excluded'>;

/** The minimum number of sessions of a stored burst. */
export const BURST_SESSIONS = 20;

/** How many days bursts are stored. */
export const BURST_DAYS = 7;

const SAVE_BURSTS = `INSERT INTO upvote_bursts (hour, product_id, network, sessions)
  SELECT hour, "productId", network, sessions
  FROM jsonb_to_recordset($1::jsonb) AS row (hour timestamptz, "productId" text, network text, sessions integer)
  ORDER BY hour, "productId", network
  ON CONFLICT (hour, product_id, network) DO UPDATE SET sessions = EXCLUDED.sessions`;

/**
 * Stores bursts, or updates their sizes. Each combination of hour, product and network must occur only once.
 * @throws CoreError `unavailable`.
 */
export async function saveUpvoteBursts(sql: Sql, bursts: readonly UpvoteBurst[]): Promise<void> {
  if (bursts.length === 0) return;
  await sql.query(SAVE_BURSTS, [JSON.stringify(bursts)]);
  await recordChange(sql, { productIds: [OPERATOR_QUEUE], catalogue: false });
}

/** Deletes bursts older than a week. @throws CoreError `unavailable`. */
export async function deleteOldBursts(sql: Sql, now: Date): Promise<void> {
  await sql.query(`DELETE FROM upvote_bursts WHERE hour < $1::timestamptz - ${BURST_DAYS} * interval '1 day'`, [
    now.toISOString(),
  ]);
}

/** The SQL condition on bursts (alias `b`) that are listed. All others are about to be deleted. */
export const LISTED_BURST = `b.hour >= now() - ${BURST_DAYS} * interval '1 day'`;

const SELECT_BURSTS = `SELECT b.hour, b.product_id AS "productId", p.name AS "productName", b.network, b.sessions,
    c.excluded_operator AS excluded
  FROM upvote_bursts b JOIN products p ON p.id = b.product_id JOIN product_counts c ON c.product_id = p.id
  WHERE b.hour >= $1::timestamptz AND ${LISTED_BURST}
  ORDER BY b.sessions DESC, b.hour DESC, b.product_id, b.network LIMIT $2`;

/** Lists the largest bursts since a time, largest first. @throws CoreError `unavailable`. */
export async function listUpvoteBursts(
  sql: Sql,
  { since, limit }: { since: Date; limit: number },
): Promise<BurstRecord[]> {
  const rows = await sql.query<Omit<BurstRecord, 'hour'> & { hour: Date }>(SELECT_BURSTS, [since.toISOString(), limit]);
  return rows.map((row) => ({ ...row, hour: row.hour.toISOString() }));
}
