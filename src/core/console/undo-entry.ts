import { formatQuantity } from '../../contract/text.ts';
import { type AuditAction, type AuditEntry, readAuditEntry, runAsUndo } from '../audit/audit-log.ts';
import { hideComments, holdComments, releaseComments, restoreComments } from '../comments/moderate-comments.ts';
import { CoreError } from '../core-error.ts';
import { LARGE_CHANGE_ROWS } from '../counts/block-writes.ts';
import type { Connection } from '../database/connect.ts';
import type { Database, Sql } from '../database/database.ts';
import { IMPORT_UNDO_LIMITS, undoImport } from '../imports/import-changes.ts';
import { undoVerdicts } from '../leaderboards/change-verdicts.ts';
import { mayReferenceDeletedPictures, UNDO_DAYS } from '../pictures/delete-unreferenced.ts';
import { editProduct } from '../products/edit-product.ts';
import { inspectProduct } from '../products/get-product.ts';
import { removeProducts } from '../products/remove-products.ts';
import { restoreProducts } from '../products/restore-products.ts';
import { findUnschedulable, versionOf, withMissedLaunch } from '../products/save-products.ts';
import type { Runtime } from '../runtime.ts';
import { undoDecision } from '../submissions/decide-submission.ts';
import { launchRules } from '../submissions/launch-product.ts';

interface UndoOptions {
  runtime: Runtime;
  /** The value of SITE_TIME_ZONE. */
  timeZone: string;
  votesPerNetwork: number;
}

/**
 * Undoes an entry of the audit log by the inverse operation, and marks the entry as undone.
 * @returns the entry, and a note on what undoing an import left unchanged, or null if the undo is complete.
 * @throws CoreError `not_found`; `not_undoable` if the entry is already undone, if its action has no inverse, or if its
 * target has changed since; also the errors of `editProduct` for an edit, and of `undoDecision` for a decision.
 */
export async function undoEntry(
  { database, withoutStatementTimeout }: Pick<Connection, 'database' | 'withoutStatementTimeout'>,
  id: string,
  options: UndoOptions,
): Promise<{ entry: AuditEntry; note: string | null }> {
  const entry = await readAuditEntry(database, id);
  if (entry === undefined) throw new CoreError('not_found', 'There is no such entry in the audit log.');
  if (entry.undoneBy !== null) throw notUndoable('This entry has already been undone.');
  const undo = async (on: Database) => {
    if (entry.action === 'import') return revertImport(on, entry, options);
    const revert = REVERSALS[entry.action];
    if (revert === undefined) throw notUndoable(`'${entry.action}' cannot be undone from the audit log.`);
    await revert(on, entry, options);
    return null;
  };
  const run = (on: Database) => runAsUndo(id, () => undo(on));
  return { entry, note: await (mayTimeOut(entry) ? withoutStatementTimeout(run) : run(database)) };
}

/**
 * Returns whether an undo may exceed the statement timeout, and therefore needs a connection without one. The entry of
 * a removal contains the numbers of rows that the undo restores. The numbers in the entry of a restoration may be
 * outdated, because the product may have grown since.
 */
function mayTimeOut({ action, details }: AuditEntry): boolean {
  if (action === 'import' || action === 'products restore' || action.startsWith('votes ')) return true;
  const { upvotes = 0, comments = 0 }: { upvotes?: number; comments?: number } = { ...details };
  return upvotes + comments >= LARGE_CHANGE_ROWS;
}

/** Reverts an import. @returns a note on the skipped products, or null if there are none. */
async function revertImport(
  database: Database,
  entry: AuditEntry,
  { runtime, timeZone }: UndoOptions,
): Promise<string | null> {
  const undone = await undoImport(database, entry, launchRules(runtime, timeZone));
  if (undone === undefined) throw notUndoable(`${IMPORT_UNDO_LIMITS} Backups do not contain the data for it.`);
  if (undone.skipped === 0) return null;
  return `Skipped ${formatQuantity(undone.skipped, 'product')} (changed or final since the import).`;
}

type Reversal = (database: Database, entry: AuditEntry, options: UndoOptions) => Promise<unknown>;

const revertDecision: Reversal = (database, { target, id: auditId }, { runtime, timeZone }) =>
  undoDecision(database, { id: target, auditId }, launchRules(runtime, timeZone));

const revertVerdicts: Reversal = async (database, { target, id }, { runtime, votesPerNetwork }) => {
  const undone = await undoVerdicts(database, target, runtime, votesPerNetwork, id);
  if (undone === undefined) throw notUndoable('Undo the later exclusion or inclusion of votes for this product first.');
};

