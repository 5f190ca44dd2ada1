import type { Sql } from '../database/database.ts';
import { WINDOW_VOTES } from './launch-votes.ts';
import type { Verdict } from './read-tally.ts';

/** The operator's decision about the vote of a session for a product. It outlives the vote, which may be withdrawn. */
interface VoteDecision {
  session: string;
  verdict: 'operator' | 'included';
}

/** Reads the decisions about the votes for a product. */
export function readDecisions(sql: Sql, productId: string): Promise<VoteDecision[]> {
  return sql.query<VoteDecision>('SELECT user_session AS session, verdict FROM vote_decisions WHERE product_id = $1', [
    productId,
  ]);
}

const setVerdicts = (table: 'upvotes' | 'retracted_upvotes') => `UPDATE ${table} v SET verdict = d.verdict
  FROM unnest($2::text[], $3::text[]) AS d (user_session, verdict)
  WHERE v.product_id = $1 AND v.user_session = d.user_session`;

const DELETE_DECISIONS = `DELETE FROM vote_decisions d USING unnest($2::text[], $3::text[]) AS v (user_session, verdict)
  WHERE d.product_id = $1 AND d.user_session = v.user_session AND coalesce(v.verdict, 'network') = 'network'`;

const SAVE_DECISIONS = `INSERT INTO vote_decisions (product_id, user_session, verdict)
  SELECT $1::text, user_session, verdict FROM unnest($2::text[], $3::text[]) AS d (user_session, verdict)
  WHERE verdict IN ('operator', 'included')
  ON CONFLICT (product_id, user_session) DO UPDATE SET verdict = EXCLUDED.verdict`;

// The decision about a withdrawn vote keeps the position that the vote had when it was excluded.
const SET_POSITIONS = `UPDATE vote_decisions d SET vote_id = w.id, created_at = w.created_at, network = w.network
  FROM (${WINDOW_VOTES}) AS w
  WHERE d.product_id = w.product_id AND d.user_session = w.user_session AND d.user_session = ANY($2::text[])
    AND w.network IS NOT NULL AND d.verdict = 'operator'`;

const SET_HAS_DECISIONS = `UPDATE product_counts SET window_changes = window_changes + 1,
    has_decisions = EXISTS (SELECT FROM vote_decisions d WHERE d.product_id = $1)
  WHERE product_id = $1`;

/**
 * Sets the verdicts of these sessions' votes for a product. Also stores the verdicts that are operators' decisions, so
 * they apply to later votes of the sessions. The caller must have locked the counts of the product (`lockCounts`), and
 * must recount the launch afterwards. With `isUndo`, the verdicts were set before, so the positions of the votes are
 * already stored.
 */
export async function setSessionVerdicts(
  sql: Sql,
  productId: string,
  verdicts: ReadonlyMap<string, Verdict>,
  { isUndo }: { isUndo: boolean },
): Promise<void> {
  const values = [productId, [...verdicts.keys()], [...verdicts.values()]];
  await sql.query(setVerdicts('upvotes'), values);
  await sql.query(setVerdicts('retracted_upvotes'), values);
  await sql.query(DELETE_DECISIONS, values);
  await sql.query(SAVE_DECISIONS, values);
  if (!isUndo) await sql.query(SET_POSITIONS, [[productId], [...verdicts.keys()]]);
  await sql.query(SET_HAS_DECISIONS, [productId]);
}
