import type { ExclusionReason } from '../../contract/leaderboards/schema.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Sql } from '../database/database.ts';
import type { Runtime } from '../runtime.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { recountLaunches, refreshLaunches } from './launch-votes.ts';
import { readVotes, type Verdict } from './read-tally.ts';
import { readTallyParts, replaceTallyPart, splitLines, voterOf } from './tally-file.ts';
import { readDecisions, setSessionVerdicts } from './vote-decisions.ts';
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
