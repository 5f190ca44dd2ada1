import { VOTES_PER_NETWORK } from '../../contract/limits.ts';
import { type AuditAction, recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { disableTimeouts } from '../database/transactions.ts';
import type { Runtime } from '../runtime.ts';
import type { RecordEvents } from '../webhooks/outbox.ts';
import { lockDays, periodsOf, reviseBoards } from './final-boards.ts';
import { recountingTransaction } from './launch-votes.ts';
import type { Verdict } from './read-tally.ts';
import {
  adjustCounts,
  rewriteParts,
  rewriteRows,
  type VerdictContext,
  type VoteLine,
  type VoteRewrite,
} from './rewrite-votes.ts';

/**
 * Selects votes of a launch by voter (the hash in the tally) and by time (`to` is exclusive). An unset field does not
 * restrict the selection.
 */
export interface VoteSelection {
  voters?: readonly string[] | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

export interface VerdictChange {
  /** The id of the change's entry in the audit log; null if no votes changed. An undo always has an entry. */
  auditId: string | null;
  productId: string;
  day: string;
  /**
   * The number of changed votes. Some may not affect the result: withdrawn votes and, in an undo, votes outside the
   * launch window.
   */
  votes: number;
  /** Final periods that got a new revision. */
  revised: string[];
}

/** The voters of the changed votes, by their previous verdict, so the change can be undone. */
type VotersByVerdict = Partial<Record<'counted' | 'network' | 'operator' | 'included', string[]>>;

/**
 * Excludes counted votes of a launch, or includes excluded ones, and writes an audit entry if votes change. A final
 * result whose votes change gets a new revision. `database` must have no statement timeout.
 * @throws CoreError `product_not_found` if the product is unknown or on no board yet; `unavailable`.
 */
export async function changeVerdicts(
  database: Database,
  change: { productId: string; action: 'exclude' | 'include'; reason: string; selection: VoteSelection },
  runtime: Runtime,
  recordEvents: RecordEvents | undefined,
  votesPerNetwork: number = VOTES_PER_NETWORK,
): Promise<VerdictChange> {
  const { productId, action, reason, selection } = change;
  const voters = selection.voters && new Set(selection.voters);
  const isSelected = ({ voter, at }: VoteLine) =>
    (voters === undefined || voters.has(voter)) &&
    (selection.from === undefined || (at !== undefined && at >= selection.from)) &&
    (selection.to === undefined || (at !== undefined && at < selection.to));
  return recountingTransaction(database, [productId], (sql) =>
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
 * @throws CoreError `product_not_found`; `not_undoable` if no voter in the entry is found and the secret that hashed
 * the voters is gone, because their votes may still exist under new hashes.
 */
export async function undoVerdicts(
  database: Database,
  productId: string,
  runtime: Runtime,
  votesPerNetwork: number = VOTES_PER_NETWORK,
  only?: string,
): Promise<VerdictChange | undefined> {
  return recountingTransaction(database, [productId], async (sql) => {
    const { day } = await readLaunch(sql, productId);
    const isFinal = (await lockDays(sql, [day])).length > 0;
    const [last] = await sql.query<VerdictEntry>(LAST_CHANGE, [productId]);
    if (last === undefined || (only !== undefined && last.id !== only)) return undefined;
    const before = new Map<string, Verdict>();
    for (const [verdict, voters] of Object.entries(last.details.before)) {
      for (const voter of voters) before.set(voter, verdict === 'counted' ? null : (verdict as Verdict));
    }
    // If votes were included before the day became final, the undo excludes them as `operator`, not as `network`: their
    // network may have lost votes in the meantime, and the cap can no longer be applied.
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

interface VerdictPlan extends VoteRewrite {
  action: AuditAction;
  details: object;
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
  const { votes, moved } = isFinal
    ? await rewriteParts(sql, productId, day, plan, note)
    : await rewriteRows(sql, productId, day, context, plan, note);
  const periods = votes > 0 ? await periodsOf(sql, [productId]) : [];
  const revised = await reviseBoards(sql, periods, async () => {
    if (moved !== undefined) await adjustCounts(sql, productId, moved);
  });
  const { action, undoes } = plan;
  const details = { ...plan.details, day, votes, revised, before };
  // Only the last entry of a launch can be undone, so an entry without votes would block the undo of the previous
  // change.
  const hasEntry = votes > 0 || undoes !== undefined;
  const [auditId = null] = await recordAudit(sql, hasEntry ? { action, target: productId, details, undoes } : []);
  const change = { auditId, productId, day, votes, revised };
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
