import { type AuditAction, recordAudit } from '../audit/audit-log.ts';
import { CoreError } from '../core-error.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { completeProduct, withLaunchTime } from '../products/save-products.ts';
import { orderedUuid } from '../runtime.ts';
import { submissionChanged, withProduct } from './change-submission.ts';
import {
  cancelLaunch,
  createProduct,
  type LaunchRules,
  launchTime,
  moveLaunch,
  revokeLaunch,
} from './launch-product.ts';
import { lockSubmission, productOfFields, type SubmissionRow, type Undo, updateSubmission } from './submission-row.ts';

export interface DecisionTarget {
  id: string;
  /** The revision that the operator has seen. If unset, the revision is not checked. */
  revision?: number | undefined;
  /**
   * Whether the decision also applies to a later revision that still waits, so the maker cannot prevent the decision by
   * editing. It is still refused if another decision was made on this revision or a later one.
   */
  ignoresEdits?: boolean;
  /** The id of the audit entry of the decision to undo. If unset, the last decision is undone. */
  auditId?: string;
}

/**
 * Approves a waiting or declined submission. Its product launches at the time that the maker chose, or immediately if
 * there is no such time or the time has passed.
 * @throws CoreError `submission_not_found`, `submission_changed`, `already_decided`, `submission_withdrawn`,
 * `id_taken`, `unavailable`.
 */
export function approveSubmission(
  database: Database,
  target: DecisionTarget,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return decide(database, target, 'submissions approve', async (sql, row, auditId) => {
    if (row.status === 'approved') throw alreadyDecided(row, 'approved');
    return approve(sql, row, launchTime(row.launch_at, rules.now), undoOf(row, 'approve', auditId), rules);
  });
}

/**
 * Approves a submission for this launch time, or moves its scheduled launch.
 * @throws CoreError as `approveSubmission`; `already_launched`; `submission_invalid` if the time has passed.
 */
export function scheduleSubmission(
  database: Database,
  target: DecisionTarget,
  launchAt: Date,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return decide(database, target, 'submissions schedule', async (sql, row, auditId) => {
    const undo = undoOf(row, 'schedule', auditId);
    if (launchAt.getTime() <= rules.now.getTime()) {
      const detail = 'This time has passed. Choose a time in the future.';
      throw new CoreError('submission_invalid', detail, { fields: [{ field: 'launchAt', detail }] });
    }
    if (row.status !== 'approved') return approve(sql, row, launchAt, undo, rules);
    const { createdAt } = await moveLaunch(sql, row.id, launchAt, rules);
    // Without a change, the undo of the earlier decision must not be lost.
    if (Date.parse(createdAt) === launchAt.getTime()) throw alreadyDecided(row, 'scheduled for this time');
    return updateSubmission(sql, row, { launch_at: launchAt, undo: { ...undo, launchAt: createdAt } }, rules.now);
  });
}

/**
 * Declines a waiting or scheduled submission. The maker can read the reason.
 * @throws CoreError as `approveSubmission`; `already_launched`.
 */
export function declineSubmission(
  database: Database,
  target: DecisionTarget,
  reason: string,
  rules: LaunchRules,
): Promise<SubmissionRow> {
  return decide(database, target, 'submissions decline', async (sql, row, auditId) => {
    if (row.status === 'declined') throw alreadyDecided(row, 'declined');
    const product = row.status === 'approved' ? await cancelLaunch(sql, row.id, rules) : undefined;
    // Copies operators' edits from the product to the submission, so the maker sees them even if the decline can no
    // longer be undone.
    const current = product ? withProduct(row, product) : row;
    const undo = { ...undoOf(current, 'decline', auditId), product };
    const { now } = rules;
    return updateSubmission(sql, current, { status: 'declined', reason, undo, decided_at: now }, now);
  });
}

/**
 * Undoes the last decision, unless the maker has changed more than the launch time since. An approved product is
 * removed from the site, unless it differs from the submission, has votes, or has comments by anyone but the maker. A
 * launch that the decision moved returns to its previous time, unless an operator has edited the time since.
 * @throws CoreError `submission_not_found`, `submission_changed`, `already_decided` if the decision cannot be undone,
 * `not_undoable` if the last decision is not the one with `auditId`, `already_launched`, `id_taken`, `unavailable`.
 */
export function undoDecision(database: Database, target: DecisionTarget, rules: LaunchRules): Promise<SubmissionRow> {
  return decide(database, target, 'submissions undo', async (sql, row, _auditId, details) => {
    const { undo } = row;
    if (target.auditId !== undefined && undo?.auditId !== target.auditId) {
      throw new CoreError(
        'not_undoable',
        'This decision can no longer be undone, because the submission was decided again, edited or withdrawn.',
      );
    }
    if (undo === null) {
      throw new CoreError(
        'already_decided',
        `The decision on '${row.id}' cannot be undone: there is none, it has already been undone, or the maker has changed the submission since.`,
      );
    }
    // A declined submission has no product. A product with the same id was imported, so it is not removed.
    if (row.status === 'approved' && undo.status !== 'approved') {
      // The public moderation log shows this entry as a removal if the product had launched.
      if (await revokeLaunch(sql, row, rules)) details.launched = true;
    }
    const launchAt = await restoreLaunch(sql, row, undo, rules);
    const change = {
      status: undo.status,
      approved_fields: undo.approvedFields,
      launch_at: launchAt,
      reason: undo.reason,
      undo: null,
      decided_at: undo.status === 'waiting' ? null : rules.now,
    };
    return updateSubmission(sql, row, change, rules.now);
  });
}

