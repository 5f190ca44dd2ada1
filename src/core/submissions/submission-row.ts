import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { StoredProduct } from '../../contract/products/schema.ts';
import { isStorableText } from '../../contract/text.ts';
import { OPERATOR_QUEUE, recordChange } from '../changes/change-feed.ts';
import { keyExpiry } from '../comments/idempotency-keys.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { completeProduct, launchOf } from '../products/save-products.ts';
import { DAY_MS } from '../runtime.ts';
import { hashToken, isToken } from '../token.ts';
import type { SubmissionFields } from './submission-fields.ts';

/** A row of submissions as the driver returns it. */
export interface SubmissionRow {
  id: string;
  status: 'waiting' | 'approved' | 'declined' | 'withdrawn';
  revision: number;
  fields: SubmissionFields;
  approved_fields: SubmissionFields | null;
  launch_at: Date | null;
  reason: string | null;
  undo: Undo | null;
  key_hashes: Buffer[];
  network: string | null;
  suspected_spam: boolean;
  created_at: Date;
  updated_at: Date;
  waiting_since: Date;
  decided_at: Date | null;
}

/** The state before the last decision, which an undo restores. */
export interface Undo {
  decision: 'approve' | 'decline' | 'schedule';
  /** The id of the decision's entry in the audit log. */
  auditId: string;
  status: 'waiting' | 'approved' | 'declined';
  approvedFields: SubmissionFields | null;
  launchAt: string | null;
  reason: string | null;
  /** The product of a scheduled submission that was declined, with operators' edits; unset if it had been removed. */
  product?: StoredProduct | undefined;
}

const SELECT = 'SELECT * FROM submissions WHERE id = $1';

export async function readSubmissionRow(sql: Sql, id: string): Promise<SubmissionRow | undefined> {
  // PostgreSQL rejects NUL and lone surrogates in text.
  return isStorableText(id) ? (await sql.query<SubmissionRow>(SELECT, [id]))[0] : undefined;
}

/**
 * Reads a submission and locks it until the transaction ends. To prevent deadlocks, submissions are locked before
 * products, days and counts.
 * @throws CoreError `submission_not_found`.
 */
export async function lockSubmission(sql: Sql, id: string): Promise<SubmissionRow> {
  const rows = isStorableText(id) ? await sql.query<SubmissionRow>(`${SELECT} FOR UPDATE`, [id]) : [];
  return rows[0] ?? notFound();
}

const SELECT_KEYS = 'SELECT key_hashes FROM submissions WHERE id = $1';

/**
 * Checks a maker key. Must be called before anything else is read or locked, so a wrong key takes as long as an unknown
 * id.
 * @throws CoreError `submission_not_found`, `unavailable`.
 */
export async function requireMakerKey(sql: Sql, id: string, key: string | undefined): Promise<void> {
  const rows = isStorableText(id) ? await sql.query<Pick<SubmissionRow, 'key_hashes'>>(SELECT_KEYS, [id]) : [];
  if (!isMakerKey(key, rows[0]?.key_hashes)) notFound();
}

/** Checks the key of a row. @throws CoreError `submission_not_found` if the key is wrong or there is no row. */
export function checkKey(row: SubmissionRow | undefined, key: string | undefined): SubmissionRow {
  const isRight = isMakerKey(key, row?.key_hashes);
  return row !== undefined && isRight ? row : notFound();
}

function notFound(): never {
  throw new CoreError('submission_not_found', 'Submission not found');
}

/** Builds the product of a submission, which launches at `createdAt`. Blank fields get the defaults of products. */
export function productOfFields(
  id: string,
  fields: SubmissionFields,
  createdAt: Date,
  timeZone: string,
): StoredProduct {
  return completeProduct({ ...launchOf(createdAt, timeZone), ...fields, id }, createdAt);
}

const UPDATE = `UPDATE submissions SET status = $2, revision = revision + 1, fields = $3::jsonb, approved_fields = $4::jsonb,
    launch_at = $5::timestamptz, reason = $6, undo = $7::jsonb, network = $8::uuid, updated_at = $9::timestamptz,
    waiting_since = $10::timestamptz, decided_at = $11::timestamptz
  WHERE id = $1 RETURNING *`;

/** The columns that a change may set. Unset columns stay unchanged. */
type SubmissionChange = Partial<
  Pick<
    SubmissionRow,
    | 'status'
    | 'fields'
    | 'approved_fields'
    | 'launch_at'
    | 'reason'
    | 'undo'
    | 'network'
    | 'waiting_since'
    | 'decided_at'
  >
>;

/** Writes a change to a locked row, as a new revision. @returns the updated row. */
export async function updateSubmission(
  sql: Sql,
  row: SubmissionRow,
  change: SubmissionChange,
  now: Date,
): Promise<SubmissionRow> {
  const next = { ...row, ...change };
  const [updated] = await sql.query<SubmissionRow>(UPDATE, [
    row.id,
    next.status,
    JSON.stringify(next.fields),
    next.approved_fields && JSON.stringify(next.approved_fields),
    next.launch_at?.toISOString() ?? null,
    next.reason,
    next.undo && JSON.stringify(next.undo),
    // The network is stored only while the submission waits.
    next.status === 'waiting' ? next.network : null,
    now.toISOString(),
    next.waiting_since.toISOString(),
    next.decided_at?.toISOString() ?? null,
  ]);
  await recordChange(sql, { productIds: [OPERATOR_QUEUE], catalogue: false });
  return updated ?? notFound();
}

/**
 * How long declined and withdrawn submissions are stored after their last change, for their makers and for an undo.
 * After that, their ids can be used again.
 */
const CLOSED_DAYS = 30;

/**
 * How long submissions that were withdrawn before a decision are stored. The time is short, because withdrawing frees a
 * slot in the queue, so a network could otherwise reserve many ids.
 */
const UNDECIDED_DAYS = 1;

/**
 * Deletes expired idempotency keys, and declined and withdrawn submissions that have not changed for 30 days or,
 * without a decision, for a day.
 * @throws CoreError `unavailable`.
 */
export async function deleteClosedSubmissions(sql: Sql, now: Date): Promise<void> {
  await sql.query('DELETE FROM submission_idempotency_keys WHERE created_at < $1::timestamptz', [
    keyExpiry(now).toISOString(),
  ]);
  const before = (days: number) => new Date(now.getTime() - days * DAY_MS).toISOString();
  // An edit of an approved submission clears `decided_at`, but not `approved_fields`.
  await sql.query(
    `DELETE FROM submissions WHERE (status IN ('declined', 'withdrawn') AND updated_at < $1::timestamptz)
       OR (status = 'withdrawn' AND decided_at IS NULL AND approved_fields IS NULL AND updated_at < $2::timestamptz)`,
    [before(CLOSED_DAYS), before(UNDECIDED_DAYS)],
  );
}

/** The hashes that are compared if a submission does not exist, so an unknown id takes as long as a wrong key. */
const NO_HASHES: readonly Buffer[] = [randomBytes(32)];

/** Returns whether a key matches one of these hashes. Every comparison takes the same time. */
function isMakerKey(key: string | undefined, hashes: readonly Buffer[] = NO_HASHES): boolean {
  const hash = hashToken(key ?? '');
  let found = false;
  for (const each of hashes) found = timingSafeEqual(hash, each) || found;
  return found && hashes !== NO_HASHES && isToken(key);
}
