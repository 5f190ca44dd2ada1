import { recordActs } from '../audit/record-act.ts';
import { noteChange } from '../changes/change-feed.ts';
import type { Database, Sql } from '../database/database.ts';
import type { RemovedProduct } from './remove-products.ts';

/** Which removals are to be taken back: those of the last command, the newest of each product, or one by its id. */
export type RemovalChoice = { last: true } | { productIds: readonly string[] } | { removalId: string };

/** All of them came back, or, where an id is not removed or was given to another product meanwhile, none. */
export interface ProductRestoration {
  restored: RemovedProduct[];
  notRemoved: string[];
  taken: string[];
}

interface RemovalRow {
  removal_id: string;
  product_id: string;
  name: string;
  upvotes: number;
  comments: number;
}

const COLUMNS = "removal_id, product_id, product ->> 'name' AS name, upvotes, comments";

/**
 * Brings removed products back, exactly as they were: rows, counts, upvotes and comments. All or nothing. Visitors see the
 * products when all of it is there, and nobody waits meanwhile. Wants a database without a time limit.
 * @throws CoreError `unavailable`.
 */
export async function restoreProducts(database: Database, choice: RemovalChoice): Promise<ProductRestoration> {
  const refusal = new Refusal();
  try {
    return await database.transaction(async (sql) => {
      const rows = await choose(sql, choice);
      refusal.notRemoved = notAmong(rows, choice);
      if (refusal.notRemoved.length > 0) throw refusal;
      refusal.taken = await bringBack(sql, rows);
      if (refusal.taken.length > 0) throw refusal;
      const restored = rows.map(({ product_id: id, name, upvotes, comments }) => ({ id, name, upvotes, comments }));
      await recordActs(
        sql,
        restored.map(({ id, ...details }) => ({ act: 'products restore', subject: id, details })),
      );
      await noteChange(sql, { productIds: restored.map(({ id }) => id), catalogue: true });
      return { restored, notRemoved: [], taken: [] };
    });
  } catch (error) {
    if (error !== refusal) throw error;
    return { restored: [], notRemoved: refusal.notRemoved, taken: refusal.taken };
  }
}

/** Rolls the transaction back, and says why to its caller alone. */
class Refusal extends Error {
  notRemoved: string[] = [];
  taken: string[] = [];
}

/** Locked, so that of two who restore the same at once, the second finds nothing. */
function choose(sql: Sql, choice: RemovalChoice): Promise<RemovalRow[]> {
  const [condition, values]: [string, unknown[]] =
    'last' in choice
      ? ['batch_id = (SELECT batch_id FROM removed_products ORDER BY removed_at DESC, batch_id LIMIT 1)', []]
      : 'removalId' in choice
        ? ['removal_id = $1::uuid', [choice.removalId]]
        : [
            `removal_id IN (SELECT (SELECT removal_id FROM removed_products WHERE product_id = asked.id
               ORDER BY removed_at DESC, removal_id LIMIT 1) FROM unnest($1::text[]) AS asked (id))`,
            [choice.productIds],
          ];
  return sql.query<RemovalRow>(
    `SELECT ${COLUMNS} FROM removed_products WHERE ${condition} ORDER BY product_id FOR UPDATE`,
    values,
  );
}

function notAmong(rows: readonly RemovalRow[], choice: RemovalChoice): string[] {
  if ('last' in choice) return [];
  if ('removalId' in choice) return rows.length === 0 ? [choice.removalId] : [];
  const found = new Set(rows.map((row) => row.product_id));
  return [...new Set(choice.productIds)].filter((id) => !found.has(id));
}

const BRING_PRODUCTS = `INSERT INTO products
  SELECT (jsonb_populate_record(NULL::products, product)).* FROM removed_products WHERE removal_id = ANY($1::uuid[])
  ON CONFLICT (id) DO NOTHING RETURNING id`;

const BRING_THE_REST = [
  `INSERT INTO product_counts (product_id, upvotes, comments)
   SELECT product_id, upvotes, comments FROM removed_products WHERE removal_id = ANY($1::uuid[])`,
  `INSERT INTO upvotes (id, product_id, user_session, created_at)
   SELECT u.id, r.product_id, u.user_session, u.created_at
   FROM removed_products r JOIN removed_upvotes u ON u.removal_id = r.removal_id WHERE r.removal_id = ANY($1::uuid[])`,
  `INSERT INTO comments
   SELECT (jsonb_populate_record(NULL::comments, comment)).* FROM removed_comments WHERE removal_id = ANY($1::uuid[])`,
  'DELETE FROM removed_products WHERE removal_id = ANY($1::uuid[])',
];

/** @returns the products whose id another one has by now; then nothing else was done. */
async function bringBack(sql: Sql, rows: readonly RemovalRow[]): Promise<string[]> {
  const removalIds = rows.map((row) => row.removal_id);
  const brought = new Set((await sql.query<{ id: string }>(BRING_PRODUCTS, [removalIds])).map(({ id }) => id));
  const taken = rows.map((row) => row.product_id).filter((id) => !brought.has(id));
  if (taken.length > 0) return taken;
  for (const statement of BRING_THE_REST) await sql.query(statement, [removalIds]);
  return [];
}
