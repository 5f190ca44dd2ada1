import type { Database } from '../../src/core/database/database.ts';
import { isCitus } from './is-citus.ts';

/** On Citus, each server has its own locks, and only `citus_stat_activity` covers all servers. */
const ACTIVITY = isCitus ? 'citus_stat_activity' : 'pg_stat_activity';

/** Returns the statements that wait for another transaction's lock. */
export async function blockedStatements(database: Database): Promise<string[]> {
  const rows = await database.query<{ query: string }>(
    `SELECT query FROM ${ACTIVITY} WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map((row) => row.query);
}
