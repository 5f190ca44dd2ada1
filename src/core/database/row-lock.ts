import type { Sql } from './database.ts';

const remembered = new WeakMap<Sql, Promise<boolean>>();

/**
 * Whether rows lie on several servers (the extension Citus), as `distribute` puts them. Asked once of a pool, and once of each
 * transaction that wants to know. @throws CoreError `unavailable`.
 */
export function isDistributed(sql: Sql): Promise<boolean> {
  const known = remembered.get(sql);
  if (known) return known;
  const asking = hasCitus(sql);
  remembered.set(sql, asking);
  // A question that failed is asked again the next time.
  asking.catch(() => remembered.delete(sql));
  return asking;
}

/** Whether the extension Citus is in this database. */
export async function hasCitus(sql: Sql): Promise<boolean> {
  return (await sql.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'")).length > 0;
}

/** How a SELECT ends whose rows are about to be changed. */
export type RowLock = 'FOR UPDATE' | 'FOR NO KEY UPDATE' | '';

/**
 * The lock that a statement takes on rows of many products before it changes them, in the order in which it reads them: two
 * processes then never wait for each other crosswise. Citus locks rows of many shards only by changing them, in no order, so that
 * there none is taken: transactions that meet crosswise are found out, and one of them is tried again (40P01).
 */
export async function rowLock(sql: Sql, lock: RowLock): Promise<RowLock> {
  return (await isDistributed(sql)) ? '' : lock;
}
