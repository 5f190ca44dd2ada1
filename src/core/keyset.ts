import { isProductId } from '../contract/products/fields.ts';
import { isStorableText } from '../contract/text.ts';
import { CoreError } from './core-error.ts';
import { isUuid } from './runtime.ts';

/** The type of a sort key, which determines its format in cursors and its SQL type. */
type KeyKind = 'count' | 'negatedCount' | 'time' | 'productId' | 'uuid' | 'text';

export type Key = string | number;

/** A total order of a list. All columns have the same direction, and the last column is unique. */
export interface KeysetOrder<Row> {
  /** The name of the order in cursors, which makes cursors of other orders invalid. */
  name: string;
  direction: 'ASC' | 'DESC';
  columns: readonly { sql: string; kind: KeyKind; keyOf(row: Row): Key }[];
}

const SQL_TYPES: Record<KeyKind, string> = {
  count: 'integer',
  negatedCount: 'integer',
  time: 'timestamptz',
  productId: 'text',
  uuid: 'uuid',
  text: 'text',
};

/** The maximum of PostgreSQL's type integer. */
const MAX_COUNT = 2_147_483_647;

const CHECKS: Record<KeyKind, (key: unknown) => boolean> = {
  count: isCount,
  negatedCount: (key) => typeof key === 'number' && isCount(-key),
  // Comparing with the result of `toISOString` rejects dates such as February 30. Only the years 0001 to 9999 are
  // stored.
  time: (key) =>
    typeof key === 'string' &&
    !Number.isNaN(Date.parse(key)) &&
    new Date(key).toISOString() === key &&
    /^(?!0000)\d{4}-/.test(key),
  productId: (key) => typeof key === 'string' && isProductId(key),
  uuid: (key) => typeof key === 'string' && isUuid(key),
  text: (key) => typeof key === 'string' && isStorableText(key),
};

function isCount(key: unknown): boolean {
  return typeof key === 'number' && Number.isInteger(key) && key >= 0 && key <= MAX_COUNT;
}

/**
 * Returns the order by time of creation, newest first, and then by id. `table` is the prefix of the column names, such
 * as `p.`.
 */
export function newestFirst<Row extends { created_at: Date; id: string }>(
  name: string,
  idKind: 'uuid' | 'productId',
  table = '',
): KeysetOrder<Row> {
  return {
    name,
    direction: 'DESC',
    columns: [
      { sql: `${table}created_at`, kind: 'time', keyOf: (row) => row.created_at.toISOString() },
      { sql: `${table}id`, kind: idKind, keyOf: (row) => row.id },
    ],
  };
}

/** Returns the expressions of the `ORDER BY` clause. */
export function orderBy<Row>({ columns, direction }: KeysetOrder<Row>): string {
  return columns.map((column) => `${column.sql} ${direction}`).join(', ');
}

/** Adds a parameter to a statement, and returns its placeholder with a cast to the SQL type. */
export type Bind = (value: unknown, sqlType: string) => string;

/** Collects the parameters of a statement, beginning with `values`. */
export function collectValues(...values: unknown[]): { values: unknown[]; bind: Bind } {
  return { values, bind: (value, sqlType) => `$${values.push(value)}::${sqlType}` };
}

/**
 * Returns the SQL condition for rows after the cursor. It is a row comparison, so an index on the same columns supports
 * it.
 * @throws CoreError `bad_cursor` if the cursor is malformed or belongs to another order.
 */
export function afterCursor<Row>(order: KeysetOrder<Row>, cursor: string, bind: Bind): string {
  return comparison(order, order.direction === 'DESC' ? '<' : '>', cursor, bind);
}

/**
 * Returns the opposite condition of `afterCursor`: the condition for rows up to and including the row of the cursor.
 */
export function upToCursor<Row>(order: KeysetOrder<Row>, cursor: string, bind: Bind): string {
  return comparison(order, order.direction === 'DESC' ? '>=' : '<=', cursor, bind);
}

function comparison<Row>({ name, columns }: KeysetOrder<Row>, operator: string, cursor: string, bind: Bind): string {
  const [cursorName, ...keys] = parse(cursor);
  if (cursorName !== name || keys.length !== columns.length) throw badCursor();
  const placeholders = columns.map(({ kind }, index) => {
    const key = keys[index];
    if (!CHECKS[kind](key)) throw badCursor();
    return bind(key as Key, SQL_TYPES[kind]);
  });
  return `(${columns.map((column) => column.sql).join(', ')}) ${operator} (${placeholders.join(', ')})`;
}

/** Returns whether a cursor belongs to the order, for callers that ignore other cursors instead of failing. */
export function isCursorOf<Row>(order: KeysetOrder<Row>, cursor: string): boolean {
  try {
    afterCursor(order, cursor, () => '');
    return true;
  } catch (error) {
    if (error instanceof CoreError) return false;
    throw error;
  }
}

/** Builds a page from up to `limit + 1` rows. The extra row shows whether there is another page, without counting. */
export function pageOf<Row>(
  order: KeysetOrder<Row>,
  rows: readonly Row[],
  limit: number,
): { shown: readonly Row[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isLast = rows.length <= limit || last === undefined;
  return {
    shown,
    nextCursor: isLast ? null : cursorOfRow(order, last),
  };
}

/** Returns the cursor after a row. */
export function cursorOfRow<Row>(order: KeysetOrder<Row>, row: Row): string {
  return cursorOfKeys(
    order,
    order.columns.map((column) => column.keyOf(row)),
  );
}

/** Returns the cursor after a row with these sort keys: a JSON array of the order's name and the keys, in base64url. */
export function cursorOfKeys<Row>({ name }: KeysetOrder<Row>, keys: readonly Key[]): string {
  return Buffer.from(JSON.stringify([name, ...keys])).toString('base64url');
}

function parse(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (Array.isArray(parts)) return parts;
  } catch {
    // Invalid JSON is reported below, like any other invalid cursor.
  }
  throw badCursor();
}

export function badCursor(): CoreError {
  return new CoreError('bad_cursor', 'This cursor does not belong to this list. Start again without one.');
}
