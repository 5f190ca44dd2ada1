import type { Comment } from '../../contract/comments/schema.ts';
import type { Sql } from '../database/database.ts';
import { foldText } from '../search-text.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf } from './comment-row.ts';

/** A comment as the operator sees it: whoever wrote it stays unknown. */
export interface BrowsedComment extends Comment {
  held: boolean;
  /** Since when it is hidden (ISO 8601, UTC), and what the operator gave as the reason. */
  hidden: { since: string; reason: string | null } | null;
}

/** Which comments are looked for; without any of these, all. */
export interface CommentFilter {
  heldOnly?: boolean;
  hiddenOnly?: boolean;
  productId?: string | undefined;
  /** Found anywhere in the content, in any case, each character taken literally. */
  text?: string | undefined;
  limit: number;
}

type BrowsedRow = CommentRow & { held: boolean; hidden_at: Date | null; hidden_reason: string | null };

/** Rows a statement where a text is looked for: no index knows it, so that all comments may have to be read. */
const WINDOW_ROWS = 2_000;

/**
 * The newest comments that fit, newest first. Each statement reads a bounded number of rows by an index; a text that is rare
 * takes many of them. `onLooked` is told how many comments were looked at so far.
 * @throws CoreError `unavailable`.
 */
export async function browseComments(
  sql: Sql,
  filter: CommentFilter,
  onLooked: (comments: number) => void = () => {},
): Promise<BrowsedComment[]> {
  const { text = '', limit } = filter;
  if (text === '') return (await readWindow(sql, filter, limit)).map(browsedOf);
  const folded = foldText(text);
  const found: BrowsedComment[] = [];
  let looked = 0;
  let last: BrowsedRow | undefined;
  do {
    const rows = await readWindow(sql, filter, WINDOW_ROWS, last);
    found.push(...rows.filter(({ content }) => foldText(content).includes(folded)).map(browsedOf));
    looked += rows.length;
    onLooked(looked);
    last = rows.length < WINDOW_ROWS ? undefined : rows.at(-1);
  } while (last !== undefined && found.length < limit);
  return found.slice(0, limit);
}

function readWindow(
  sql: Sql,
  { heldOnly = false, hiddenOnly = false, productId }: CommentFilter,
  rows: number,
  after?: BrowsedRow,
): Promise<BrowsedRow[]> {
  const values: unknown[] = [];
  const bind = (value: unknown, sqlType: string) => `$${values.push(value)}::${sqlType}`;
  const conditions = [
    ...(heldOnly ? ['held_for IS NOT NULL'] : []),
    ...(hiddenOnly ? ['hidden_at IS NOT NULL'] : []),
    ...(productId === undefined ? [] : [`product_id = ${bind(productId, 'text')}`]),
    ...(after === undefined
      ? []
      : [`(created_at, id) < (${bind(after.created_at.toISOString(), 'timestamptz')}, ${bind(after.id, 'uuid')})`]),
  ];
  return sql.query<BrowsedRow>(
    `SELECT ${COMMENT_COLUMNS}, held_for IS NOT NULL AS held, hidden_at, hidden_reason FROM comments
     ${conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`}
     ORDER BY created_at DESC, id DESC LIMIT ${rows}`,
    values,
  );
}

function browsedOf(row: BrowsedRow): BrowsedComment {
  const { held, hidden_at: since, hidden_reason: reason } = row;
  return { ...commentOf(row), held, hidden: since === null ? null : { since: since.toISOString(), reason } };
}
