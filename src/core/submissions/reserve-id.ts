import { randomBytes } from 'node:crypto';
import type { Sql } from '../database/database.ts';
import { slugOfName } from '../imports/read-values.ts';

/** How many numbered ids are tried before a random one. */
const MAX_NUMBER = 20;

// Two statements, since products may be distributed over several servers.
const SELECT_TAKEN = [
  'SELECT id FROM products WHERE id = ANY($1::text[])',
  `SELECT id FROM submissions WHERE id = ANY($1::text[])
   UNION ALL SELECT product_id FROM removed_products WHERE product_id = ANY($1::text[])`,
];

/**
 * An id for the product of a submission: a slug of its name, with a number if it is taken. Suspected spam never gets a plain
 * slug, so it cannot occupy the ids of others.
 */
export async function freeIdFor(sql: Sql, name: string, suspectedSpam: boolean): Promise<string> {
  const slug = slugOfName(name);
  const random = `${slug}-${randomBytes(4).toString('hex').slice(0, 7)}`;
  if (suspectedSpam) return random;
  const candidates = [slug, ...Array.from({ length: MAX_NUMBER - 1 }, (_, index) => `${slug}-${index + 2}`)];
  const taken = new Set<string>();
  for (const statement of SELECT_TAKEN) {
    for (const { id } of await sql.query<{ id: string }>(statement, [candidates])) taken.add(id);
  }
  return candidates.find((id) => !taken.has(id)) ?? random;
}
