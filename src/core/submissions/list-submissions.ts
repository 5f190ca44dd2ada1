import type { SubmissionRecord } from '../../contract/console/records.ts';
import type { Product } from '../../contract/products/schema.ts';
import { CoreError } from '../core-error.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, type KeysetOrder, newestFirst, orderBy, pageOf } from '../keyset.ts';
import type { LaunchRules } from './launch-product.ts';
import { launchAtOf, previewOf, readApprovedProducts, stateOf } from './read-submission.ts';
import { readSubmissionRow, type SubmissionRow } from './submission-row.ts';

export interface SubmissionFilter {
  /** `waiting` lists the oldest first, and suspected spam last. `all` lists the newest first. */
  status: 'waiting' | 'all';
  limit: number;
  cursor?: string | undefined;
}

const QUEUE: KeysetOrder<SubmissionRow> = {
  name: 'submissions-waiting',
  direction: 'ASC',
  columns: [
    { sql: '(suspected_spam::integer)', kind: 'count', keyOf: (row) => Number(row.suspected_spam) },
    { sql: 'waiting_since', kind: 'time', keyOf: (row) => row.waiting_since.toISOString() },
    { sql: 'id', kind: 'productId', keyOf: (row) => row.id },
  ],
};

const NEWEST = newestFirst<SubmissionRow>('submissions-newest', 'productId');

/** Lists one page of submissions for operators. @throws CoreError `bad_cursor`, `unavailable`. */
export async function listSubmissions(
  sql: Sql,
  { status, limit, cursor }: SubmissionFilter,
  { now, timeZone }: LaunchRules,
): Promise<{ items: SubmissionRecord[]; nextCursor: string | null }> {
  const order = status === 'waiting' ? QUEUE : NEWEST;
  const { values, bind } = collectValues();
  const conditions = [
    'true',
    ...(status === 'waiting' ? ["status = 'waiting'"] : []),
    ...(cursor === undefined ? [] : [afterCursor(order, cursor, bind)]),
  ];
  const rows = await sql.query<SubmissionRow>(
    `SELECT * FROM submissions WHERE ${conditions.join(' AND ')}
     ORDER BY ${orderBy(order)} LIMIT ${bind(limit + 1, 'integer')}`,
    values,
  );
  const { shown, nextCursor } = pageOf(order, rows, limit);
  const products = await readApprovedProducts(sql, shown);
  return { items: shown.map((row) => recordOf(row, products.get(row.id), now, timeZone)), nextCursor };
}

/** Reads one submission for operators. @throws CoreError `submission_not_found`, `unavailable`. */
export async function inspectSubmission(
  sql: Sql,
  id: string,
  { now, timeZone }: LaunchRules,
): Promise<SubmissionRecord> {
  const row = await readSubmissionRow(sql, id);
  if (row === undefined) throw new CoreError('submission_not_found', `There is no submission '${id}'.`);
  return recordOf(row, (await readApprovedProducts(sql, [row])).get(id), now, timeZone);
}

function recordOf(row: SubmissionRow, product: Product | undefined, now: Date, timeZone: string): SubmissionRecord {
  const { approved_fields: approved } = row;
  const { status, reason } = stateOf(row, product, now);
  return {
    id: row.id,
    status,
    revision: row.revision,
    suspectedSpam: row.suspected_spam,
    reason,
    launchAt: launchAtOf(row, product, now),
    product: product ?? previewOf(row, now, timeZone),
    approvedProduct:
      row.status === 'approved' || approved === null ? null : previewOf({ ...row, fields: approved }, now, timeZone),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    waitingSince: row.waiting_since.toISOString(),
    decidedAt: row.decided_at?.toISOString() ?? null,
    canUndo: row.undo !== null,
  };
}

export interface WaitingSubmissions {
  waiting: number;
  suspectedSpam: number;
  /** When the oldest waiting submission that is not suspected spam began to wait; `null` if there is none. */
  oldestSince: Date | null;
}

const SELECT_WAITING = `SELECT count(*)::integer AS waiting, (count(*) FILTER (WHERE suspected_spam))::integer AS spam,
    min(waiting_since) FILTER (WHERE NOT suspected_spam) AS oldest
  FROM submissions WHERE status = 'waiting'`;

/** Counts the submissions that wait for a decision. @throws CoreError `unavailable`. */
export async function countWaiting(sql: Sql): Promise<WaitingSubmissions> {
  const [row] = await sql.query<{ waiting: number; spam: number; oldest: Date | null }>(SELECT_WAITING);
  return { waiting: row?.waiting ?? 0, suspectedSpam: row?.spam ?? 0, oldestSince: row?.oldest ?? null };
}

/** The numbers of submissions received in a period, by current status. */
export interface SubmissionStats {
  received: number;
  waiting: number;
  approved: number;
  declined: number;
  withdrawn: number;
}

const SELECT_STATS = `SELECT count(*)::integer AS received,
    (count(*) FILTER (WHERE status = 'waiting'))::integer AS waiting,
    (count(*) FILTER (WHERE status = 'approved'))::integer AS approved,
    (count(*) FILTER (WHERE status = 'declined'))::integer AS declined,
    (count(*) FILTER (WHERE status = 'withdrawn'))::integer AS withdrawn
  FROM submissions WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz`;

/**
 * Counts the submissions received from `since` (inclusive) until `until` (exclusive), by status.
 * @throws CoreError `unavailable`.
 */
export async function readSubmissionStats(sql: Sql, since: Date, until: Date): Promise<SubmissionStats> {
  const [row] = await sql.query<SubmissionStats>(SELECT_STATS, [since.toISOString(), until.toISOString()]);
  return row ?? { received: 0, waiting: 0, approved: 0, declined: 0, withdrawn: 0 };
}
