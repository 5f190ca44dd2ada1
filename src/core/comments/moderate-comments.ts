import type { Comment } from '../../contract/comments/schema.ts';
import { type ActName, recordActs } from '../audit/record-act.ts';
import { noteChange } from '../changes/change-feed.ts';
import { lockCounts } from '../counts/lock-counts.ts';
import type { Database, Sql } from '../database/database.ts';
import { transactionWithRetries } from '../database/retry-transaction.ts';
import { rowLock } from '../database/row-lock.ts';
import { isUuid } from '../uuid.ts';

/** A comment that the operator changed. */
export type ModeratedComment = Pick<Comment, 'id' | 'productId'>;

/** What was done, and the ids of comments that are unknown, removed, or were so already. */
export interface Moderation {
  done: ModeratedComment[];
  skipped: string[];
}

/** One way in which the operator changes who may read a comment. */
export interface VisibilityChange {
  act: Extract<ActName, `comments ${string}`>;
  /** What is set in the row, where `$2` is the reason. */
  set: string;
  /** Which rows are not so yet. */
  where: string;
  /** Which of the changed rows the count gains (or loses), as a condition on the columns that stay as they are. */
  counted: string;
  /** 1: they are counted from now on; -1: no more. */
  sign: 1 | -1;
  reason?: string | undefined;
}

/**
 * Changes who may read these comments, and the counts with it. All or nothing; those that are so already are skipped.
 * @throws CoreError `unavailable`.
 */
export async function moderateComments(
  database: Database,
  ids: readonly string[],
  change: VisibilityChange,
): Promise<Moderation> {
  const asked = [...new Set(ids.map((id) => id.toLowerCase()))];
  const valid = asked.filter(isUuid);
  const done = await transactionWithRetries(database, async (sql) => {
    await lock(sql, valid);
    const rows = await sql.query<{ id: string; product_id: string }>(statementOf(change), [
      valid,
      change.reason ?? null,
    ]);
    const changed = rows.map(({ id, product_id: productId }) => ({ id, productId }));
    await recordActs(
      sql,
      changed.map(({ id, productId }) => ({
        act: change.act,
        subject: id,
        details: { productId, ...(change.reason === undefined ? {} : { reason: change.reason }) },
      })),
    );
    const productIds = [...new Set(changed.map(({ productId }) => productId))];
    await noteChange(sql, { productIds, catalogue: false, commentIds: changed.map(({ id }) => id) });
    return changed;
  });
  const changed = new Set(done.map(({ id }) => id));
  return { done, skipped: asked.filter((id) => !changed.has(id)) };
}

/** Counts first, then comments, each in the order of their ids: as everybody does, so that nobody waits crosswise. */
async function lock(sql: Sql, ids: readonly string[]): Promise<void> {
  const rows = await sql.query<{ product_id: string }>(
    'SELECT DISTINCT product_id FROM comments WHERE id = ANY($1::uuid[])',
    [ids],
  );
  await lockCounts(
    sql,
    rows.map((row) => row.product_id),
  );
  const lock = await rowLock(sql, 'FOR UPDATE');
  await sql.query(`SELECT id FROM comments WHERE id = ANY($1::uuid[]) ORDER BY id ${lock}`, [ids]);
}

function statementOf({ set, where, counted, sign }: VisibilityChange): string {
  return `WITH reason AS (
      SELECT $2::text AS given
    ), changed AS (
      UPDATE comments SET ${set} FROM reason WHERE id = ANY($1::uuid[]) AND ${where}
      RETURNING id, product_id, held_for, hidden_at
    ), counted AS (
      UPDATE product_counts SET comments = product_counts.comments + ${sign} * totals.changed
      FROM (SELECT product_id, count(*)::integer AS changed FROM changed WHERE ${counted} GROUP BY product_id) AS totals
      WHERE product_counts.product_id = totals.product_id
    )
    SELECT id, product_id FROM changed`;
}
