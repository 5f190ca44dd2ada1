import { lockAvailableCounts, lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { isStatementTimeout } from '../database/database-errors.ts';
import { IN_WINDOW } from './launch-votes.ts';
import type { VoteNetwork } from './vote-networks.ts';

// A decision to exclude a vote stores the vote's position among the votes from its network. The position stays taken
// after the vote is withdrawn. Otherwise, withdrawing excluded votes would let more votes from that network count.
const windowVotes = (network: string) => `SELECT l.product_id, v.id, v.user_session, v.created_at, v.network, v.verdict
  FROM launches l CROSS JOIN LATERAL (
    SELECT id, user_session, created_at, network, verdict FROM upvotes u
    WHERE u.product_id = l.product_id AND u.network ${network} AND u.verdict IS DISTINCT FROM 'operator'
    UNION ALL
    SELECT id, user_session, created_at, network, verdict FROM retracted_upvotes r
    WHERE r.product_id = l.product_id AND r.network ${network} AND r.verdict IS DISTINCT FROM 'operator'
    UNION ALL
    SELECT vote_id, user_session, created_at, network, verdict FROM vote_decisions d
    WHERE d.product_id = l.product_id AND d.network ${network} AND d.verdict = 'operator'
  ) AS v
  WHERE ${IN_WINDOW}`;

const VOTES_OF_LAUNCHES = `${windowVotes('IS NOT NULL')} AND l.product_id = ANY($1::text[]) AND NOT l.final`;

const VOTES_OF_NETWORKS = `SELECT DISTINCT w.* FROM unnest($1::text[], $3::uuid[]) AS pair (product_id, network)
  CROSS JOIN LATERAL (${windowVotes('= pair.network')} AND l.product_id = pair.product_id AND NOT l.final) AS w`;

/**
 * SQL: the votes whose verdict contradicts the cap. For each product, the first `$2` votes from a network count; the
 * others do not. Votes that the operator excluded or included have a position in this order, but keep their verdict.
 */
const wrongVotes = (
  votes: string,
) => `SELECT product_id, id, user_session, network, CASE WHEN is_beyond THEN 'network' END AS verdict
  FROM (
    SELECT *, row_number() OVER (PARTITION BY product_id, network ORDER BY created_at, id) > $2 AS is_beyond FROM (${votes}) AS w
  ) AS ranked
  WHERE (verdict IS NULL AND is_beyond) OR (verdict = 'network' AND NOT is_beyond)`;

const applyCap = (votes: string) => `WITH wrong AS MATERIALIZED (${wrongVotes(votes)}), corrected AS (
    UPDATE upvotes u SET verdict = wrong.verdict FROM wrong
    WHERE u.product_id = wrong.product_id AND u.user_session = wrong.user_session AND u.id = wrong.id
    RETURNING u.product_id, u.verdict
  ), corrected_retracted AS (
    UPDATE retracted_upvotes r SET verdict = wrong.verdict FROM wrong
    WHERE r.product_id = wrong.product_id AND r.id = wrong.id
    RETURNING r.product_id, r.verdict
  ), totals AS (
    SELECT product_id, sum(CASE WHEN verdict IS NULL THEN 1 ELSE -1 END)::integer AS counted
    FROM (SELECT * FROM corrected UNION ALL SELECT * FROM corrected_retracted) AS both_tables GROUP BY product_id
  )
  UPDATE product_counts c SET counted = greatest(c.counted + totals.counted, 0),
    excluded_network = greatest(c.excluded_network - totals.counted, 0),
    window_changes = c.window_changes + 1
  FROM totals WHERE c.product_id = totals.product_id
  RETURNING c.product_id`;

const CAP_LAUNCHES = applyCap(VOTES_OF_LAUNCHES);

/**
 * Excludes the votes of these launches that exceed the cap of their network, and includes votes that no longer exceed
 * it, for example because an earlier vote was withdrawn. Final results are left unchanged. The caller must have locked
 * the counts of the launches (`lockCounts`).
 */
export async function applyVoteCap(sql: Sql, productIds: readonly string[], votesPerNetwork: number): Promise<void> {
  if (productIds.length > 0) await sql.query(CAP_LAUNCHES, [productIds, votesPerNetwork]);
}

/** The number of launches to pass to `applyCapToLaunches` at a time, which bounds the duration of its statement. */
export const CAP_BATCH = 200;

const FIND_WRONG = `SELECT DISTINCT product_id, network FROM (${wrongVotes(VOTES_OF_NETWORKS)}) AS w`;
const FIND_WRONG_LAUNCHES = `SELECT DISTINCT product_id FROM (${wrongVotes(VOTES_OF_LAUNCHES)}) AS w ORDER BY product_id`;
const CAP_NETWORKS = applyCap(VOTES_OF_NETWORKS);

interface CapResult {
  /** The products with corrected verdicts. */
  corrected: string[];
  /**
   * The networks with wrong verdicts for products whose counts another transaction has locked. The caller must retry
   * them.
   */
  skipped: VoteNetwork[];
}

/**
 * Like `applyVoteCap`, but only for votes from these networks. Runs its own transaction, which locks only the counts of
 * launches with wrong verdicts.
 */
export async function applyCapToNetworks(
  database: Database,
  pairs: readonly VoteNetwork[],
  votesPerNetwork: number,
): Promise<CapResult> {
  if (pairs.length === 0) return { corrected: [], skipped: [] };
  const valuesOf = (some: readonly VoteNetwork[]) => [
    some.map(({ productId }) => productId),
    votesPerNetwork,
    some.map(({ network }) => network),
  ];
  const rows = await database.query<{ product_id: string; network: string }>(FIND_WRONG, valuesOf(pairs));
  if (rows.length === 0) return { corrected: [], skipped: [] };
  const wrong = rows.map(({ product_id: productId, network }) => ({ productId, network }));
  return database.transaction(async (sql) => {
    const ids = wrong.map(({ productId }) => productId);
    const locked = new Set(await lockAvailableCounts(sql, ids));
    const values = valuesOf(wrong.filter(({ productId }) => locked.has(productId)));
    const corrected = await sql.query<{ product_id: string }>(CAP_NETWORKS, values);
    return {
      corrected: corrected.map((row) => row.product_id),
      skipped: wrong.filter(({ productId }) => !locked.has(productId)),
    };
  });
}

/**
 * Like `applyVoteCap`, but only for launches with wrong verdicts, each in its own transaction that locks the launch's
 * counts.
 * @returns the launches that had wrong verdicts.
 * @throws an error that is not a statement timeout (`isStatementTimeout`) if waiting for locked counts timed out, so
 * the caller does not mistake the wait for a launch with too many votes.
 */
export async function applyCapToLaunches(
  database: Database,
  productIds: readonly string[],
  votesPerNetwork: number,
): Promise<string[]> {
  const values = [productIds, votesPerNetwork];
  const rows = await database.query<{ product_id: string }>(FIND_WRONG_LAUNCHES, values);
  const wrong = rows.map((row) => row.product_id);
  for (const id of wrong) {
    await database.transaction(async (sql) => {
      await lockCounts(sql, [id]).catch((error: unknown) => {
        throw isStatementTimeout(error) ? new Error(`The counts of ${id} are locked`, { cause: error }) : error;
      });
      await applyVoteCap(sql, [id], votesPerNetwork);
    });
  }
  return wrong;
}
