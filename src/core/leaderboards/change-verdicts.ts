import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ExclusionReason } from '../../contract/leaderboards/schema.ts';
import { LIMITS } from '../../contract/limits.ts';
import { type AuditAction, recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { CoreError } from '../core-error.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts } from '../database/transactions.ts';
import type { Runtime } from '../runtime.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { applyVoteCap } from './apply-vote-cap.ts';
import { lockDays, periodsOf, reviseBoards } from './final-boards.ts';
import { recountLaunches, refreshLaunches } from './launch-votes.ts';
import { readVotes, type Verdict } from './read-tally.ts';
import { readTallyParts, voterOf } from './tally-file.ts';
import { readDecisions, setSessionVerdicts } from './vote-decisions.ts';
import { findSecret, readSecret } from './vote-networks.ts';

/**
 * Selects votes of a launch by voter, given by its hash in the tally, and by time (`to` is exclusive). An unset field
 * does not restrict the selection.
 */
export interface VoteSelection {
  voters?: readonly string[] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface VerdictChange {
  /** The id of the change's entry in the audit log. */
  auditId: string;
  productId: string;
  day: string;
  /**
   * The number of changed votes. Some may not affect the result: withdrawn votes, and votes outside the launch window
   * in an undo.
   */
  votes: number;
  /** Final periods that got a new revision. */
  revised: string[];
}

interface VoteLine {
  voter: string;
  /** Undefined if the vote was withdrawn. */
  at: Date | undefined;
  reason: ExclusionReason | null;
}

/** The voters of the changed votes, by their previous verdict, so the change can be undone. */
type VotersByVerdict = Partial<Record<'counted' | 'network' | 'operator' | 'included', string[]>>;

/**
 * Excludes counted votes of a launch, or includes excluded ones, and writes an audit entry. A final result whose votes
 * change gets a new revision. `database` must have no statement timeout.
 * @throws CoreError `product_not_found` if the product is unknown or on no board yet; `unavailable`.
 */
export async function changeVerdicts(
  database: Database,
  change: { productId: string; action: 'exclude' | 'include'; reason: string; selection: VoteSelection },
  runtime: Runtime,
  recordEvents: RecordEvents | undefined,
  votesPerNetwork: number = LIMITS.votesPerNetwork,
): Promise<VerdictChange> {
  const { productId, action, reason, selection } = change;
  const voters = selection.voters && new Set(selection.voters);
  const isSelected = ({ voter, at }: VoteLine) =>
    (voters === undefined || voters.has(voter)) &&
    (selection.from === undefined || (at !== undefined && at >= selection.from)) &&
    (selection.to === undefined || (at !== undefined && at < selection.to));
  return database.transaction((sql) =>
    applyVerdicts(
      sql,
      productId,
      { runtime, votesPerNetwork },
      {
        action: `votes ${action}`,
        details: { reason },
        decide: (vote) => {
          if (!isSelected(vote) || (vote.reason === null) !== (action === 'exclude')) return undefined;
          return action === 'exclude' ? 'operator' : 'included';
        },
        async report({ day, votes }) {
          if (action !== 'exclude' || votes === 0) return;
          const data = { productId, day, reason: 'operator' as const, votes };
          await recordEvents?.(sql, [{ type: 'votes.excluded', timestamp: runtime.now().toISOString(), data }]);
        },
      },
    ),
  );
}

const LAST_CHANGE = `SELECT a.id, a.action, a.details,
    EXISTS (SELECT FROM tally_secrets s WHERE s.day = a.details->>'day' AND s.created_at <= a.created_at) AS has_secret
  FROM audit_log a
  WHERE a.target = $1 AND a.action IN ('votes exclude', 'votes include') AND NOT EXISTS (
    SELECT FROM audit_log u WHERE u.undoes = a.id
  )
  ORDER BY a.created_at DESC, a.id DESC LIMIT 1`;

/**
 * Undoes the last exclusion or inclusion of a launch's votes that has not been undone yet.
 * @param only the id of an audit entry. If it is set, nothing is undone unless this entry is the last one.
 * @returns undefined if nothing was undone.
 * @throws CoreError `product_not_found`; `not_undoable` if none of the voters whom the entry names is found and the
 * secret that hashed them is gone, because their votes may still exist under new hashes.
 */
export async function undoVerdicts(
  database: Database,
  productId: string,
  runtime: Runtime,
  votesPerNetwork: number = LIMITS.votesPerNetwork,
  only?: string,
): Promise<VerdictChange | undefined> {
  return database.transaction(async (sql) => {
    const { day } = await readLaunch(sql, productId);
    const isFinal = (await lockDays(sql, [day])).length > 0;
    const [last] = await sql.query<VerdictEntry>(LAST_CHANGE, [productId]);
    if (last === undefined || (only !== undefined && last.id !== only)) return undefined;
    const before = new Map<string, Verdict>();
    for (const [verdict, voters] of Object.entries(last.details.before)) {
      for (const voter of voters) before.set(voter, verdict === 'counted' ? null : (verdict as Verdict));
    }
    // If votes were included before the day became final, the undo excludes them as `operator`, not as `network`: their
    // network may have fewer votes since, and the cap can no longer be applied.
    const isBeforeFinal = isFinal && !last.details.revised.includes(day);
    let found = 0;
    const undone = await applyVerdicts(
      sql,
      productId,
      { runtime, votesPerNetwork },
      {
        action: 'votes undo',
        details: { of: last.action },
        undoes: last.id,
        hashedOn: last.details.day,
        decide({ voter }) {
          if (before.has(voter)) found += 1;
          const verdict = before.get(voter);
          return isBeforeFinal && verdict === 'network' ? 'operator' : verdict;
        },
      },
    );
    if (before.size > 0 && found === 0 && (isFinal || !last.has_secret)) {
      const inverse = last.action === 'votes exclude' ? 'include' : 'exclude';
      const why =
        'None of these votes can be found: they were withdrawn, the launch moved to another day, or the secret of its day was replaced.';
      throw new CoreError('not_undoable', `${why} Select the votes and ${inverse} them instead.`);
    }
    return undone;
  });
}

interface VerdictEntry {
  id: string;
  action: string;
  details: { day: string; revised: string[]; before: VotersByVerdict };
  /** Whether the secret that hashed the voters still exists. */
  has_secret: boolean;
}

interface VerdictContext {
  runtime: Runtime;
  votesPerNetwork: number;
}

interface VerdictPlan {
  action: AuditAction;
  details: object;
  undoes?: string;
  /** The day whose secret hashed the voters. If unset, or if its secret was deleted, the day of the launch is used. */
  hashedOn?: string;
  /** @returns the new verdict, or undefined to leave the vote unchanged. */
  decide(vote: VoteLine): Verdict | undefined;
  /** Called after the change, in its transaction. */
  report?(change: VerdictChange): Promise<void>;
}

async function applyVerdicts(
  sql: Sql,
  productId: string,
  context: VerdictContext,
  plan: VerdictPlan,
): Promise<VerdictChange> {
  await disableTimeouts(sql);
  const { day } = await readLaunch(sql, productId);
  const isFinal = (await lockDays(sql, [day])).length > 0;
  const before: VotersByVerdict = {};
  const note = (voter: string, verdict: Verdict) => {
    const voters = before[verdict ?? 'counted'] ?? [];
    voters.push(voter);
    before[verdict ?? 'counted'] = voters;
  };
  const votes = isFinal
    ? await rewriteParts(sql, productId, day, plan, note)
    : await rewriteRows(sql, productId, day, context, plan, note);
  const revised = votes > 0 ? await reviseBoards(sql, await periodsOf(sql, [productId])) : [];
  const change = { auditId: randomUUID(), productId, day, votes, revised };
  await recordAudit(sql, {
    id: change.auditId,
    action: plan.action,
    target: productId,
    details: { ...plan.details, day, votes, revised, before },
    undoes: plan.undoes,
  });
  await plan.report?.(change);
  await recordChange(sql, { productIds: [productId], catalogue: true });
  return change;
}

/** Reads the day of a launch. @throws CoreError `product_not_found` if it is on no board. */
export async function readLaunch(sql: Sql, productId: string): Promise<{ day: string }> {
  const [row] = await sql.query<{ day: string }>(
    'SELECT day FROM launches WHERE product_id = $1 AND placed_for IS NOT NULL',
    [productId],
  );
  if (row === undefined) throw new CoreError('product_not_found', `'${productId}' has no launch on a leaderboard.`);
  return row;
}

async function rewriteRows(
  sql: Sql,
  productId: string,
  day: string,
  { runtime, votesPerNetwork }: VerdictContext,
  { decide, undoes, hashedOn = day }: VerdictPlan,
  note: (voter: string, verdict: Verdict) => void,
): Promise<number> {
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
  // Voters may have withdrawn votes about which the operator decided earlier.
  for (const { session, verdict } of await readDecisions(sql, productId)) {
    const reason = verdict === 'included' ? null : verdict;
    decideOn(session, { voter: voterOf(secret, session), at: undefined, reason }, verdict);
  }
  await lockCounts(sql, [productId]);
  await setSessionVerdicts(sql, productId, changes);
  await recountLaunches(sql, [productId]);
  // Restored verdicts may contradict the cap if earlier votes of their network have been withdrawn since.
  await applyVoteCap(sql, [productId], votesPerNetwork);
  await refreshLaunches(sql, [productId]);
  return changes.size;
}

const UPDATE_PART = 'UPDATE tally_parts SET content = $3 WHERE product_id = $1 AND part = $2';

const ADJUST_COUNTS = `UPDATE product_counts SET counted = counted + $2, excluded_network = excluded_network + $3,
    excluded_operator = excluded_operator + $4, window_changes = window_changes + 1 WHERE product_id = $1`;

/**
 * Changes the verdicts in the stored tally, not in the rows of votes: the secret of the day has been deleted, so its
 * hashed voters can no longer be matched to sessions.
 */
async function rewriteParts(
  sql: Sql,
  productId: string,
  day: string,
  { decide }: VerdictPlan,
  note: (voter: string, verdict: Verdict) => void,
): Promise<number> {
  const moved = { counted: 0, network: 0, operator: 0 };
  let changed = 0;
  for await (const { part, text } of readTallyParts(sql, day, productId)) {
    const before = changed;
    const lines = text
      .trimEnd()
      .split('\n')
      .map((line) => {
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
    if (changed > before)
      await sql.query(UPDATE_PART, [productId, part, await promisify(gzip)(`${lines.join('\n')}\n`)]);
  }
  await sql.query(ADJUST_COUNTS, [productId, moved.counted, moved.network, moved.operator]);
  await refreshLaunches(sql, [productId]);
  return changed;
}
