import pg from 'pg';
import type { Sql } from '../database/database.ts';
import { readInBatches } from '../database/transactions.ts';

/**
 * The tables that backups contain. A table comes after those that it references, so tables are filled in this order and
 * emptied in reverse. The list is explicit, because a database may contain other tables.
 */
export const SITE_TABLES: readonly string[] = [
  'products',
  'product_counts',
  'upvotes',
  'launches',
  'leaderboards',
  'leaderboard_counts',
  'retracted_upvotes',
  'vote_decisions',
  'tally_parts',
  'comments',
  'comment_idempotency_keys',
  'submissions',
  'submission_idempotency_keys',
  'site_metadata',
  'audit_log',
  'removed_products',
  'removed_upvotes',
  'removed_comments',
  'removed_tally_parts',
];

/**
 * Tables that backups exclude: migrations; short-lived data, such as changes, leases and bursts of upvotes; the data
 * for undoing imports; secrets, which must not survive in a file; webhooks, which would be sent again; and operators,
 * so restoring an old backup cannot restore access that was revoked.
 */
export const EXCLUDED_TABLES: readonly string[] = [
  'schema_migrations',
  'changes',
  'leases',
  'upvote_bursts',
  'tally_secrets',
  'site_secrets',
  'webhook_events',
  'webhook_receivers',
  'import_changes',
  'operators',
  'operator_invitations',
  'operator_sessions',
  'operator_devices',
];

/** The columns of a table, in this database or in a backup. */
export interface TableShape {
  name: string;
  /** The columns, in table order. */
  columns: readonly string[];
  /** The columns of the primary key, in order. */
  key: readonly string[];
}

const SELECT_SHAPES = `SELECT wanted.name,
    array(SELECT attname::text FROM pg_attribute
      WHERE attrelid = to_regclass(wanted.name) AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS columns,
    array(SELECT attribute.attname::text FROM pg_index, unnest(pg_index.indkey) WITH ORDINALITY AS key (attnum, place)
      JOIN pg_attribute AS attribute ON attribute.attrelid = to_regclass(wanted.name) AND attribute.attnum = key.attnum
      WHERE pg_index.indrelid = to_regclass(wanted.name) AND pg_index.indisprimary ORDER BY key.place) AS key
  FROM unnest($1::text[]) WITH ORDINALITY AS wanted (name, place) ORDER BY wanted.place`;

/**
 * Reads the columns and keys of tables from the database, so migrations need not update a list.
 * @throws Error if a table is missing or has no primary key.
 */
export async function readTableShapes(sql: Sql, names: readonly string[]): Promise<TableShape[]> {
  const shapes = await sql.query<TableShape>(SELECT_SHAPES, [names]);
  for (const { name, columns, key } of shapes) {
    if (columns.length === 0 || key.length === 0) throw new Error(`Table ${name} does not exist or has no primary key`);
  }
  return shapes;
}

/** Tables with up to 250 kB of JSON per row, which is too much for batches of the usual size. */
const TABLES_WITH_LARGE_ROWS: readonly string[] = ['tally_parts', 'removed_tally_parts'];
const LARGE_ROWS_PER_BATCH = 10;

/**
 * Reads a table in the order of its key, each row as one line of JSON without a line break. PostgreSQL writes the JSON,
 * because JavaScript would lose microseconds and long numbers. The only value that changes is a `jsonb` null, which is
 * restored as an SQL NULL. Call it within `readSnapshot`, for one table at a time.
 */
export async function* readRows(
  sql: Sql,
  shape: TableShape,
  batchRows = TABLES_WITH_LARGE_ROWS.includes(shape.name) ? LARGE_ROWS_PER_BATCH : undefined,
): AsyncGenerator<string[]> {
  const columns = list(shape.columns);
  // On a distributed database, the inner ORDER BY preserves the column names on each server, and the outer one merges
  // the sorted rows of all servers.
  const select = `SELECT row_to_json(exported)::text AS line
    FROM (SELECT ${columns} FROM ${pg.escapeIdentifier(shape.name)} ORDER BY ${list(shape.key)}) AS exported
    ORDER BY ${list(shape.key, 'exported.')}`;
  for await (const rows of readInBatches<{ line: string }>(sql, select, { batchRows }))
    yield rows.map(({ line }) => line);
}

/**
 * Inserts rows from `readRows` into a table that has none of their keys. Columns that the shape lacks get their
 * defaults.
 */
export async function writeRows(sql: Sql, shape: TableShape, lines: readonly string[]): Promise<void> {
  const [table, columns] = [pg.escapeIdentifier(shape.name), list(shape.columns)];
  // Uses `json`, because `jsonb` would change the content of values.
  await sql.query(
    `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM json_populate_recordset(NULL::${table}, $1::json)`,
    [`[${lines.join(',')}]`],
  );
}

function list(columns: readonly string[], prefix = ''): string {
  return columns.map((column) => prefix + pg.escapeIdentifier(column)).join(', ');
}
