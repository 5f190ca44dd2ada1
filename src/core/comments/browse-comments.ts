import type { ConsoleComment } from '../../contract/console/records.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, collectValues, cursorOfRow, newestFirst, orderBy, pageOf } from '../keyset.ts';
import { foldText } from '../search-text.ts';
import { COMMENT_COLUMNS, type CommentRow, commentOf, NOT_PUBLIC, PUBLIC } from './comment-row.ts';

/** A comment as operators see it, without its author's session. */
export type BrowsedComment = Omit<ConsoleComment, 'productName'>;

/** Filters of comments. Unset filters match all comments. */
export interface CommentFilter {
  held?: boolean;
  hidden?: boolean;
  productId?: string | undefined;
  /** Matched literally at any position of the content, ignoring case. */
  text?: string | undefined;
  limit: number;
}

type BrowsedRow = CommentRow & { held: boolean; hidden_at: Date | null; hidden_reason: string | null };

/**
 * The number of rows that one statement of a text search returns. No index covers the text, so a search may have to
 * read all comments.
 */
const WINDOW_ROWS = 2_000;

/**
 * Lists up to `limit` matching comments, newest first. Each statement returns a bounded number of rows; a rare text
 * takes many statements. `onScanned` receives the number of comments that a search has read so far.
 * @throws CoreError `unavailable`.
 */
export async function browseComments(
  sql: Sql,
  filter: CommentFilter,
  onScanned: (comments: number) => void = () => {},
): Promise<BrowsedComment[]> {
  const { text = '', limit } = filter;
  if (text === '') return (await readWindow(sql, filter, limit)).map(browsedOf);
  const found: BrowsedRow[] = [];
  for await (const { matches, scanned } of searchComments(sql, filter, text)) {
    found.push(...matches);
    onScanned(scanned);
    if (found.length >= limit) break;
  }
  return found.slice(0, limit).map(browsedOf);
}

const NEWEST = newestFirst<BrowsedRow>('browsed-comments', 'uuid');

/** The maximum number of comments that a search reads for one page, so requests stay short even for a rare text. */
const MAX_SCANNED = 20_000;

/**
 * Returns one page of the comments that `browseComments` lists. In a search, an empty page can have a next page,
 * because each page reads at most `MAX_SCANNED` comments.
 * @throws CoreError `bad_cursor`, `unavailable`.
 */
export async function browseCommentPage(
  sql: Sql,
  filter: CommentFilter & { cursor?: string | undefined },
): Promise<{ items: BrowsedComment[]; nextCursor: string | null }> {
  const { text = '', limit } = filter;
  if (text === '') {
    const { shown, nextCursor } = pageOf(NEWEST, await readWindow(sql, filter, limit + 1, filter.cursor), limit);
    return { items: shown.map(browsedOf), nextCursor };
  }
  const found: BrowsedRow[] = [];
  for await (const { matches, scanned, nextCursor } of searchComments(sql, filter, text, filter.cursor)) {
    found.push(...matches);
    const page = pageOf(NEWEST, found, limit);
    if (page.nextCursor !== null) return { items: page.shown.map(browsedOf), nextCursor: page.nextCursor };
    if (scanned >= MAX_SCANNED) return { items: found.map(browsedOf), nextCursor };
  }
  return { items: found.map(browsedOf), nextCursor: null };
}

/** Searches the comments window by window. `scanned` is the number of comments that the search has read so far. */
async function* searchComments(
  sql: Sql,
  filter: CommentFilter,
  text: string,
  after?: string,
): AsyncGenerator<{ matches: BrowsedRow[]; scanned: number; nextCursor: string | null }> {
  const folded = foldText(text);
  let cursor = after;
  let scanned = 0;
  do {
    const rows = await readWindow(sql, filter, WINDOW_ROWS, cursor);
    const last = rows.at(-1);
    cursor = last !== undefined && rows.length === WINDOW_ROWS ? cursorOfRow(NEWEST, last) : undefined;
    scanned += rows.length;
    const matches = rows.filter(({ content }) => foldText(content).includes(folded));
    yield { matches, scanned, nextCursor: cursor ?? null };
  } while (cursor !== undefined);
}

function readWindow(
  sql: Sql,
  { held, hidden, productId }: CommentFilter,
  rows: number,
  after?: string,
): Promise<BrowsedRow[]> {
  const { values, bind } = collectValues();
  const conditions = [
    'true',
    ...(held === undefined ? [] : [`held_session IS ${held ? 'NOT NULL' : 'NULL'}`]),
    ...(hidden === undefined ? [] : [`hidden_at IS ${hidden ? 'NOT NULL' : 'NULL'}`]),
    ...(productId === undefined ? [] : [`product_id = ${bind(productId, 'text')}`]),
    ...(after === undefined ? [] : [afterCursor(NEWEST, after, bind)]),
  ];
  const newest = `ORDER BY ${orderBy(NEWEST)} LIMIT ${rows}`;
  const select = (...more: string[]) =>
    `SELECT ${COMMENT_COLUMNS}, held_session IS NOT NULL AS held, hidden_at, hidden_reason FROM comments
     WHERE ${[...conditions, ...more].join(' AND ')} ${newest}`;
  // No index contains all comments of a product in this order: one index has the public comments, and another the rest.
  const isSplit = productId !== undefined && held === undefined && hidden === undefined;
  return sql.query<BrowsedRow>(
    isSplit ? `(${select(PUBLIC)}) UNION ALL (${select(NOT_PUBLIC)}) ${newest}` : select(),
    values,
  );
}

function browsedOf(row: BrowsedRow): BrowsedComment {
  const { held, hidden_at: since, hidden_reason: reason } = row;
  return { ...commentOf(row), held, hidden: since === null ? null : { since: since.toISOString(), reason } };
}
