import type pg from 'pg';

/** A constraint or index that is dropped while its table is filled. */
interface Rule {
  drop: string;
  restore: string;
}

// Constraints and indexes are read from the server, so those of later migrations are included.
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
export async function dropRules(client: pg.Client, tables: readonly string[]): Promise<string[]> {
  const references = await client.query<Rule>(CONSTRAINTS, [tables, 'f']);
  const indexes = await client.query<Rule>(INDEXES, [tables]);
  const keys = await client.query<Rule>(CONSTRAINTS, [tables, 'p']);
  const rules = [...references.rows, ...indexes.rows, ...keys.rows];
  for (const { drop } of rules) await client.query(drop);
  return rules.map(({ restore }) => restore).reverse();
}
