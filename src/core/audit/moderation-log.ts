import { LIMITS } from '../../contract/limits.ts';
import type { ModerationEntry, ModerationLog } from '../../contract/moderation/schema.ts';
import type { PageQuery } from '../../contract/page-query.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, isCursorOf, newestFirst, orderBy, pageOf } from '../keyset.ts';
import { MODERATION_ACTIONS } from './audit-log.ts';

type PublicAction = (typeof MODERATION_ACTIONS)[number];

const NAMES: Record<PublicAction, ModerationEntry['action']> = {
  'products remove': 'product.removed',
  'products postpone': 'product.postponed',
  'comments hide': 'comment.hidden',
  // To visitors, a held comment looks the same as a hidden one.
  'comments hold': 'comment.hidden',
  'votes exclude': 'votes.excluded',
  'votes include': 'votes.included',
  'submissions decline': 'submission.declined',
  'submissions undo': 'product.removed',
  'sample remove': 'product.removed',
};

interface EntryRow {
  id: string;
  created_at: Date;
  action: PublicAction;
  product_id: string | null;
  votes: number | null;
  reason: string | null;
  undone_at: Date | null;
}

const ORDER = newestFirst<EntryRow>('moderation', 'uuid', 'a.');

/** Returns whether a cursor belongs to this log. */
export function isModerationCursor(cursor: string): boolean {
  return isCursorOf(ORDER, cursor);
}

// Selects when a later edit or import relaunched the product of the postponement `a`. Apart from undone removals, only
// the next entry that hides or shows the product matters: it must have moved the launch from the future to the past.
const RELAUNCHED_AT = `SELECT CASE WHEN n.action = 'products edit' THEN n.created_at END FROM audit_log n
    WHERE n.target = a.target AND n.created_at > a.created_at AND (n.action = 'products postpone'
      OR n.action = 'products remove' AND NOT EXISTS (SELECT FROM audit_log u WHERE u.undoes = n.id)
      OR n.action = 'products edit' AND (n.details -> 'before' ->> 'createdAt')::timestamptz > n.created_at
        AND (n.details -> 'after' ->> 'createdAt')::timestamptz <= n.created_at)
    ORDER BY n.created_at LIMIT 1`;

// Selects when a submission was approved again after `a` had undone its approval. Selects nothing if the product was
// then removed before its launch. Compares times, because a later submission or product may have the same id.
const APPROVED_AGAIN_AT = `SELECT s.decided_at FROM submissions s
    WHERE s.id = a.target AND s.status = 'approved' AND s.created_at < a.created_at AND (
      SELECT (r.product ->> 'created_at')::timestamptz > r.removed_at FROM removed_products r
      WHERE r.product_id = s.id AND r.removed_at > a.created_at ORDER BY r.removed_at LIMIT 1) IS NOT TRUE`;

// Omits removals of products that had not launched, undone decisions that removed no launched product, and the summary
// of a sample removal. Other fields of `details` must stay private: they contain names of removed products and
// identifiers of voters. One call extracts all fields, because each `->>` would decompress `details` again.
const SELECT_PAGE = `SELECT a.id, a.created_at, a.action, d.votes, d.reason,
    CASE WHEN a.action LIKE 'comments %' THEN d."productId" WHEN a.action <> 'submissions decline' THEN a.target END
      AS product_id,
    least((SELECT min(u.created_at) FROM audit_log u WHERE u.undoes = a.id),
      CASE WHEN a.action = 'products postpone' THEN (${RELAUNCHED_AT})
        WHEN a.action = 'submissions undo' THEN (${APPROVED_AGAIN_AT}) END) AS undone_at
  FROM audit_log a
    CROSS JOIN LATERAL jsonb_to_record(a.details) AS d (votes integer, reason text, "productId" text, launched boolean)
  WHERE a.action IN ('${MODERATION_ACTIONS.join("', '")}')
    AND (a.action <> 'products remove' OR d.launched IS NOT FALSE)
    AND (a.action NOT IN ('submissions undo', 'sample remove') OR d.launched)`;

const SELECT_NAMES = 'SELECT id, name FROM products WHERE id = ANY($1::text[]) AND created_at <= $2::timestamptz';

const SELECT_REMOVALS =
  'SELECT product_id, max(removed_at) AS removed_at FROM removed_products WHERE product_id = ANY($1::text[]) GROUP BY product_id';

/**
 * Lists one page of the public moderation log, newest first: removed and postponed products, hidden comments, excluded
 * and included votes, and declined submissions.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function listModeration(
  sql: Sql,
  { limit = LIMITS.pageSize.default, cursor = '' }: PageQuery,
  now: Date,
): Promise<ModerationLog> {
  const { values, bind } = collectValues(limit + 1);
  const after = cursor === '' ? '' : `AND ${afterCursor(ORDER, cursor, bind)}`;
  const rows = await sql.query<EntryRow>(`${SELECT_PAGE} ${after} ORDER BY ${orderBy(ORDER)} LIMIT $1`, values);
  const { shown, nextCursor } = pageOf(ORDER, rows, limit);
  const ids = [...new Set(shown.flatMap((row) => row.product_id ?? []))];
  const names = await sql.query<{ id: string; name: string }>(SELECT_NAMES, [ids, now.toISOString()]);
  const removals = await sql.query<{ product_id: string; removed_at: Date }>(SELECT_REMOVALS, [ids]);
  const nameOf = new Map(names.map(({ id, name }) => [id, name]));
  const removedAt = new Map(removals.map((row) => [row.product_id, row.removed_at]));
  return { items: shown.map((row) => entryOf(row, nameOf, removedAt)), nextCursor };
}

function entryOf(
  row: EntryRow,
  nameOf: ReadonlyMap<string, string>,
  removedAt: ReadonlyMap<string, Date>,
): ModerationEntry {
  // Names are looked up by id, and a new product may have taken the id of a removed one.
  const isReplaced = row.created_at < (removedAt.get(row.product_id ?? '') ?? 0);
  const name = isReplaced ? undefined : nameOf.get(row.product_id ?? '');
  // A product that was approved again is hidden until its launch.
  const isHidden = name === undefined && !isReplaced;
  const undoneAt = row.action === 'submissions undo' && isHidden ? null : row.undone_at;
  const isGone = NAMES[row.action] === 'product.removed' && undoneAt === null;
  return {
    id: row.id,
    at: row.created_at.toISOString(),
    action: NAMES[row.action],
    productId: row.product_id,
    productName: isGone ? null : (name ?? null),
    votes: row.votes,
    reason: row.reason,
    undoneAt: undoneAt?.toISOString() ?? null,
  };
}
