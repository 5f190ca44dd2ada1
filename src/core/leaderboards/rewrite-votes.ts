import type { ExclusionReason } from '../../contract/leaderboards/schema.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import type { Runtime } from '../runtime.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { recountLaunches, refreshLaunches, WINDOW_VOTES } from './launch-votes.ts';
import { readVotes, type Verdict } from './read-tally.ts';
import { readTallyParts, replaceTallyPart, splitLines, voterOf } from './tally-file.ts';
import { findSecret, readSecret } from './vote-networks.ts';

export interface VoteLine {
  voter: string;
  /** Undefined if the vote was withdrawn and only the operator's decision about it is left. */
  at: Date | undefined;
  reason: ExclusionReason | null;
}

export interface VerdictContext {
  runtime: Runtime;
  votesPerNetwork: number;
}

export interface VoteRewrite {
  /** The id of the audit entry that this change undoes. */
  undoes?: string;
  /** The day whose secret hashed the voters. If unset, or if its secret was deleted, the day of the launch is used. */
  hashedOn?: string;
  /** Returns the new verdict of a vote, or undefined to leave it unchanged. */
  decide(vote: VoteLine): Verdict | undefined;
}

type VoteTotals = Record<'counted' | 'network' | 'operator', number>;

interface RewrittenVotes {
  /** The number of changed votes. */
  votes: number;
  /** The changes for `adjustCounts`. Unset if the counts are already correct. */
  moved?: VoteTotals;
}

/**
 * Changes the verdicts in the rows of votes, and recounts the launch. Passes the voter and the previous verdict of each
 * changed vote to `note`.
 * @throws CoreError `unavailable`, also if the day has just become final.
 */
export async function rewriteRows(
  sql: Sql,
  productId: string,
  day: string,
  { runtime, votesPerNetwork }: VerdictContext,
  { decide, undoes, hashedOn = day }: VoteRewrite,
  note: (voter: string, verdict: Verdict) => void,
): Promise<RewrittenVotes> {
  const secret = (await findSecret(sql, hashedOn)) ?? (await readSecret(sql, day, runtime));
  if (secret === undefined)
    throw new CoreError('unavailable', `The result of ${day} has just become final. Please try again.`);
  const changes = new Map<string, Verdict>();
  const decideOn = (session: string, vote: VoteLine, previous: Verdict) => {
    const verdict = decide(vote);
    if (verdict === undefined || verdict === previous || changes.has(session)) return;
    note(vote.voter, previous);
    changes.set(session, verdict);
  };
  // An undo also changes votes outside the window, because the launch may have moved, and may move back.
  for await (const votes of readVotes(sql, [productId], secret, { inWindow: undoes === undefined })) {
    for (const vote of votes) decideOn(vote.session, vote, vote.verdict);
  }
  // Voters may have withdrawn votes that the operator had excluded or included.
  for (const { session, verdict } of await readDecisions(sql, productId)) {
    const reason = verdict === 'included' ? null : verdict;
    decideOn(session, { voter: voterOf(secret, session), at: undefined, reason }, verdict);
  }
  await lockCounts(sql, [productId]);
  await setSessionVerdicts(sql, productId, changes, { isUndo: undoes !== undefined });
  await recountLaunches(sql, [productId]);
  // Restored verdicts may contradict the cap if earlier votes from the same network were withdrawn in the meantime.
  await applyVoteCap(sql, [productId], votesPerNetwork);
  await refreshLaunches(sql, [productId]);
  return { votes: changes.size };
}

/** The operator's decision about the vote of a session for a product. It outlives the vote, which may be withdrawn. */
interface VoteDecision {
  session: string;
  verdict: 'operator' | 'included';
}

/** Reads the decisions about the votes for a product. */
function readDecisions(sql: Sql, productId: string): Promise<VoteDecision[]> {
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
async function setSessionVerdicts(
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

/**
 * Changes the verdicts in the stored tally, not in the rows of votes: the secret of the day has been deleted, so the
 * hashed voters can no longer be matched to sessions. Does not change the counts.
 */
export async function rewriteParts(
  sql: Sql,
  productId: string,
  day: string,
  { decide }: VoteRewrite,
  note: (voter: string, verdict: Verdict) => void,
): Promise<RewrittenVotes> {
  const moved = { counted: 0, network: 0, operator: 0 };
  let changed = 0;
  for await (const { part, text } of readTallyParts(sql, day, productId)) {
    const before = changed;
    const lines = splitLines(text).map((line) => {
      const vote: Omit<VoteLine, 'at'> & { at: string } = JSON.parse(line);
      const verdict = decide({ ...vote, at: new Date(vote.at) });
      const reason = verdict === 'included' ? null : verdict;
      if (reason === undefined || reason === vote.reason) return line;
      note(vote.voter, vote.reason);
      moved[vote.reason ?? 'counted'] -= 1;
      moved[reason ?? 'counted'] += 1;
      changed += 1;
      return JSON.stringify({ ...vote, counted: reason === null, reason });
    });
    if (changed > before) await replaceTallyPart(sql, { productId, part }, lines);
  }
  return { votes: changed, moved };
}

const ADJUST_COUNTS = `UPDATE product_counts SET counted = counted + $2, excluded_network = excluded_network + $3,
    excluded_operator = excluded_operator + $4, window_changes = window_changes + 1 WHERE product_id = $1`;

/** Adds changes to the counts of a launch whose result is final, and moves the launch on its boards. */
export async function adjustCounts(sql: Sql, productId: string, moved: VoteTotals): Promise<void> {
  await sql.query(ADJUST_COUNTS, [productId, moved.counted, moved.network, moved.operator]);
  await refreshLaunches(sql, [productId]);
}
