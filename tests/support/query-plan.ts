import pg from 'pg';
import { expect } from 'vitest';
import type { Sql } from '../../src/core/database/database.ts';
import { getProduct } from '../../src/core/products/get-product.ts';
import type { Statement } from './recording-database.ts';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Plan Rows': number;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

/**
 * Returns the nodes of a statement's plan. A `custom` plan is made for the statement's own values, and a `generic` plan
 * for any values. PostgreSQL may use either for a prepared statement.
 */
export async function planOf(client: pg.Client, statement: Statement, mode: 'custom' | 'generic'): Promise<PlanNode[]> {
  await client.query(`SET plan_cache_mode = force_${mode}_plan`);
  await client.query(`PREPARE planned AS ${statement.text}`);
  try {
    const values = statement.values.map(literal).join(', ');
    const { rows } = await client.query(`EXPLAIN (FORMAT JSON) EXECUTE planned${values && ` (${values})`}`);
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan);
  } finally {
    await client.query('DEALLOCATE planned');
  }
}

/** Executes a statement, and returns the number of rows that it read from a table, including those that it filtered. */
export async function rowsReadFrom(sql: Sql, table: string, { text, values }: Statement): Promise<number> {
  const [row] = await sql.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
    values,
  );
  const nodes = row === undefined ? [] : nodesOf(row['QUERY PLAN'][0].Plan);
  return nodes
    .filter((node) => node['Relation Name'] === table)
    .reduce((sum, node) => sum + rowsPerLoop(node) * (node['Actual Loops'] ?? 0), 0);
}

/**
 * Reads a product often enough for PostgreSQL to use a generic plan, and returns this plan as text. `connection` must
 * be a pool with one connection.
 */
export async function planOfProduct(connection: Sql, id: string): Promise<string> {
  for (let reads = 1; reads <= 10; reads += 1) await getProduct(connection, id, new Date());
  const [prepared] = await connection.query<{ name: string }>(
    "SELECT name FROM pg_prepared_statements WHERE statement LIKE '%FROM products p LEFT JOIN product_counts c%'",
  );
  const plan = await connection.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE ${prepared?.name} ('${id}', now())`);
  return plan.map((line) => line['QUERY PLAN']).join('\n');
}

/**
 * Shrinks the tables of products and of their counts to one page each, which the planner reads without an index.
 * Repeats the VACUUM, because it keeps deleted rows that another transaction, such as an automatic ANALYZE, may still
 * see.
 */
export async function shrinkProducts(database: Sql): Promise<void> {
  await expect
    .poll(async () => {
      await database.query('VACUUM (FULL, ANALYZE) products, product_counts');
      const sizes = "SELECT pg_relation_size('products')::int + pg_relation_size('product_counts')::int AS bytes";
      return (await database.query<{ bytes: number }>(sizes))[0]?.bytes;
    })
    .toBe(2 * 8_192);
}

function rowsPerLoop(node: PlanNode): number {
  return (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0);
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  // Unlike ARRAY[…], this literal has no type, so it takes the type of the parameter.
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((item) => JSON.stringify(String(item))).join(',')}}`);
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(String(value));
}