/** The inverse operations of the actions that can be undone from the audit log, except imports. */
const REVERSALS: Partial<Record<AuditAction, Reversal>> = {
  'products edit': revertEdit,
  'products postpone': revertEdit,
  async 'products remove'(database, { id, target }, { timeZone }) {
    const { restored, taken } = await restoreProducts(database, { removalIds: [id] }, timeZone);
    if (taken.length > 0) throw notUndoable(`Another product has the id '${target}' now. Remove it first.`);
    requireDone(restored);
  },
  async 'products restore'(database, entry) {
    if (await isRemovedLater(database, entry)) throw notUndoable('The product was removed again later.');
    requireDone((await removeProducts(database, [entry.target], await reasonOf(database, entry))).removed);
  },
  'comments hide': async (database, { target }) => requireDone((await restoreComments(database, [target])).done),
  'comments restore': async (database, entry) =>
    requireDone((await hideComments(database, [entry.target], await reasonOf(database, entry))).done),
  'comments hold': async (database, { target }) => requireDone((await releaseComments(database, [target])).done),
  'comments release': async (database, { target }) => requireDone((await holdComments(database, [target])).done),
  'votes exclude': revertVerdicts,
  'votes include': revertVerdicts,
  'submissions approve': revertDecision,
  'submissions schedule': revertDecision,
  'submissions decline': revertDecision,
};

/** Returns whether an action has an inverse, with which `undoEntry` can undo it. */
export function isUndoable(action: AuditAction): boolean {
  return action === 'import' || action in REVERSALS;
}

const SELECT_LATER_REMOVALS = `SELECT 1 FROM removed_products WHERE product_id = $1 AND removed_at > $2::timestamptz
  UNION ALL SELECT 1 FROM audit_log WHERE target = $1 AND action = 'sample remove' AND created_at > $2::timestamptz LIMIT 1`;

/** Returns whether the product was removed after this entry. If so, its id may belong to another product now. */
async function isRemovedLater(sql: Sql, { target, createdAt }: AuditEntry): Promise<boolean> {
  return (await sql.query(SELECT_LATER_REMOVALS, [target, createdAt])).length > 0;
}

/** Returns the reason for the removal or the hiding that this entry undid, if one was given. */
async function reasonOf(database: Database, { undoes }: AuditEntry): Promise<string | undefined> {
  const undone = undoes === null ? undefined : await readAuditEntry(database, undoes);
  const details: { reason?: string } = { ...undone?.details };
  return details.reason;
}

/**
 * Restores the fields that an edit changed.
 * @throws CoreError `not_undoable`, for example if one of the fields has changed since; also the errors of
 * `editProduct`.
 */
async function revertEdit(
  database: Database,
  { target: id, details, createdAt }: AuditEntry,
  { runtime, timeZone }: UndoOptions,
): Promise<void> {
  const rules = launchRules(runtime, timeZone);
  const { now } = rules;
  const { before, after } = details as { before: { createdAt?: string }; after: object };
  if (mayReferenceDeletedPictures(before, new Date(createdAt), now))
    throw notUndoable(`An edit that replaced pictures can be undone for ${UNDO_DAYS} days.`);
  const { product } = await inspectProduct(database, id);
  if (product === null) throw notUndoable('The product was removed.');
  const current: Record<string, unknown> = { ...product };
  for (const [field, value] of Object.entries(after)) {
    if (JSON.stringify(current[field]) !== JSON.stringify(value))
      throw notUndoable(`The field ${field} has changed since this edit. Undo the later change first.`);
  }
  const moved = before.createdAt === undefined ? [] : [{ id, createdAt: before.createdAt }];
  if ((await findUnschedulable(database, moved)).length > 0)
    throw notUndoable('The result of the product has become final, so the product cannot be scheduled again.');
  const earlier = { createdAt: product.createdAt, launchDate: product.launchDate, ...before };
  const reversal = { changedAt: new Date(createdAt), current: product, now, timeZone };
  const values = withMissedLaunch(earlier, reversal);
  await editProduct(database, id, { values, version: versionOf(product) }, rules);
}

function requireDone(done: readonly unknown[]): void {
  if (done.length === 0) throw notUndoable('The product or comment has changed since this entry.');
}

function notUndoable(why: string): CoreError {
  return new CoreError('not_undoable', why);
}
