import type { Log } from '../runtime.ts';
import type { Database, Sql, StatementOptions } from './database.ts';

/**
 * The tables of products, votes and comments, each after the tables that it references. They are distributed by the
 * product's id, so all rows of a product are on the same node. All other tables stay on the coordinator.
 */
export const DISTRIBUTED_TABLES: readonly { name: string; column: string }[] = [
  { name: 'products', column: 'id' },
  { name: 'product_counts', column: 'product_id' },
  { name: 'upvotes', column: 'product_id' },
  { name: 'launches', column: 'product_id' },
  { name: 'retracted_upvotes', column: 'product_id' },
  { name: 'vote_decisions', column: 'product_id' },
  { name: 'tally_parts', column: 'product_id' },
  { name: 'comments', column: 'product_id' },
];

/**
 * If the database has Citus, distributes the tables of `DISTRIBUTED_TABLES` that are not distributed yet, with their
 * rows, in one transaction. If several processes start at the same time, one does the work and the others wait.
 * @returns the names of the tables that this call distributed; none without Citus.
 */
export async function distribute(database: Database, log: Log): Promise<string[]> {
  if (!(await hasCitus(database))) return [];
  let distributed: string[] = [];
  if ((await findUndistributedTables(database)).length > 0) {
    distributed = await database.transaction(async (sql) => {
      await sql.query(LOCK_OUT_OTHERS);
      const tables = await findUndistributedTables(sql);
      if (tables.length > 0) await distributeTables(sql, tables);
      return tables.map(({ name }) => name);
    });
  }
  if (distributed.length > 0) log.info({ tables: distributed }, 'Tables distributed over the Citus nodes');
  // Checked each time, because a process may have been killed after it distributed the tables.
  await disableShardLocks(database, log);
  return distributed;
}

/** Makes other processes that start at the same time wait. */
const LOCK_OUT_OTHERS = 'LOCK TABLE schema_migrations IN EXCLUSIVE MODE';

/** Selects the quoted name of the database if Citus locks shards in it, unless the database is read-only. */
const SELECT_DATABASE_WITH_LOCKS = `SELECT quote_ident(current_database()) AS name
  WHERE current_setting('citus.all_modifications_commutative', true) IS DISTINCT FROM 'on'
    AND current_setting('transaction_read_only') = 'off'`;

/**
 * Makes batches wait only for the rows that they change. By default, Citus blocks all other batches while one waits for
 * a row. The setting applies to new connections. It is safe because each shard has only one placement: standbys of
 * whole servers, not Citus, replicate the data.
 */
async function disableShardLocks(database: Database, log: Log): Promise<void> {
  const [current] = await database.query<{ name: string }>(SELECT_DATABASE_WITH_LOCKS);
  if (!current) return;
  try {
    await database.transaction(async (sql) => {
      await sql.query(LOCK_OUT_OTHERS);
      await sql.query(`ALTER DATABASE ${current.name} SET citus.all_modifications_commutative = on`);
    });
  } catch (error) {
    log.warn(
      { err: error },
      'Cannot set citus.all_modifications_commutative. Set it to on for this database; otherwise, writers wait for each other.',
    );
  }
}

type DistributedTable = (typeof DISTRIBUTED_TABLES)[number];

async function findUndistributedTables(sql: Sql): Promise<DistributedTable[]> {
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
  // Creates the shards one after the other, because parallel connections would not see each other's new shards.
  await sql.query("SELECT set_config('citus.multi_shard_modify_mode', 'sequential', true)");
  // Foreign keys are dropped and added again, because only distributed tables can reference distributed tables.
  const references = await readReferences(
    sql,
    tables.map(({ name }) => name),
  );
  for (const { table, name } of references) await sql.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  // Citus supports a unique index only if it contains the distribution column.
  if (tables.some(({ name }) => name === 'comments'))
    await sql.query('DROP INDEX comments_id; CREATE INDEX comments_id ON comments (id)');
  for (const { name, column } of tables) {
    const together = name === 'products' ? 'none' : 'products';
    await sql.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [name, column, together]);
  }
  for (const { table, name, definition } of references)
    await sql.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
}

/** Reads the foreign keys of these tables, with quoted names. */
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

const knownPools = new WeakMap<Sql, boolean>();

/**
 * Returns whether rows are distributed, that is, whether the database has Citus. The result is cached per pool; `sql`
 * is the pool or one of its transactions.
 * @throws CoreError `unavailable`.
 */
export async function isDistributed(sql: Sql, pool = sql): Promise<boolean> {
  const known = knownPools.get(pool);
  if (known !== undefined) return known;
  // Concurrent callers do not share one query: a transaction could wait for a query that waits for the connection of
  // that transaction.
  const found = await hasCitus(sql);
  knownPools.set(pool, found);
  return found;
}

async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;
}

const MARK = ' on Citus */';
const OMITTED = /FOR (?:NO KEY )?UPDATE \/\* omitted on Citus \*\//g;
const BY_PRODUCT = '/* product by product on Citus */';

/**
 * Adapts statements to Citus, which refuses to lock rows of several shards. A comment after the locking clause says
 * what to do:
 * - `omitted on Citus` omits the clause. Elsewhere, ordered locks prevent deadlocks; Citus detects deadlocks, and one
 *   of the transactions is retried (40P01).
 * - `product by product on Citus` runs the statement once per id in its only array parameter, in order. A clause with
 *   `SKIP LOCKED` must not be omitted, because the statement would wait.
 */
export function adaptToCitus(database: Database): Database {
  return {
    ...database,
    query: adaptQuery(database, database),
    transaction: (work) => database.transaction((sql) => work({ query: adaptQuery(sql, database) })),
  };
}

function adaptQuery(sql: Sql, pool: Sql): Sql['query'] {
  return async <Row extends object>(text: string, values?: readonly unknown[], options?: StatementOptions) => {
    if (!text.includes(MARK) || !(await isDistributed(sql, pool))) return sql.query<Row>(text, values, options);
    if (!text.includes(BY_PRODUCT)) return sql.query<Row>(omitLocks(text), values, options);
    const rows: Row[] = [];
    const isIds = (value: unknown): value is string[] => Array.isArray(value);
    // Ids are ASCII and compared bytewise, so JavaScript and the database sort them alike.
    for (const id of [...new Set(values?.find(isIds))].sort()) {
      const ofProduct = values?.map((value) => (isIds(value) ? [id] : value));
      rows.push(...(await sql.query<Row>(text, ofProduct)));
    }
    return rows;
  };
}

/** Removes the locking clauses that are omitted on Citus. */
export function omitLocks(text: string): string {
  return text.replaceAll(OMITTED, '');
}
