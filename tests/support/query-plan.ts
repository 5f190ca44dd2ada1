import pg from 'pg';
import type { Statement } from './recording-database.ts';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Plan Rows': number;
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

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

function literal(value: unknown): string {
  // Unlike ARRAY[…], this literal has no type, so it takes the type of the parameter.
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map((item) => JSON.stringify(String(item))).join(',')}}`);
  return typeof value === 'number' ? String(value) : pg.escapeLiteral(String(value));
}
