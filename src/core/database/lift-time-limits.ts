import type { Sql } from './database.ts';

/**
 * Gives the transaction all the time it needs. A server may end what takes long, or what waits for a slow disk or reader on
 * this side; what the operator asked for, and nobody waits for, may take long.
 */
export async function liftTimeLimits(sql: Sql): Promise<void> {
  await sql.query('SET LOCAL statement_timeout = 0');
  await sql.query('SET LOCAL idle_in_transaction_session_timeout = 0');
}