/** Restores a product that was approved before a decision. @returns the launch time of the submission. */
async function restoreLaunch(sql: Sql, row: SubmissionRow, undo: Undo, rules: LaunchRules): Promise<Date | null> {
  const earlier = undo.launchAt === null ? null : new Date(undo.launchAt);
  if (undo.status !== 'approved') return earlier;
  const time = launchTime(earlier, rules.now);
  if (row.status === 'approved') {
    const { createdAt } = await moveLaunch(sql, row.id, time, rules);
    if (Date.parse(createdAt) !== row.launch_at?.getTime()) throw launchEdited(row);
  } else if (undo.product) {
    // Fields that were added to products since the decision get their defaults.
    await createProduct(sql, completeProduct(withLaunchTime(undo.product, time, rules.timeZone), time));
  }
  // The product had been removed before the submission was declined, and stays removed.
  else return earlier;
  return time;
}

/**
 * Locks a submission, checks its revision, and changes it with an entry in the audit log, in one transaction. `change`
 * may add to the entry's details.
 */
function decide(
  database: Database,
  { id, revision, ignoresEdits = false }: DecisionTarget,
  action: Extract<AuditAction, `submissions ${string}`>,
  change: (sql: Sql, row: SubmissionRow, auditId: string, details: { launched?: true }) => Promise<SubmissionRow>,
): Promise<SubmissionRow> {
  return transactionWithRetries(database, async (sql) => {
    const row = await lockSubmission(sql, id);
    const auditId = orderedUuid();
    const isExpected = revision === undefined || revision === row.revision;
    if (!isExpected && !(ignoresEdits && (await isOnlyEdited(sql, row, revision)))) throw submissionChanged();
    if (row.status === 'withdrawn') {
      throw new CoreError('submission_withdrawn', `The maker of '${id}' has withdrawn it.`);
    }
    const details = {};
    const decided = await change(sql, row, auditId, details);
    const undoes = action === 'submissions undo' ? row.undo?.auditId : undefined;
    await recordAudit(sql, {
      id: auditId,
      action,
      target: id,
      details: { ...detailsOf(row, decided), ...details },
      undoes,
    });
    return decided;
  });
}

const SELECT_DECISIONS = `SELECT 1 FROM audit_log
  WHERE target = $1 AND created_at >= $3::timestamptz AND action LIKE 'submissions %'
    AND (details->>'revision')::integer >= $2 LIMIT 1`;

/**
 * Returns whether a submission is still waiting, and no decision was made on this revision or a later one. Ignores the
 * decisions on an earlier submission with the same id.
 */
async function isOnlyEdited(sql: Sql, row: SubmissionRow, revision: number): Promise<boolean> {
  if (row.status !== 'waiting') return false;
  return (await sql.query(SELECT_DECISIONS, [row.id, revision, row.created_at.toISOString()])).length === 0;
}

/** Returns details for the audit log: the revision and the decision, but not the maker's texts. */
function detailsOf(row: SubmissionRow, decided: SubmissionRow): object {
  return {
    revision: row.revision,
    ...(decided.status === 'approved' && { launchAt: decided.launch_at?.toISOString() }),
    ...(decided.status === 'declined' && decided.reason !== null && { reason: decided.reason }),
    ...(row.undo !== null && decided.undo === null && { of: row.undo.decision }),
  };
}

async function approve(
  sql: Sql,
  row: SubmissionRow,
  launchAt: Date,
  undo: Undo,
  { now, timeZone }: LaunchRules,
): Promise<SubmissionRow> {
  await createProduct(sql, productOfFields(row.id, row.fields, launchAt, timeZone));
  const change = {
    status: 'approved',
    approved_fields: row.fields,
    launch_at: launchAt,
    reason: null,
    undo,
    decided_at: now,
  } as const;
  return updateSubmission(sql, row, change, now);
}

function undoOf(row: SubmissionRow, decision: Undo['decision'], auditId: string): Undo {
  const { status, approved_fields: approvedFields, launch_at: launchAt, reason } = row;
  if (status === 'withdrawn') throw new Error('A withdrawn submission cannot be decided');
  return { decision, auditId, status, approvedFields, launchAt: launchAt?.toISOString() ?? null, reason };
}

function launchEdited({ id }: SubmissionRow): CoreError {
  return new CoreError(
    'already_decided',
    `The decision on '${id}' cannot be undone, because its product's launch time has been edited or imported since. Set the time with \`groundswell submissions schedule ${id} TIME\` instead.`,
  );
}

function alreadyDecided({ id }: SubmissionRow, decision: string): CoreError {
  return new CoreError('already_decided', `'${id}' is already ${decision}.`);
}
