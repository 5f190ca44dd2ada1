import type { Comment } from '../../contract/comments/schema.ts';
import { type AuditAction, lastAuditIds, recordAudit } from '../audit/audit-log.ts';
import { recordChange } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/transactions.ts';
import { isUuid } from '../runtime.ts';

type ModeratedComment = Pick<Comment, 'id' | 'productId'>;

/** The changed comments, and the ids of comments that are unknown, removed or already in the new state. */
export interface Moderation {
  done: ModeratedComment[];
  /** The ids of the changes' entries in the audit log. */
  auditIds: string[];
  skipped: string[];
}

/** The SQL of an operation that changes the visibility of comments. */
interface VisibilityChange {
  action: Extract<AuditAction, `comments ${string}`>;
  /** The assignments of `SET`; `reason.given` is the operator's reason. */
  set: string;
  /** The condition on rows that are not yet in the new state. */
  where: string;
  /**
   * The condition on changed rows that affect the product's count. It uses only columns that `set` leaves unchanged.
   */
  counted: string;
  /** 1 if these rows are added to the count, -1 if they are subtracted. */
  sign: 1 | -1;
  reason?: string | undefined;
  /** The action that this action undoes. */
  undoes?: AuditAction;
}

/**
 * Changes the visibility of these comments, and the counts, in one transaction. Comments that are already in the new
 * state are skipped.
 * @throws CoreError `unavailable`.
 */
async function moderateComments(
  database: Database,
  ids: readonly string[],
  change: VisibilityChange,
): Promise<Moderation> {
  const requested = [...new Set(ids.map((id) => id.toLowerCase()))];
  const valid = requested.filter(isUuid);
  const { done, auditIds } = await transactionWithRetries(database, async (sql) => {
    await lock(sql, valid);
    const rows = await sql.query<{ id: string; product_id: string }>(statementOf(change), [
      valid,
      change.reason ?? null,
    ]);
    const changed = rows.map(({ id, product_id: productId }) => ({ id, productId }));
    const entriesToUndo =
      change.undoes &&
      (await lastAuditIds(
        sql,
        change.undoes,
        changed.map(({ id }) => id),
      ));
    const auditIds = await recordAudit(
      sql,
      changed.map(({ id, productId }) => ({
        action: change.action,
        target: id,
        details: { productId, ...(change.reason === undefined ? {} : { reason: change.reason }) },
        undoes: entriesToUndo?.get(id),
      })),
    );
    const productIds = [...new Set(changed.map(({ productId }) => productId))];
    await recordChange(sql, { productIds, catalogue: false, commentIds: changed.map(({ id }) => id) });
    return { done: changed, auditIds };
  });
  const changed = new Set(done.map(({ id }) => id));
  return { done, auditIds, skipped: requested.filter((id) => !changed.has(id)) };
}

const LOCK_COMMENTS = `SELECT id FROM comments WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE /* omitted on Citus */`;

/** Locks counts and then comments, each in the order of their ids, as other writers do, which prevents deadlocks. */
async function lock(sql: Sql, ids: readonly string[]): Promise<void> {
  const rows = await sql.query<{ product_id: string }>(
    'SELECT DISTINCT product_id FROM comments WHERE id = ANY($1::uuid[])',
    [ids],
  );
  await lockCounts(
    sql,
    rows.map((row) => row.product_id),
  );
  await sql.query(LOCK_COMMENTS, [ids]);
}

function statementOf({ set, where, counted, sign }: VisibilityChange): string {
  return `WITH reason AS (
      SELECT $2::text AS given
    ), changed AS (
      UPDATE comments SET ${set} FROM reason WHERE id = ANY($1::uuid[]) AND ${where}
      RETURNING id, product_id, held_session, hidden_at
    ), counted AS (
      UPDATE product_counts SET comments = product_counts.comments + ${sign} * totals.changed
      FROM (SELECT product_id, count(*)::integer AS changed FROM changed WHERE ${counted} GROUP BY product_id) AS totals
      WHERE product_counts.product_id = totals.product_id
    )
    SELECT id, product_id FROM changed`;
}

/**
 * Hides comments from every visitor, including their authors, and subtracts the public ones from the counts. A held
 * comment stays held.
 * @throws CoreError `unavailable`.
 */
export function hideComments(database: Database, ids: readonly string[], reason?: string): Promise<Moderation> {
  return moderateComments(database, ids, {
    action: 'comments hide',
    // A distributed database refuses clock_timestamp() here, because its servers' clocks differ.
    set: 'hidden_at = statement_timestamp(), hidden_reason = reason.given',
    where: 'hidden_at IS NULL',
    counted: 'held_session IS NULL',
    sign: -1,
    reason,
  });
}

/**
 * Shows hidden comments again and adds them to the counts. A held comment stays held, and is not counted.
 * @throws CoreError `unavailable`.
 */
export function restoreComments(database: Database, ids: readonly string[]): Promise<Moderation> {
  return moderateComments(database, ids, {
    action: 'comments restore',
    set: 'hidden_at = NULL, hidden_reason = NULL',
    where: 'hidden_at IS NOT NULL',
    counted: 'held_session IS NULL',
    sign: 1,
    undoes: 'comments hide',
  });
}

/**
 * Makes held comments public, adds them to the counts and deletes the session ids stored with them, in one transaction.
 * A hidden comment stays hidden, and is not counted.
 * @throws CoreError `unavailable`.
 */
export function releaseComments(database: Database, ids: readonly string[]): Promise<Moderation> {
  return moderateComments(database, ids, {
    action: 'comments release',
    set: 'held_session = NULL',
    where: 'held_session IS NOT NULL',
    counted: 'hidden_at IS NULL',
    sign: 1,
    undoes: 'comments hold',
  });
}

/**
 * Holds comments, such as those released by mistake. Their authors' sessions are not stored, so only operators see the
 * comments until they are released.
 * @throws CoreError `unavailable`.
 */
export function holdComments(database: Database, ids: readonly string[]): Promise<Moderation> {
  return moderateComments(database, ids, {
    action: 'comments hold',
    set: "held_session = ''",
    where: 'held_session IS NULL',
    counted: 'hidden_at IS NULL',
    sign: -1,
    undoes: 'comments release',
  });
}

/** Two ids are enough to show that a prefix is ambiguous. */
const MAX_FOUND = 2;

/**
 * Finds up to two ids of comments that begin with this prefix of a UUID and end with these digits.
 * @throws CoreError `unavailable`.
 */
export async function findCommentIds(sql: Sql, prefix: string, end = ''): Promise<string[]> {
  const bound = (digit: string) =>
    prefix + `${digit.repeat(8)}${`-${digit.repeat(4)}`.repeat(3)}-${digit.repeat(12)}`.slice(prefix.length);
  const rows = await sql.query<{ id: string }>(
    `SELECT id FROM comments WHERE id BETWEEN $1::uuid AND $2::uuid AND right(id::text, length($3)) = $3 ORDER BY id LIMIT ${MAX_FOUND}`,
    [bound('0'), bound('f'), end.toLowerCase()],
  );
  return rows.map(({ id }) => id);
}
