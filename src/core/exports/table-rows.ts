import type { Sql } from '../database/database.ts';

/** A table as it is in this database, or as a file says that it was in another. */
export interface TableShape {
  name: string;
  /** In the order of the table. */
  columns: readonly string[];
  /** The columns of the primary key, in its order. */
  key: readonly string[];
}

/** Rows a statement: enough to hide its own cost, few enough to hold in memory whatever is in them. */
const BATCH_ROWS = 500;

const SELECT_SHAPES = `SELECT wanted.name,
    array(SELECT attname::text FROM pg_attribute
      WHERE attrelid = to_regclass(wanted.name) AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS columns,
    array(SELECT attribute.attname::text FROM pg_index, unnest(pg_index.indkey) WITH ORDINALITY AS key (attnum, place)
      JOIN pg_attribute AS attribute ON attribute.attrelid = to_regclass(wanted.name) AND attribute.attnum = key.attnum
      WHERE pg_index.indrelid = to_regclass(wanted.name) AND pg_index.indisprimary ORDER BY key.place) AS key
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place) ORDER BY wanted.place`;

/**
 * Columns and keys of tables, read from the database, so that no migration can leave a column out.
 * @throws Error where a table is not there or has no primary key.
 */
export async function readTableShapes(sql: Sql, names: readonly string[]): Promise<TableShape[]> {
  const shapes = await sql.query<TableShape>(SELECT_SHAPES, [names]);
  for (const { name, columns, key } of shapes) {
    if (columns.length === 0 || key.length === 0) throw new Error(`There is no table ${name} with a primary key`);
  }
  return shapes;
}

/**
 * Makes a transaction see one moment of the database however long it reads, and write times in one way. Must be the first
 * call of the transaction.
 */
export async function holdSnapshot(sql: Sql): Promise<void> {
  await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
  await sql.query("SET LOCAL TimeZone = 'UTC'");
}

/**
 * Reads a table in the order of its key, each row as a JSON object in one line of text, without a line break at its end.
 * PostgreSQL itself writes the JSON, so that every value is exact: microseconds, numbers of any length, whatever is in
 * `jsonb`. Parsing it in JavaScript would lose the last two. The one thing that cannot be told apart is a `jsonb` that is
 * JSON's null from no value at all. To be called in a transaction after `holdSnapshot`, for one table at a time.
 */
export async function* readRows(sql: Sql, shape: TableShape, batchRows = BATCH_ROWS): AsyncGenerator<string[]> {
  const columns = list(shape.columns);
  // Sorted inside, so that the rows keep the names of their columns on each server of a distributed database; sorted outside,
  // since only that puts the rows of several servers into one order.
  await sql.query(`DECLARE exported_rows NO SCROLL CURSOR FOR
    SELECT row_to_json(exported)::text AS line
    FROM (SELECT ${columns} FROM ${quoted(shape.name)} ORDER BY ${list(shape.key)}) AS exported
    ORDER BY ${list(shape.key, 'exported')}`);
  for (;;) {
    const rows = await sql.query<{ line: string }>(`FETCH ${batchRows} FROM exported_rows`);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < batchRows) break;
  }
  await sql.query('CLOSE exported_rows');
}

/**
 * Writes rows as `readRows` gave them into a table that has none of their keys. Only the columns of the shape are written;
 * others take their defaults.
 */
export async function writeRows(sql: Sql, shape: TableShape, lines: readonly string[]): Promise<void> {
  await sql.query(`INSERT INTO ${quoted(shape.name)} (${list(shape.columns)}) ${selectFrom(shape)}`, [arrayOf(lines)]);
}

/** What became of rows that were merged into a table. */
export interface MergedRows {
  created: number;
  updated: number;
  unchanged: number;
}

/** Writes rows as `readRows` gave them, new or not; those that are there just so are not touched. Keys must be distinct. */
export async function mergeRows(sql: Sql, shape: TableShape, lines: readonly string[]): Promise<MergedRows> {
  const [row] = await sql.query<{ created: number; updated: number }>(mergeStatement(shape), [arrayOf(lines)]);
  const { created = 0, updated = 0 } = row ?? {};
  return { created, updated, unchanged: lines.length - created - updated };
}

function mergeStatement(shape: TableShape): string {
  const { name, columns, key } = shape;
  const sameKey = key.map((column) => `present.${quoted(column)} = incoming.${quoted(column)}`).join(' AND ');
  const others = columns.filter((column) => !key.includes(column));
  const sets = others.map((column) => `${quoted(column)} = EXCLUDED.${quoted(column)}`).join(', ');
  const isNew = `present.${quoted(key[0] ?? '')} IS NULL`;
  return `WITH incoming AS (${selectFrom(shape)}), differing AS (
      SELECT incoming.*, ${isNew} AS is_new
      FROM incoming LEFT JOIN ${quoted(name)} AS present ON ${sameKey}
      WHERE ${isNew} OR (${list(columns, 'present')}) IS DISTINCT FROM (${list(columns, 'incoming')})
    ), written AS (
      INSERT INTO ${quoted(name)} (${list(columns)}) SELECT ${list(columns)} FROM differing
      ON CONFLICT (${list(key)}) DO UPDATE SET ${sets}
    )
    SELECT count(*) FILTER (WHERE is_new)::integer AS created, count(*) FILTER (WHERE NOT is_new)::integer AS updated
    FROM differing`;
}

/** `json`, not `jsonb`, up to each column: whatever is in it is not changed on the way. */
function selectFrom({ name, columns }: TableShape): string {
  return `SELECT ${list(columns)} FROM json_populate_recordset(NULL::${quoted(name)}, $1::json)`;
}

function arrayOf(lines: readonly string[]): string {
  return `[${lines.join(',')}]`;
}

function list(columns: readonly string[], prefix?: string): string {
  return columns.map((column) => (prefix === undefined ? quoted(column) : `${prefix}.${quoted(column)}`)).join(', ');
}

/** An SQL identifier. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
