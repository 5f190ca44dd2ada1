import type { ProductSort } from '../../contract/products/schema.ts';
import type { Sql } from '../database/database.ts';
import { afterCursor, type Bind, collectValues, type Key, orderBy } from '../keyset.ts';
import { foldText, likeInOrder, likePattern } from '../search-text.ts';
import { PRODUCT_COLUMNS, PRODUCT_ORDERS, type ProductRow } from './product-row.ts';

/** The filters of a list, as folded text. An empty filter has no effect. */
interface Terms {
  term: string;
  tag: string;
}

export interface ListRange extends Terms {
  /** Products that launch after this time are left out. */
  now: Date;
  sort: ProductSort;
  /** The cursor after which the window starts; empty for the head of the list. */
  cursor: string;
  /** Maximum number of matching rows to return. */
  maxMatches: number;
}

function conditionsOf({ term, tag }: Terms, bind: Bind): string {
  const conditions = [
    'true',
    ...(term === '' ? [] : [`p.search_text LIKE ${bind(likePattern(term), 'text')} ESCAPE '\\'`]),
    ...(tag === '' ? [] : [`p.tag_keys @> ARRAY[${bind(tag, 'text')}]`]),
  ];
  return conditions.join(' AND ');
}

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };

/**
 * The matching rows of a window of the list. `end` has the sort keys of the last row of the window; it is undefined if
 * the page is full or the list ends.
 */
export interface ScanResult {
  rows: ProductRow[];
  end: readonly Key[] | undefined;
}

interface ScanSize {
  rows: number;
  /** Limits the window to this many rows if fewer than `minMatches` of them match. */
  probe?: { rows: number; minMatches: number } | undefined;
}

/**
 * Reads the next products in the order of the list, and stops when enough of them match. The terms are tested in a
 * column of the query and not in its `WHERE` clause, so no plan reads the rows in another order.
 */
