import type pg from 'pg';

/** The statements that drop a constraint or an index, and create it again after the tables are filled. */
interface DroppedObject {
  drop: string;
  restore: string;
}

// Constraints and indexes are read from the server's catalogue, so those of later migrations are included.
const CONSTRAINTS = `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
    format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
  FROM pg_constraint
  WHERE contype = $2 AND (conrelid = ANY($1::text[]::regclass[]) OR confrelid = ANY($1::text[]::regclass[]))
  ORDER BY conname`;

const INDEXES = `SELECT format('DROP INDEX %s', indexrelid::regclass) AS drop, pg_get_indexdef(indexrelid) AS restore
  FROM pg_index
  WHERE indrelid = ANY($1::text[]::regclass[])
    AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid::regclass::text`;

/**
 * Drops foreign keys, indexes and primary keys, in this order. Building an index or checking references once, after
 * the tables are filled, is several times as fast as doing so for each row.
 * @returns the statements that recreate them, in the opposite order.
 */
export async function dropConstraintsAndIndexes(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const references = await client.query<DroppedObject>(CONSTRAINTS, [tables, 'f']);
  const indexes = await client.query<DroppedObject>(INDEXES, [tables]);
  const keys = await client.query<DroppedObject>(CONSTRAINTS, [tables, 'p']);
  const dropped = [...references.rows, ...indexes.rows, ...keys.rows];
  for (const { drop } of dropped) await client.query(drop);
  return dropped.map(({ restore }) => restore).reverse();
}
