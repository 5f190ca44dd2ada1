import type { Log } from '../log.ts';
import type { Database, Sql } from './database.ts';
import { hasCitus } from './row-lock.ts';

/**
 * Tables that grow with visitors, and the column by which their rows are put onto servers: that of the product, so that all
 * that belongs to one lies together. A row comes after those that it points to. Every other table is small, or is written
 * together with none of these, and stays on the server that the site is connected to.
 */
export const DISTRIBUTED_TABLES: readonly { name: string; column: string }[] = [
  { name: 'products', column: 'id' },
  { name: 'product_counts', column: 'product_id' },
  { name: 'upvotes', column: 'product_id' },
  { name: 'comments', column: 'product_id' },
];

/**
 * Where the database has the extension Citus, distributes the tables that are there and are not distributed yet, with the rows
 * that they hold. All or nothing; of several processes that begin at once, one does it and the others wait for it.
 * @returns the tables that this call distributed; on other engines always none.
 */
export async function distribute(database: Database, log: Log): Promise<string[]> {
  if (!(await hasCitus(database)) || (await leftToDistribute(database)).length === 0) return [];
  const distributed = await database.transaction(async (sql) => {
    await sql.query('LOCK TABLE schema_migrations IN EXCLUSIVE MODE');
    const tables = await leftToDistribute(sql);
    if (tables.length > 0) await distributeTables(sql, tables);
    return tables.map(({ name }) => name);
  });
  if (distributed.length === 0) return [];
  log.info({ tables: distributed }, 'Tables distributed over the servers of Citus');
  await lockRowsAlone(database, log);
  return distributed;
}

/**
 * While one batch of writes waits for one product's row, Citus lets no other batch write to any product, unless it is told that
 * the order of writes does not matter for its copies of rows. There are none: each shard is on one server, and what protects it
 * there is the streaming replication of that server. Holds for connections that are made from now on.
 */
async function lockRowsAlone(sql: Sql, log: Log): Promise<void> {
  const [current] = await sql.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
  try {
    await sql.query(`ALTER DATABASE ${current?.name} SET citus.all_modifications_commutative = on`);
  } catch (error) {
    log.warn(
      { err: error },
      'Set citus.all_modifications_commutative to on for this database, or writers wait for each other',
    );
  }
}

type DistributedTable = (typeof DISTRIBUTED_TABLES)[number];

async function leftToDistribute(sql: Sql): Promise<DistributedTable[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT wanted.name FROM unnest($1::text[]) AS wanted (name)
     WHERE to_regclass(wanted.name) IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM pg_dist_partition WHERE logicalrelid = to_regclass(wanted.name))`,
    [DISTRIBUTED_TABLES.map(({ name }) => name)],
  );
  const left = new Set(rows.map(({ name }) => name));
  return DISTRIBUTED_TABLES.filter(({ name }) => left.has(name));
}

async function distributeTables(sql: Sql, tables: readonly DistributedTable[]): Promise<void> {
  // Shards that point to each other are made one after the other: in parallel, one connection would not see what another made.
  await sql.query("SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)");
  // A table can point to a distributed one only when it is distributed itself.
  const references = await readReferences(
    sql,
    tables.map(({ name }) => name),
  );
  for (const { table, name } of references) await sql.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const { name, column } of tables) {
    const together = name === 'products' ? 'none' : 'products';
    await sql.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [name, column, together]);
  }
  for (const { table, name, definition } of references)
    await sql.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
}

/** Foreign keys of these tables; names are quoted where they need it. */
function readReferences(
  sql: Sql,
  tables: readonly string[],
): Promise<{ table: string; name: string; definition: string }[]> {
  return sql.query(
    `SELECT conrelid::regclass::text AS table, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conrelid = ANY(SELECT to_regclass(name) FROM unnest($1::text[]) AS name)
     ORDER BY conname`,
    [tables],
  );
}