export async function scanWindow(sql: Sql, range: ListRange, { rows: size, probe }: ScanSize): Promise<ScanResult> {
  const { sort, cursor, maxMatches } = range;
  const order = PRODUCT_ORDERS[sort];
  // Limits are literals, because with a parameter, a generic plan assumes a limit of a tenth of the rows.
  const { values, bind } = collectValues();
  const hit = conditionsOf(range, bind);
  const now = bind(range.now.toISOString(), 'timestamptz');
  const after = cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`;
  const [key, id] = order.columns.map((column) => column.sql);
  // The end of a window may become a cursor, which must not reveal a product that has not launched, so windows exclude
  // such products. Scheduled products are few, so they are read once instead of being looked up for each row.
  const source =
    sort === 'newest'
      ? `SELECT ${id} AS id, ${key} AS key, ${hit} AS hit FROM products p WHERE p.created_at <= ${now}`
      : `SELECT ${id} AS id, ${key} AS key, (SELECT ${hit} FROM products p WHERE p.id = ${id}) AS hit
         FROM product_counts c WHERE ${id} NOT IN (SELECT p.id FROM products p WHERE p.created_at > ${now})`;
  // PostgreSQL reads a CTE only as far as needed, so a probe with few matches ends the scan.
  const windowSize = probe
    ? `CASE WHEN (SELECT count(*) FROM (SELECT hit FROM scanned LIMIT ${probe.rows}) AS probed WHERE hit)
         < ${probe.minMatches} THEN ${probe.rows} ELSE ${size} END`
    : size;
  const text = `WITH scanned AS MATERIALIZED (
        ${source} ${after} ORDER BY ${orderBy(order)} LIMIT ${size}
      ), size AS MATERIALIZED (
        SELECT ${windowSize} AS rows
      ), in_window AS NOT MATERIALIZED (
        SELECT * FROM scanned LIMIT (SELECT rows FROM size)
      ), hits AS MATERIALIZED (
        SELECT id FROM in_window WHERE hit LIMIT ${maxMatches}
      ), edge AS MATERIALIZED (
        SELECT key, id FROM in_window
        WHERE CASE WHEN (SELECT count(*) FROM hits) < ${maxMatches}
          THEN (SELECT count(*) FROM in_window) = (SELECT rows FROM size) END
        ORDER BY key, id LIMIT 1
      )
      SELECT edge.key AS edge_key, edge.id AS edge_id, ${PRODUCT_COLUMNS}
      FROM (SELECT 1) AS one_row_at_least
      LEFT JOIN edge ON true
      LEFT JOIN (hits JOIN products p ON p.id = hits.id LEFT JOIN product_counts c ON c.product_id = p.id) ON true
      ORDER BY ${orderBy(order)}`;
  type ScannedRow = Nullable<ProductRow> & { edge_key: Date | number | null; edge_id: string | null };
  const rows = await sql.query<ScannedRow>(text, values);
  return { rows: rows.filter(isProductRow), end: endOf(rows[0]) };
}

function endOf(
  row: { edge_key: Date | number | null; edge_id: string | null } | undefined,
): readonly Key[] | undefined {
  if (!row || row.edge_key === null || row.edge_id === null) return undefined;
  return [row.edge_key instanceof Date ? row.edge_key.toISOString() : row.edge_key, row.edge_id];
}

interface IndexLookup extends ListRange {
  keys: LookupKeys;
  maxFound: number;
}

/**
 * What to look up for a term: `parts` of it, in order, in the trigram index, or its `grams` in the index of n-grams. If
 * there are neither, the planner chooses an index for the whole term or the tag.
 */
export interface LookupKeys {
  parts?: readonly string[];
  grams?: readonly number[];
}

/**
 * Returns the conditions of a lookup. If there are keys, the whole term is tested by `position`, which no index
 * supports, so only the keys use an index.
 */
function lookUpConditions({ term, tag, keys, now }: IndexLookup, bind: Bind): string {
  const { parts = [], grams = [] } = keys;
  const launched = `p.created_at <= ${bind(now.toISOString(), 'timestamptz')}`;
  const candidates = [
    ...(parts.length === 0 ? [] : [`p.search_text LIKE ${bind(likeInOrder(parts), 'text')} ESCAPE '\\'`]),
    ...(grams.length === 0 ? [] : [`p.search_grams @> ${bind(grams, 'integer[]')}`]),
  ];
  if (candidates.length === 0) return `${launched} AND ${conditionsOf({ term, tag }, bind)}`;
  const hasTerm = `position(${bind(foldText(term), 'text')} IN p.search_text) > 0`;
  return [launched, conditionsOf({ term: '', tag }, bind), ...candidates, hasTerm].join(' AND ');
}

/**
 * Finds all matching products with the indexes of trigrams, n-grams and tags, and sorts them.
 * @returns the requested rows, or undefined if more than `maxFound` products match.
 */
export async function lookUpByIndex(sql: Sql, range: IndexLookup): Promise<ProductRow[] | undefined> {
  const { sort, cursor, maxMatches, maxFound } = range;
  const order = PRODUCT_ORDERS[sort];
  const id = order.columns.at(-1)?.sql;
  // Counts are read by an array of ids. With a join, a plan could read all counts for a few matches, and a subquery per
  // match cannot be sent to several servers.
  const count = sort === 'top' ? 'upvotes' : 'comments';
  const keyed =
    sort === 'newest'
      ? 'found p'
      : `(SELECT product_id, ${count} FROM product_counts WHERE product_id = ANY(ARRAY(SELECT id FROM found))) AS c`;
  const { values, bind } = collectValues();
  // The cursor is not a condition of the lookup, because a plan could then scan the list instead.
  const text = `WITH found AS MATERIALIZED (
        SELECT p.id, p.created_at FROM products p WHERE ${lookUpConditions(range, bind)} LIMIT ${maxFound + 1}
      ), size AS MATERIALIZED (
        SELECT count(*) > ${maxFound} AS exceeded FROM found
      ), page AS MATERIALIZED (
        SELECT ${id} AS id FROM ${keyed}
        WHERE NOT (SELECT exceeded FROM size) ${cursor === '' ? '' : `AND ${afterCursor(order, cursor, bind)}`}
        ORDER BY ${orderBy(order)} LIMIT ${maxMatches}
      )
      SELECT size.exceeded, ${PRODUCT_COLUMNS}
      FROM size
      LEFT JOIN (page JOIN products p ON p.id = page.id LEFT JOIN product_counts c ON c.product_id = p.id) ON true
      ORDER BY ${orderBy(order)}`;
  const rows = await sql.query<Nullable<ProductRow> & { exceeded: boolean }>(text, values);
  return rows[0]?.exceeded ? undefined : rows.filter(isProductRow);
}

function isProductRow<Row extends Nullable<ProductRow>>(row: Row): row is Row & ProductRow {
  return row.id !== null;
}
